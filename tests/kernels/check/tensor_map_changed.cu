// arch: sm_90a
// flags: -lcuda
// Tensor maps that a kernel changes: used without their fences (triton#7293), or changed while a
// store that uses them may be in flight (cutlass#2162).
#include <cuda.h>

#include "tests/kernels/check/check_test.cuh"

constexpr unsigned rows = 8, columns = 32, elements = rows * columns;

struct alignas(128) Map {
  std::uint64_t words[16];
};

struct alignas(128) Shared {
  int tile[elements];
  Map map;
  std::uint64_t bar;
};

// Lane 0 sets another tensor in the map's shared copy. The warp writes it to global memory.
__device__ void change(Shared& s, Map* map, const Map& from, int* tensor) {
  if (threadIdx.x < 16) s.map.words[threadIdx.x] = from.words[threadIdx.x];
  __syncwarp();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (threadIdx.x == 0)
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                     shared_address(&s.map)),
                 "l"(tensor)
                 : "memory");
#endif
  __syncwarp();
  // Lane 0 arrives after the others and knows more than they do, as in CUTLASS.
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    __threadfence_block();
  }
  // clang-format off
  // [change]
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(shared_address(&s.map)) : "memory");
  // clang-format on
}

__device__ void acquire(const Map* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

__device__ void load(Shared& s, const Map* map) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&s.bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(shared_address(&s.bar))
                 : "memory");
    // clang-format off
    // [load]
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];" ::"r"(shared_address(s.tile)), "l"(map), "r"(shared_address(&s.bar)), "r"(0) : "memory");
    // clang-format on
  }
  __syncwarp();
}
__device__ void wait(Shared& s) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;\n}" ::"r"(shared_address(&s.bar))
      : "memory");
}

__global__ void used(const __grid_constant__ Map from, Map* map, int* tensor, int* out,
                     bool fence) {
  __shared__ Shared s;
  change(s, map, from, tensor);
  if (fence) acquire(map);
  load(s, map);
  wait(s);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = s.tile[i];
}

// Plain stores write the map.
__global__ void stored(const __grid_constant__ Map from, Map* map, int* out, int fences) {
  __shared__ Shared s;
  if (threadIdx.x < 16) map->words[threadIdx.x] = from.words[threadIdx.x];  // [stores]
  if (fences & 1) asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  __syncwarp();
  if (fences & 2) acquire(map);
  load(s, map);
  wait(s);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = s.tile[i];
}

__global__ void store_in_flight(const __grid_constant__ Map from, Map* map, int* tensor, int count,
                                bool waits) {
  __shared__ Shared s;
  for (unsigned e = threadIdx.x; e < elements; e += 32) s.tile[e] = 7;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int i = 0; i < count; ++i) {
    if (waits && threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncwarp();
    change(s, map, from, tensor + i * elements);
    acquire(map);
    __syncwarp();
    if (threadIdx.x == 0) {
      // clang-format off
      // [store]
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %2}], [%1];" ::"l"(map), "r"(shared_address(s.tile)), "r"(0) : "memory");
      // clang-format on
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void load_in_flight(const __grid_constant__ Map from, Map* map, int* tensor, int* out,
                               bool waits) {
  __shared__ Shared s;
  change(s, map, from, tensor);
  acquire(map);
  load(s, map);
  if (waits) wait(s);
  change(s, map, from, tensor + elements);
  if (!waits) wait(s);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = s.tile[i];
}

int* ints(std::size_t count) {
  int* p = nullptr;
  cudaMalloc(&p, count * sizeof(int));
  cudaMemset(p, 0, count * sizeof(int));
  return p;
}
Map* map() { return reinterpret_cast<Map*>(ints(32)); }

Map encoded() {
  CUtensorMap encoded;
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * sizeof(int)};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  cuTensorMapEncodeTiled(&encoded, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, ints(elements), dims, strides,
                         box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Map map;
  std::memcpy(&map, &encoded, sizeof map);
  return map;
}

// Maps that the host has encoded and copied to the device.
Map* maps_of_the_host(int count) {
  Map* const there = reinterpret_cast<Map*>(ints(32 * static_cast<std::size_t>(count)));
  const Map here = encoded();
  for (int i = 0; i < count; ++i) cudaMemcpy(there + i, &here, sizeof here, cudaMemcpyHostToDevice);
  return there;
}

__global__ void made_by_the_host(const Map* map, int* out) {
  __shared__ Shared s;
  load(s, map);
  wait(s);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = s.tile[i];
}

// Lanes of one store write the end of the first map and the start of the third.
__global__ void beside(Map* maps, int* out) {
  __shared__ Shared s;
  if (threadIdx.x < 2) maps[2 * threadIdx.x].words[15 - 15 * threadIdx.x] = 0;
  __syncwarp();
  load(s, maps + 1);
  wait(s);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = s.tile[i];
}

// Each of three lanes changes a map of its own, far from the others.
__global__ void of_lanes(Map* maps, int* tensor, int* out, bool fences) {
  __shared__ Shared s;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (threadIdx.x < 3) {
    // clang-format off
    // [replace]
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(maps + 4 * threadIdx.x), "l"(tensor) : "memory");
    // clang-format on
  }
#endif
  if (fences) asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  __syncwarp();
  if (fences) acquire(maps + 4);
  load(s, maps + 4);
  wait(s);
  for (unsigned i = threadIdx.x; i < elements; i += 32) out[i] = s.tile[i];
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"no_acquire",
        [] { used<<<1, 32>>>(encoded(), map(), ints(elements), ints(elements), false); }},
       {"no_acquire_twin",
        [] { used<<<1, 32>>>(encoded(), map(), ints(elements), ints(elements), true); }},
       {"no_fences", [] { stored<<<1, 32>>>(encoded(), map(), ints(elements), 0); }},
       {"no_release", [] { stored<<<1, 32>>>(encoded(), map(), ints(elements), 2); }},
       {"only_release", [] { stored<<<1, 32>>>(encoded(), map(), ints(elements), 1); }},
       {"both_fences", [] { stored<<<1, 32>>>(encoded(), map(), ints(elements), 3); }},
       {"store_in_flight",
        [] { store_in_flight<<<1, 32>>>(encoded(), map(), ints(4 * elements), 4, false); }},
       {"store_in_flight_twin",
        [] { store_in_flight<<<1, 32>>>(encoded(), map(), ints(4 * elements), 4, true); }},
       {"load_in_flight",
        [] {
          load_in_flight<<<1, 32>>>(encoded(), map(), ints(2 * elements), ints(elements), false);
        }},
       {"load_in_flight_twin",
        [] {
          load_in_flight<<<1, 32>>>(encoded(), map(), ints(2 * elements), ints(elements), true);
        }},
       {"made_by_the_host",
        [] { made_by_the_host<<<1, 32>>>(maps_of_the_host(1), ints(elements)); }},
       {"beside", [] { beside<<<1, 32>>>(maps_of_the_host(3), ints(elements)); }},
       {"of_lanes",
        [] { of_lanes<<<1, 32>>>(maps_of_the_host(9), ints(elements), ints(elements), false); }},
       {"of_lanes_twin",
        [] { of_lanes<<<1, 32>>>(maps_of_the_host(9), ints(elements), ints(elements), true); }}});
}
