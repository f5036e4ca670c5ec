// arch: sm_90a
// Loops over swizzled tiles that tensor copies load, four ahead; and the store of a tile.
#include <inflight/copy.cuh>
#include <inflight/tensor_copy.cuh>

namespace {

constexpr int stages = 4, rows = 64, columns = 32;
using tile = inflight::swizzled_tile<float, rows, columns, inflight::swizzle::b128>;

__device__ unsigned address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace

extern "C" __global__ void library_loads(const __grid_constant__ inflight::tile_map<tile> map,
                                         float* out, int tiles) {
  __shared__ tile stage[stages];
  __shared__ inflight::barrier<> ready[stages];
  if (threadIdx.x == 0)
    for (int i = 0; i < stages; ++i) ready[i].init(1);
  __syncthreads();
  auto fetch = [&](int n) {
    inflight::transaction copies(ready[n % stages]);
    inflight::copy_async(stage[n % stages], map, {blockIdx.x * columns, n * rows}, copies);
    copies.arrive();
  };
  if (threadIdx.x == 0)
    for (int n = 0; n < stages && n < tiles; ++n) fetch(n);
  float sum = 0;
  for (int n = 0; n < tiles; ++n) {
    ready[n % stages].wait_parity(n / stages % 2);
    sum += stage[n % stages](threadIdx.x, n % columns);
    __syncthreads();
    if (threadIdx.x == 0 && n + stages < tiles) fetch(n + stages);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void hand_loads(const __grid_constant__ inflight::tile_map<tile> map,
                                      float* out, int tiles) {
  alignas(1024) __shared__ unsigned char stage[stages][rows * 128];
  alignas(8) __shared__ unsigned long long ready[stages];
  if (threadIdx.x == 0)
    for (int i = 0; i < stages; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(&ready[i])), "r"(1)
                   : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
  __syncthreads();
  auto fetch = [&](int n) {
    const unsigned mbarrier = address(&ready[n % stages]);
    unsigned long long token;
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];" ::"r"(address(stage[n % stages])),
        "l"(&map), "r"(blockIdx.x * columns), "r"(n * rows), "r"(mbarrier)
        : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                 : "=l"(token)
                 : "r"(mbarrier), "r"(rows * 128)
                 : "memory");
  };
  if (threadIdx.x == 0)
    for (int n = 0; n < stages && n < tiles; ++n) fetch(n);
  float sum = 0;
  for (int n = 0; n < tiles; ++n) {
    asm volatile(
        "{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again; "
        "}" ::"r"(address(&ready[n % stages])),
        "r"(n / stages % 2)
        : "memory");
    const unsigned place = n % columns * 4u ^ threadIdx.x % 8 * 16;
    sum += *reinterpret_cast<float*>(stage[n % stages] + threadIdx.x * 128u + place);
    __syncthreads();
    if (threadIdx.x == 0 && n + stages < tiles) fetch(n + stages);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void library_store(const __grid_constant__ inflight::tile_map<tile> map,
                                         const float* in) {
  __shared__ tile box;
  for (int column = 0; column < columns; ++column)
    box(threadIdx.x, column) = in[column * rows + threadIdx.x];
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  inflight::store_async(map, {blockIdx.x * columns, blockIdx.y * rows}, box);
  inflight::bulk_commit();
  inflight::bulk_wait_read();
}

extern "C" __global__ void hand_store(const __grid_constant__ inflight::tile_map<tile> map,
                                      const float* in) {
  alignas(1024) __shared__ unsigned char box[rows * 128];
  for (int column = 0; column < columns; ++column) {
    const unsigned place = column * 4u ^ threadIdx.x % 8 * 16;
    *reinterpret_cast<float*>(box + threadIdx.x * 128u + place) = in[column * rows + threadIdx.x];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(blockIdx.x * columns), "r"(blockIdx.y * rows), "r"(address(box))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
