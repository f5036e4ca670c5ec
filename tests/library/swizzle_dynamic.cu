// arch: sm_90a
// Swizzled tiles in dynamic shared memory, after static shared memory of several sizes. From
// dynamic_shared they have their alignment and receive a tensor copy's data. Also with pairs of
// halves as elements.
#include <cuda_fp16.h>

#include <inflight/dynamic_shared.cuh>

#include "tests/library/tensors.cuh"

namespace {

using inflight::swizzle;

template <class Tile>
struct Storage {
  inflight::barrier<> ready;
  unsigned char other[40];
  Tile tiles[3];
};

template <class T, int Rows, int Columns, swizzle Mode, int Static>
__global__ void copy(
    const __grid_constant__ inflight::tile_map<inflight::swizzled_tile<T, Rows, Columns, Mode>> map,
    T* out, int* misaligned) {
  using Tile = inflight::swizzled_tile<T, Rows, Columns, Mode>;
  __shared__ unsigned char before[Static];
  if (threadIdx.x == 0) before[Static - 1] = 1;
  auto& shared = inflight::dynamic_shared<Storage<Tile>>();
  if (threadIdx.x == 0) shared.ready.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::transaction copies(shared.ready);
    for (int i = 0; i < 3; ++i) inflight::copy_async(shared.tiles[i], map, {0, i * Rows}, copies);
    copies.arrive();
  }
  shared.ready.wait_parity(0);
  for (int i = threadIdx.x; i < 3 * Rows * Columns; i += blockDim.x)
    out[i] = shared.tiles[i / (Rows * Columns)](i / Columns % Rows, i % Columns);
  if (threadIdx.x == 0)
    *misaligned = int(inflight::ptx::shared_address(&shared.tiles[1]) % Tile::alignment) +
                  !before[Static - 1];
}

template <class T, int Rows, int Columns, swizzle Mode, int Static>
void test(const char* name) {
  using Tile = inflight::swizzled_tile<T, Rows, Columns, Mode>;
  constexpr int count = 3 * Rows * Columns;
  std::vector<unsigned char> bytes = numbered<unsigned char>(count * sizeof(T));
  std::vector<T> source(count);
  std::memcpy(static_cast<void*>(source.data()), bytes.data(), bytes.size());
  Buffer<T> in(source), out(count);
  Buffer<int> misaligned(1);
  const auto map = good(inflight::make_tensor_map<Tile>(in.device, {Columns, 3 * Rows}));
  constexpr auto shared = inflight::dynamic_shared_bytes<Storage<Tile>>();
  copy<T, Rows, Columns, Mode, Static><<<1, 64, shared>>>(map, out.device, misaligned.device);
  out.read();
  std::printf("%zu bytes for %zu, ", shared, sizeof(Storage<Tile>));
  verdict(name, misaligned.read()[0] == 0 && std::memcmp(static_cast<const void*>(out.host.data()),
                                                         bytes.data(), bytes.size()) == 0);
}

}  // namespace

int main() {
  test<float, 8, 32, swizzle::b128, 1>("float 8x32 b128 behind 1 byte");
  test<float, 16, 16, swizzle::b64, 700>("float 16x16 b64 behind 700 bytes");
  test<double, 8, 4, swizzle::b32, 16>("double 8x4 b32 behind 16 bytes");
  test<float, 4, 12, swizzle::none, 24>("float 4x12 behind 24 bytes");
  test<__half2, 8, 32, swizzle::b128, 40>("half2 8x32 b128 behind 40 bytes");
}
