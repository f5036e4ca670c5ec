// The sums of statistics over threads, launches and instances, as numbers, text and JSON.
#include "gpu/trace/stats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace inflight::trace {
namespace {

using check::Access;

constexpr std::string_view families[] = {"integer", "load", "branch"};

check::Kernel kernel(std::uint64_t launch, std::string_view name = "_Z4copyPi") {
  check::Kernel k;
  k.launch = launch;
  k.name = name;
  k.families = families;
  return k;
}

void count(Stats& stats, const check::Kernel& k, std::initializer_list<std::uint32_t> families,
           std::uint64_t warps, std::uint64_t threads) {
  const std::vector<std::uint32_t> numbers(families.size());
  const std::vector<std::uint32_t> of(families);
  stats.run_counted({&k, numbers, of, warps, threads});
}

// The counts of a block that does a little of everything.
void play(Stats& stats, const check::Kernel& k) {
  count(stats, k, {0, 1}, 1, 32);
  count(stats, k, {0}, 1, 8);
  using check::Space;
  stats.access_counted({&k, 0, Space::global, Access::Kind::load, 16, 1, 32});
  stats.access_counted({&k, 1, Space::global, Access::Kind::store, 4, 1, 4});
  stats.access_counted({&k, 2, Space::shared, Access::Kind::atomic, 4, 1, 1});
  stats.access_counted({&k, 3, Space::shared, Access::Kind::reduction, 8, 1, 1});
  check::BlockCount block;
  block.kernel = &k;
  block.blocks = 1;
  block.divergent_branches = 1;
  block.barriers[0] = 1;
  block.copies[0] = 16, block.copied_bytes[0] = 256;
  block.mbarrier_arrivals = 4, block.mbarrier_phases = 1, block.mbarrier_tests = 2;
  stats.blocks_counted(block);
}

// Two launches in host code and one without, of which a third of the instructions ran there.
TEST(Stats, SayWhichEngineRanWhat) {
  Stats stats;
  const check::HostCode made{"", 30, 4, 5, 2048, 700}, none{"its blocks form clusters"};
  for (std::uint64_t launch = 1; launch <= 3; ++launch) {
    const check::Kernel k = kernel(launch);
    stats.kernel_begin({&k});
    const std::vector<std::uint32_t> numbers(2), of{0, 1};
    stats.run_counted({&k, numbers, of, 3, 96, launch == 1 ? 3u : 0u});
    check::BlockCount block;
    block.kernel = &k;
    block.host_code_entries = launch == 1 ? 7 : 0;
    stats.blocks_counted(block);
    stats.kernel_end({&k, false, launch == 3 ? &none : &made});
  }
  const std::string text = stats.text();
  EXPECT_NE(
      text.find("host code                            6              33.3 %           7 entries\n"
                "    2 launches compiled: 34 instructions, 4 by handlers, 5 entries, 2.00 KiB, "
                "700 us\n"
                "    1 launch interpreted: its blocks form clusters\n"),
      std::string::npos)
      << text;
  const auto json = stats.json()["kernels"][0]["host_code"];
  EXPECT_EQ(json["launches"], 2);
  EXPECT_EQ(json["warp_instructions"], 6);
  EXPECT_EQ(json["entered"], 7);
  EXPECT_EQ(json["handled"], 4);
  EXPECT_EQ(json["microseconds"], 700);
  EXPECT_EQ(json["interpreted"][0]["why"], "its blocks form clusters");
  EXPECT_EQ(json["interpreted"][0]["launches"], 1);
}

TEST(Stats, SayNothingOfEnginesIfThereIsOnlyOne) {
  Stats stats;
  const check::Kernel k = kernel(1);
  stats.kernel_begin({&k});
  stats.kernel_end({&k, false});
  EXPECT_EQ(stats.text().find("host code"), std::string::npos);
  EXPECT_FALSE(stats.json()["kernels"][0].contains("host_code"));
}

void expect_plays(const Tally& t, std::uint64_t n) {
  EXPECT_EQ(t.blocks, n);
  EXPECT_EQ(t.families.at(0).warps, 2 * n);
  EXPECT_EQ(t.families.at(0).threads, 40 * n);
  EXPECT_EQ(t.instructions().warps, 3 * n);
  EXPECT_EQ(t.instructions().threads, 72 * n);
  EXPECT_DOUBLE_EQ(t.active_lanes(), 24);
  EXPECT_EQ(t.divergent_branches, n);
  EXPECT_EQ(t.memory[0].loaded, 512 * n);
  EXPECT_EQ(t.memory[0].stored, 16 * n);
  EXPECT_EQ(t.memory[0].accesses, 2 * n);
  EXPECT_EQ(t.memory[1].atomic, 12 * n);
  EXPECT_EQ(t.copies[0].copies, 16 * n);
  EXPECT_EQ(t.copies[0].bytes, 256 * n);
  EXPECT_EQ(t.barriers[0], n);
  EXPECT_EQ(t.mbarrier_arrivals, 4 * n);
  EXPECT_EQ(t.mbarrier_phases, n);
  EXPECT_EQ(t.mbarrier_waits, 2 * n);
}

void run(Stats& stats, const check::Kernel& k, int plays) {
  stats.kernel_begin({&k});
  for (int i = 0; i < plays; ++i) play(stats, k);
  stats.kernel_end({&k, false});
}

TEST(Stats, AddsUpOverLaunchesAndThreads) {
  Stats stats;
  std::vector<std::thread> streams;
  for (std::uint64_t launch = 1; launch <= 4; ++launch)
    streams.emplace_back([&stats, launch] { run(stats, kernel(launch), 100); });
  for (std::thread& stream : streams) stream.join();
  run(stats, kernel(5), 100);
  const auto kernels = stats.kernels();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].tally.launches, 5u);
  expect_plays(kernels[0].tally, 500);
}

TEST(Stats, LaunchesSideBySideKeepApart) {
  Stats stats;
  const check::Kernel a = kernel(1, "a"), b = kernel(2, "b");
  stats.kernel_begin({&a});
  stats.kernel_begin({&b});
  std::thread first([&] {
    for (int i = 0; i < 100; ++i) {
      play(stats, a);
      play(stats, b);
    }
  });
  std::thread second([&] {
    for (int i = 0; i < 300; ++i) play(stats, b);
  });
  first.join();
  stats.kernel_end({&a, false});  // while b runs
  second.join();
  stats.kernel_end({&b, false});
  const auto kernels = stats.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "b") << "the one with most instructions comes first";
  expect_plays(kernels[0].tally, 400);
}

TEST(Stats, InstancesKeepApart) {
  Stats one, two;
  const check::Kernel k = kernel(7);
  one.kernel_begin({&k});
  two.kernel_begin({&k});
  play(one, k);
  play(two, k);
  play(two, k);
  one.kernel_end({&k, false});
  two.kernel_end({&k, false});
  expect_plays(one.kernels().at(0).tally, 1);
  expect_plays(two.kernels().at(0).tally, 2);
}

TEST(Stats, RunningLaunchesAreNotReported) {
  Stats stats;
  const check::Kernel k = kernel(1);
  stats.kernel_begin({&k});
  play(stats, k);
  EXPECT_TRUE(stats.kernels().empty());
  EXPECT_EQ(stats.text(), "");
}

TEST(Stats, TextIsATable) {
  Stats stats;
  run(stats, kernel(1), 1000);
  EXPECT_EQ(stats.text(),
            "copy(int*): 1 launch, 1,000 blocks\n"
            "  instructions                  by warps          by threads        active lanes\n"
            "    integer                        2,000              40,000                20.0\n"
            "    load                           1,000              32,000                32.0\n"
            "    all                            3,000              72,000                24.0\n"
            "  memory                          loaded              stored             atomics\n"
            "    global                       500 KiB            15.6 KiB                 0 B\n"
            "    shared                           0 B                 0 B            11.7 KiB\n"
            "  copies                          issued               bytes\n"
            "    cp.async                      16,000             250 KiB\n"
            "  block barriers                   1,000\n"
            "  mbarriers                     arrivals              phases               tests\n"
            "                                   4,000               1,000               2,000\n"
            "  divergent branches               1,000\n");
}

TEST(Stats, JsonHasTheSameNumbers) {
  Stats stats;
  run(stats, kernel(1), 10);
  const nlohmann::json json = stats.json();
  const nlohmann::json& k = json.at("kernels").at(0);
  EXPECT_EQ(k.at("name"), "copy(int*)");
  EXPECT_EQ(k.at("mangled"), "_Z4copyPi");
  EXPECT_EQ(k.at("launches"), 1);
  EXPECT_EQ(k.at("thread_instructions"), 720);
  EXPECT_EQ(k.at("instructions").at("integer").at("threads"), 400);
  EXPECT_FALSE(k.at("instructions").contains("branch")) << "nothing of that family ran";
  EXPECT_EQ(k.at("memory").at("global").at("loaded"), 5120);
  EXPECT_EQ(k.at("copies").at("cp.async").at("bytes"), 2560);
  EXPECT_EQ(k.at("barriers").at("block"), 10);
  EXPECT_EQ(k.at("mbarriers").at("phases"), 10);
  EXPECT_EQ(k.at("divergent_branches"), 10);
}

TEST(Stats, ListensToWhatItCounts) {
  Stats stats;
  EXPECT_TRUE(has(stats.topics(), check::Topic::counts));
  EXPECT_FALSE(has(stats.topics(), check::Topic::instructions)) << "events would cost far more";
}

}  // namespace
}  // namespace inflight::trace
