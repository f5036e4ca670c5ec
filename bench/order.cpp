// Measures the cost of tracking order: accesses per second of one core, and shadow bytes per byte.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <vector>

#include "gpu/check/order/block.hpp"
#include "gpu/check/shadow/shadow.hpp"

namespace {

using namespace inflight::order;
using inflight::shadow::Conflict;
using inflight::shadow::Shadow;

constexpr Mask all = ~Mask{0};
std::vector<Conflict> conflicts;

void words(Shadow& memory, const Block& block, std::uint32_t warp, std::uint64_t address,
           bool write, std::uint32_t bytes = 4, std::uint32_t stride = 0) {
  std::uint64_t addresses[lanes];
  for (unsigned l = 0; l < lanes; ++l) addresses[l] = address + (stride ? stride : bytes) * l;
  memory.access(block, warp, {addresses, all, bytes, 1, write}, conflicts);
}

void meet(Block& block) {
  BarrierState barrier;
  for (std::uint32_t w = 0; w < block.warps(); ++w) block.arrive_and_wait(barrier, w, all);
  barrier.complete();
}

template <class F>
void measure(const char* name, F&& work) {
  double best = 1e9;
  std::uint64_t accesses = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::clock_t start = std::clock();  // processor time
    accesses = work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::printf("%-44s %8.1f million thread-accesses/s  %6.1f ns a warp's access\n", name,
              accesses / best / 1e6, best * 1e9 / (accesses / lanes));
}

// Each thread reads one word and writes another, in 4096 blocks of 256 threads.
std::uint64_t in_order(std::uint32_t bytes, double* shadow_bytes = nullptr) {
  Shadow global(Space::global);
  std::uint64_t count = 0;
  for (std::uint32_t b = 0; b < 4096; ++b) {
    Block block({1, b, 256}, {});
    for (std::uint32_t w = 0; w < 8; ++w) {
      const std::uint64_t at = (std::uint64_t{b} * 8 + w) * lanes * bytes;
      words(global, block, w, at, false, bytes);
      words(global, block, w, (std::uint64_t{1} << 32) + at, true, bytes);
      count += 2 * lanes;
    }
  }
  if (shadow_bytes)
    *shadow_bytes = static_cast<double>(global.bytes()) / (static_cast<double>(count) * bytes);
  return count;
}

// 16 steps of: load a tile, barrier, each thread reads 16 words of it, barrier.
std::uint64_t tile(bool transposed) {
  std::uint64_t count = 0;
  for (std::uint32_t b = 0; b < 64; ++b) {
    Block block({1, b, 256}, {});
    Shadow shared(Space::shared);
    for (int step = 0; step < 16; ++step) {
      for (std::uint32_t w = 0; w < 8; ++w) words(shared, block, w, w * 128, true);
      meet(block);
      for (std::uint32_t w = 0; w < 8; ++w)
        for (std::uint32_t k = 0; k < 16; ++k)
          transposed ? words(shared, block, w, k * 4, false, 4, 132)
                     : words(shared, block, w, (w + k) % 8 * 128, false);
      meet(block);
      count += 8 * lanes * 17;
    }
  }
  return count;
}

// One warp loads stages of 4 KiB by bulk copies. Seven others read and release them.
std::uint64_t pipeline() {
  constexpr std::uint32_t stages = 4, bytes = 4096;
  std::uint64_t count = 0;
  for (std::uint32_t b = 0; b < 32; ++b) {
    Block block({1, b, 256}, {});
    Shadow shared(Space::shared);
    Mbarrier full[stages], empty[stages];
    for (std::uint32_t s = 0; s < stages; ++s) block.init(full[s]), block.init(empty[s]);
    meet(block);
    for (std::uint32_t step = 0; step < 64; ++step) {
      const std::uint32_t s = step % stages;
      if (step >= stages) block.observe(empty[s], 0, 1, Order::acquire, Scope::cta);
      block.arrive(full[s], 0, 1, Order::release, Scope::cta);
      shared.copy(block, 0, 0, {full[s].row(), full[s].lane(), block.tick()},
                  {s * bytes, bytes, 2, true}, conflicts);
      const Knowledge issued = block.issue(0, 0);
      Block::copied(full[s], issued);
      block.complete(full[s]);
      for (std::uint32_t w = 1; w < 8; ++w) {
        block.observe(full[s], w, all, Order::acquire, Scope::cta);
        for (std::uint32_t k = 0; k < bytes / 128; ++k)
          words(shared, block, w, s * bytes + k * 128, false);
        block.warp_sync(w, all);
        block.arrive(empty[s], w, 1, Order::release, Scope::cta);
        count += lanes * (bytes / 128);
      }
      block.complete(empty[s]);
    }
  }
  return count;
}

// Threads of a grid take tickets from two counters in turn, each after a fence, as concurrent
// containers do. Each ticket changes what a thread has seen of all others.
std::uint64_t tickets() {
  constexpr std::uint32_t count_of_blocks = 64, warps = 16, rounds = 2;
  Location counters[2];
  std::deque<Block> blocks;
  for (std::uint32_t b = 0; b < count_of_blocks; ++b)
    blocks.emplace_back(Block::Shape{1, b, warps * lanes}, Knowledge{});
  std::uint64_t count = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (Block& block : blocks)
      for (std::uint32_t w = 0; w < warps; ++w)
        for (std::uint64_t counter = 0; counter < 2; ++counter) {
          block.fence(w, all, Order::acq_rel, Scope::gpu);
          for (unsigned lane = 0; lane < lanes; ++lane)
            block.ticket(w, lane, 8 * counter, counters[counter], Scope::gpu);
          count += lanes;
        }
  return count;
}

}  // namespace

int main() {
  double words4 = 0, words16 = 0;
  measure("its own word each, 4 bytes", [&] { return in_order(4, &words4); });
  measure("its own vector each, 16 bytes", [&] { return in_order(16, &words16); });
  measure("tile between barriers, rows", [] { return tile(false); });
  measure("tile between barriers, padded columns", [] { return tile(true); });
  measure("pipeline of bulk copies with mbarriers", [] { return pipeline(); });
  measure("tickets from two counters", [] { return tickets(); });
  std::printf(
      "bytes of shadow for each byte touched: %.2f (4-byte words), %.2f (16-byte vectors)\n",
      words4, words16);
  for (const std::uint32_t threads : {32u, 256u, 1024u}) {
    Block block({1, 0, threads}, {});
    meet(block);
    std::printf("bytes of clocks for each thread of a block of %u: %.1f\n", threads,
                static_cast<double>(block.bytes()) / threads);
  }
  if (!conflicts.empty()) std::printf("false alarms: %zu\n", conflicts.size());
  return conflicts.empty() ? 0 : 1;
}
