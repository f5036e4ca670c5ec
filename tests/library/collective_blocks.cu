// reduce and the scans over whole blocks of any size, and over tiles of 64 to 512 threads: with
// their own scratch, with block_tile_memory, and with the reserved bytes. Several in a row on one
// scratch, with one barrier each.
#include "collective_reference.cuh"

constexpr unsigned rounds = 5;

// Each round uses the last round's values, shifted by one thread, so a result from the wrong half
// of the scratch is detected.
template <unsigned Threads, class T, class Op>
__global__ void blocks(const T* in, Results<T>* out, Op op) {
  __shared__ inflight::block_scratch<T, Threads> scratch;
  auto block = inflight::this_thread_block();
  auto team = inflight::with_scratch(block, scratch);
  const unsigned count = block.num_threads(), rank = block.thread_rank();
  for (unsigned round = 0; round < rounds; ++round)
    out[round * count + rank] = all_three(team, in[(rank + round) % count], op);
}

template <unsigned Size, class T, class Op>
__global__ void __launch_bounds__(512) tiles(const T* in, Results<T>* out, Op op) {
  __shared__ inflight::block_tile_memory<512> memory;
  __shared__ inflight::block_scratch<T, 512> scratch;
  auto block = inflight::this_thread_block(memory);
  auto tile = inflight::tiled_partition<Size>(block);
  const unsigned rank = block.thread_rank();
  out[rank] = all_three(tile, in[rank], op);
  out[512 + rank] = all_three(inflight::with_scratch(tile, scratch), in[rank], op);
  auto bare = inflight::tiled_partition<Size>(inflight::this_thread_block());
  out[1024 + rank] = all_three(bare, in[rank], op);
}

template <unsigned Threads, class T, class Op>
int block_errors(dim3 shape, Op op) {
  const unsigned count = shape.x * shape.y * shape.z;
  Buffer<T> in(make_values<T>(count, int(count)));
  Buffer<Results<T>> out(rounds * count);
  blocks<Threads><<<1, shape>>>(in.device, out.device, op);
  auto& got = out.read();
  int errors = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<T> values;
    for (unsigned i = 0; i < count; ++i) values.push_back(in.host[(i + round) % count]);
    errors += wrong(values, got, ranks(0, count), op, round * count);
  }
  return errors;
}

template <unsigned Size, class T, class Op>
int tile_errors(Op op) {
  Buffer<T> in(make_values<T>(512, Size));
  Buffer<Results<T>> out(1536);
  tiles<Size><<<1, 512>>>(in.device, out.device, op);
  auto& got = out.read();
  int errors = 0;
  for (unsigned first = 0; first < 512; first += Size)
    for (unsigned way = 0; way < 3; ++way)
      errors += wrong(in.host, got, ranks(first, Size), op, way * 512);
  return errors;
}

template <class T, class Op>
void test(const char* name, Op op) {
  say(name, "block of 128", block_errors<128, T>(128, op));
  say(name, "block of 256", block_errors<256, T>(256, op));
  say(name, "block of 32x8x4", block_errors<1024, T>(dim3(32, 8, 4), op));
  say(name, "block of 160", block_errors<160, T>(160, op));
  say(name, "block of 384", block_errors<384, T>(dim3(96, 4), op));
  int errors = 0;
  for (unsigned count : {1, 31, 32, 33, 63, 100, 255, 800})
    errors += block_errors<inflight::any_threads, T>(count, op);
  say(name, "blocks in scratch for any number of threads", errors);
  say(name, "block of 50", block_errors<50, T>(50, op));
  say(name, "tile<64>", tile_errors<64, T>(op));
  say(name, "tile<512>", tile_errors<512, T>(op));
}

int main() {
  test<int>("int plus", inflight::plus<int>());
  test<float>("float plus", inflight::plus<float>());
  test<double>("double greater", inflight::greater<double>());
  test<Place>("12 bytes, the first of the greatest", First());
  test<Matrix>("32 bytes, a product", Product());
  say("int bit_xor", "tile<128>", tile_errors<128, int>(inflight::bit_xor<int>()));
  say("short less", "tile<256>", tile_errors<256, short>(inflight::less<short>()));
  say("float plus", "block of 800", block_errors<800, float>(800, inflight::plus<float>()));
  say("12 bytes, the first of the greatest", "block of 800",
      block_errors<800, Place>(800, First()));
  say("short plus", "block of 640", block_errors<640, short>(640, inflight::plus<short>()));
}
