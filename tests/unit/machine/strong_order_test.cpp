// Listeners are notified of strong accesses of several host threads in the order in which these
// happened.
#include <fmt/format.h>

#include <random>
#include <unordered_map>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

// Replays the events on its own words: each read must return the last written value.
class Replay : public check::Listener {
 public:
  check::Topic topics() const override { return check::Topic::accesses | check::Topic::addresses; }
  void accessed(const check::Access& e) override {
    if (e.order == check::Order::weak || e.space != check::Space::global) return;
    ++told;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(e.who.mask >> lane & 1)) continue;
      std::uint64_t& word = words[e.addresses[lane]];
      if (e.read && e.read[lane] != word) ++stale;
      if (e.wrote && e.written >> lane & 1) word = e.wrote[lane];
    }
  }
  std::unordered_map<std::uint64_t, std::uint64_t> words;
  std::uint64_t told = 0, stale = 0;
};

// %d0: the words. %r1: the next value to write, unique to the thread. Each access uses one of four
// words.
std::string random_access(std::mt19937& random) {
  static constexpr const char* accesses[] = {
      "ld.acquire.gpu.global.u32 %r2, [%d0+{}];",
      "ld.relaxed.sys.global.u32 %r2, [%d0+{}];",
      "ld.volatile.global.u32 %r2, [%d0+{}];",
      "st.release.gpu.global.u32 [%d0+{}], %r1;",
      "st.relaxed.gpu.global.u32 [%d0+{}], %r1;",
      "st.volatile.global.u32 [%d0+{}], %r1;",
      "atom.acq_rel.gpu.global.exch.b32 %r2, [%d0+{}], %r1;",
      "atom.acquire.gpu.global.cas.b32 %r2, [%d0+{}], %r2, %r1;",
  };
  return fmt::format(fmt::runtime(accesses[random() % std::size(accesses)]), random() % 4 * 4) +
         "\n  add.u32 %r1, %r1, 1;\n  ";
}

class StrongOrder : public KernelRunner {};

TEST_F(StrongOrder, NoReadIsToldBeforeTheWriteThatItRead) {
  static constexpr unsigned programs_tried = 200, launches = 5, blocks = 8, rounds = 50;
  options.workers = 4;
  const std::uint64_t base = upload(std::vector<std::uint32_t>(4));
  std::mt19937 random(20250711);
  for (unsigned i = 0; i < programs_tried; ++i) {
    std::string body;
    for (unsigned n = 0; n < 8; ++n) body += random_access(random);
    const Program* const program = link(entry(1, R"(
  .reg .b32 %r<4>; .reg .pred %p0; .reg .b64 %d<2>;
  ld.param.u64 %d0, [p0];
  mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 20;
  mov.u32 %r2, 0; mov.u32 %r3, 0;
again:
  )" + body + R"(
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p0, %r3, )" + std::to_string(rounds) + R"(;
  @%p0 bra again;
  ret;)"));
    for (unsigned launch = 0; launch < launches; ++launch) {
      Replay replay;
      options.listener = &replay;
      for (unsigned word = 0; word < 4; ++word)
        replay.words[base + word * 4] = download<std::uint32_t>(base, 4)[word];
      ASSERT_TRUE(run(program, {.grid = {blocks, 1, 1}, .block = {1, 1, 1}}, {base}).ok());
      ASSERT_EQ(replay.told, std::uint64_t{blocks} * rounds * 8);
      ASSERT_EQ(replay.stale, 0u) << body;
      for (unsigned word = 0; word < 4; ++word)
        ASSERT_EQ(replay.words[base + word * 4], download<std::uint32_t>(base, 4)[word]);
    }
  }
}

}  // namespace
}  // namespace inflight::machine
