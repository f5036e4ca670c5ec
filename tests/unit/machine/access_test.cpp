// Addresses: their meaning in each window, and the messages for invalid ones.
#include "gpu/machine/run/access.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "gpu/machine/run/worker.hpp"

namespace inflight::machine {
namespace {

// One warp of a block with 256 bytes of shared memory, 64 of local and 16 of parameters.
class Access : public testing::Test {
 protected:
  Access() {
    kernel.parameter_bytes = 16;
    launch.kernel = &kernel;
    grid.launch = &launch;
    grid.memory = &memory;
    grid.parameters = parameters;
    cluster = std::make_unique<Cluster>(grid);
    Block& block = *cluster->blocks.front();
    block.shared = shared;
    block.shared_end = sizeof shared;
    warp.block = &block;
    warp.worker = &worker;
    warp.mask = all_lanes;
    warp.ensure_local(64);
    base = *memory.allocate(0, 1000, AllocationKind::device);
    other = *memory.allocate(1, 1000, AllocationKind::device);
    constant = *memory.allocate(0, 64, AllocationKind::constant, 256, "table");
  }
  std::uint64_t shared_at(std::uint64_t offset) {
    return memory.windows().shared + reserved_shared + offset;
  }
  std::uint64_t local_at(std::uint64_t offset) { return memory.windows().local + offset; }
  std::uint64_t param_at(std::uint64_t offset) { return memory.windows().param + offset; }

  Memory memory{2, 1 << 20};
  Kernel kernel;
  Launch launch;
  Grid grid;
  std::unique_ptr<Cluster> cluster;
  Worker worker;
  Warp warp;
  alignas(64) std::byte shared[reserved_shared + 256] = {};
  alignas(64) std::byte parameters[16] = {};
  std::uint64_t base = 0, other = 0, constant = 0;
};

TEST_F(Access, ResolvesEveryWindow) {
  EXPECT_EQ(resolve_generic(warp, base + 996, 4, true), reinterpret_cast<std::byte*>(base + 996));
  EXPECT_EQ(resolve_generic(warp, shared_at(252), 4, true), shared + reserved_shared + 252);
  EXPECT_EQ(resolve_generic(warp, param_at(8), 8, false), parameters + 8);
  EXPECT_NE(resolve_generic(warp, constant, 4, true), nullptr);
}

TEST_F(Access, RefusesWhatIsOutside) {
  std::string why;
  EXPECT_EQ(resolve_generic(warp, base + 998, 4, true, &why), nullptr);
  EXPECT_NE(why.find("998 bytes into the 1000-byte"), std::string::npos) << why;
  EXPECT_EQ(resolve_generic(warp, base + 1004, 4, true, &why), nullptr);
  EXPECT_NE(why.find("4 bytes past the end of"), std::string::npos) << why;
  EXPECT_EQ(resolve_generic(warp, shared_at(253), 4, true), nullptr);
  EXPECT_EQ(resolve_generic(warp, param_at(8), 8, true), nullptr);
  EXPECT_EQ(resolve_generic(warp, param_at(12), 8, false), nullptr);
  EXPECT_EQ(resolve_generic(warp, local_at(0), 4, false), nullptr);
  EXPECT_EQ(resolve_generic(warp, ~0ull - 1, 4, false), nullptr);
  EXPECT_EQ(resolve_generic(warp, constant + 62, 4, true, &why), nullptr);
  EXPECT_NE(why.find("'table'"), std::string::npos) << why;
  EXPECT_EQ(resolve_generic(warp, memory.windows().code + 8, 4, false, &why), nullptr);
  EXPECT_NE(why.find("function"), std::string::npos) << why;
}

TEST_F(Access, ReservedSharedMemoryIsThereForWhoAsks) {
  const std::uint64_t window = memory.windows().shared;
  std::string why;
  EXPECT_EQ(resolve_generic(warp, window, 4, false, &why), nullptr);
  EXPECT_NE(why.find("in the 1024 bytes before the shared memory of this block"), std::string::npos)
      << why;
  cluster->blocks.front()->reserved_end = reserved_shared_usable;
  EXPECT_EQ(resolve_generic(warp, window, 4, true), shared);
  EXPECT_EQ(resolve_generic(warp, window + 284, 4, true), shared + 284);
  EXPECT_EQ(resolve_generic(warp, window + 285, 4, true), nullptr);
  EXPECT_EQ(resolve_generic(warp, window + 1020, 8, true, &why), nullptr);
  EXPECT_NE(why.find("offset 0x3fc is in the 1024 bytes before"), std::string::npos) << why;
  EXPECT_EQ(resolve_generic(warp, shared_at(0), 4, true), shared + reserved_shared);
}

TEST_F(Access, NeedsPeerAccessToAnotherDevice) {
  std::string why;
  EXPECT_EQ(resolve_generic(warp, other, 4, false, &why), nullptr);
  EXPECT_NE(why.find("no peer access"), std::string::npos) << why;
  memory.set_peer_access(0, 1, true);
  EXPECT_NE(resolve_generic(warp, other, 4, false), nullptr);
}

TEST_F(Access, ReadsAndWritesAnySpace) {
  const char text[] = "seventeen bytes!";
  for (const std::uint64_t at : {base + 3, shared_at(5), local_at(7)}) {
    char back[sizeof text] = {};
    ASSERT_TRUE(write_generic(warp, 9, at, text, sizeof text));
    ASSERT_TRUE(read_generic(warp, 9, at, back, sizeof text));
    EXPECT_STREQ(back, text);
  }
  char byte = 0;
  EXPECT_FALSE(read_generic(warp, 0, local_at(64), &byte, 1));
  EXPECT_FALSE(write_generic(warp, 0, param_at(0), &byte, 1));
  EXPECT_FALSE(read_generic(warp, 0, 0, &byte, 1));
}

TEST_F(Access, KeepsEachLanesLocalMemoryApart) {
  for (int l = 0; l < lanes; ++l) {
    const std::uint32_t mine = 1000u + static_cast<std::uint32_t>(l);
    ASSERT_TRUE(write_generic(warp, l, local_at(10), &mine, 4));
  }
  for (int l = 0; l < lanes; ++l) {
    std::uint32_t mine = 0;
    ASSERT_TRUE(read_generic(warp, l, local_at(10), &mine, 4));
    EXPECT_EQ(mine, 1000u + static_cast<std::uint32_t>(l));
  }
}

TEST_F(Access, ForgetsWhatItKnewWhenAllocationsChange) {
  Op op;
  EXPECT_NE(resolve_global(warp, &op, base, 4, true), nullptr);
  EXPECT_NE(resolve_global(warp, &op, base + 500, 4, true), nullptr);
  memory.release(base);
  EXPECT_EQ(resolve_global(warp, &op, base, 4, true), nullptr);
  EXPECT_NE(describe_address(warp, base).find("was freed"), std::string::npos);
}

TEST_F(Access, TellsTheLanesOfABadAccess) {
  Op op;
  std::uint64_t addresses[lanes];
  for (int l = 0; l < lanes; ++l) addresses[l] = base + 4 * static_cast<std::uint64_t>(l);
  EXPECT_EQ(check_global(warp, &op, all_lanes, addresses, 4, true).lanes, 0u);
  addresses[3] = base + 2000;
  addresses[7] = base + 2;
  BadLanes bad = check_global(warp, &op, all_lanes, addresses, 4, true);
  EXPECT_EQ(bad.lanes, 1u << 7);
  EXPECT_EQ(bad.kind, FaultKind::misaligned_address);
  bad = check_global(warp, &op, ~(1u << 7), addresses, 4, true);
  EXPECT_EQ(bad.lanes, 1u << 3);
  EXPECT_EQ(bad.kind, FaultKind::illegal_address);
  EXPECT_EQ(check_global(warp, &op, 0xff00, addresses, 4, true).lanes, 0u);
}

}  // namespace
}  // namespace inflight::machine
