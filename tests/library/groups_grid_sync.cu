// Barriers of a grid: the launch's own word and the program's, whole and in halves, in several
// grids at once, and in consecutive launches.
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

enum Way { own, own_halves, passed, member, halves, general };

// In each round a block reads what another block wrote before the barrier, and counts wrong values.
__global__ void rounds(int way, int count, int* values, unsigned* wrong,
                       cg::grid_barrier* barrier) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  cg::thread_group any = grid;
  const unsigned blocks = unsigned(grid.num_blocks()), me = unsigned(grid.block_rank());
  for (int round = 0; round < count; ++round) {
    int* now = values + round % 2 * blocks;
    if (block.thread_rank() == block.num_threads() - 1) now[me] = round * 1000 + int(me);
    if (way == own) cg::sync(grid);
    if (way == own_halves) {
      auto token = grid.barrier_arrive();
      grid.barrier_wait(static_cast<decltype(token)&&>(token));
    }
    if (way == passed) grid.sync(*barrier);
    if (way == member) barrier->sync();
    if (way == halves) barrier->wait(barrier->arrive());
    if (way == general) any.sync();
    const unsigned other = (me + 1 + round) % blocks;
    if (now[other] != round * 1000 + int(other)) atomicAdd(wrong, 1);
  }
}

int main() {
  Buffer<int> values(4 * 64);
  Buffer<unsigned> wrong(1);
  Buffer<cg::grid_barrier> barriers(4);
  const char* names[] = {"this_grid().sync()", "barrier_arrive, barrier_wait", "sync(barrier)",
                         "grid_barrier",       "grid_barrier in halves",       "thread_group"};
  for (int way = own; way <= general; ++way) {
    for (dim3 grid : {dim3(1), dim3(7), dim3(4, 2, 3)})
      CHECK(cg::launch_cooperative(rounds, grid, dim3(8, 5), 0, nullptr, way, 9, values, wrong,
                                   barriers));
    std::printf("%s: %u wrong\n", names[way], wrong.read()[0]);
  }
  // Two grids at a time; each launch of the same kernel has its own word.
  cudaStream_t streams[2];
  for (auto& stream : streams) CHECK(cudaStreamCreate(&stream));
  for (int way : {own, member})
    for (int i = 0; i < 4; ++i)
      CHECK(cg::launch_cooperative(rounds, 12, 64, 0, streams[i % 2], way, 15,
                                   values.device + i % 2 * 128, wrong.device,
                                   barriers.device + i % 2));
  std::printf("two grids at a time: %u wrong\n", wrong.read()[0]);
}
