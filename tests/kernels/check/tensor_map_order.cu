// arch: sm_90a
// flags: -lcuda
// A tensor map that one warp or block changes and another uses: nothing orders the two, the acquire
// fence comes before the change is known, or a fence has the scope of a block only. A lane that
// changes a shared copy of a map which the whole warp then publishes.
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

// clang-format off
#define CHANGE(scope, map, shared) asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." scope ".sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(shared_address(shared)) : "memory")
#define ACQUIRE(scope, map) asm volatile("fence.proxy.tensormap::generic.acquire." scope " [%0], 128;" ::"l"(map) : "memory")
#define REPLACE(map, tensor) asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_address(map)), "l"(tensor) : "memory")
#define LOAD(s, map) asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];" ::"r"(shared_address(s.tile)), "l"(map), "r"(shared_address(&s.bar)), "r"(0) : "memory")
// clang-format on

// A warp takes its shared copy of the map from global memory, and sets another tensor in it.
template <bool meets = true>
__device__ void replace(Shared& s, const Map* map, int* tensor) {
  const unsigned lane = threadIdx.x % 32;
  if (lane < 16) s.map.words[lane] = map->words[lane];
  __syncwarp();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (lane == 0) REPLACE(&s.map, tensor);  // [replace]
#endif
  if (meets) __syncwarp();
}

__device__ void prepare(Shared& s) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&s.bar)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(Shared& s) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(shared_address(&s.bar))
               : "memory");
}
__device__ void wait(Shared& s, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
      "@!p bra again;\n}" ::"r"(shared_address(&s.bar)),
      "r"(parity)
      : "memory");
}

enum class Warps { right, no_barrier, acquired_before_the_barrier };

// The first warp changes the map twice, and the second one loads with it.
template <Warps what>
__global__ void of_warps(Map* map, int* tensors, int* out) {
  __shared__ Shared s;
  const unsigned t = threadIdx.x;
  if (t == 0) prepare(s);
  __syncthreads();
  for (unsigned i = 0; i < 2; ++i) {
    if (t < 32) {
      replace(s, map, tensors + i * elements);
      CHANGE("gpu", map, &s.map);  // [change]
    }
    if (what == Warps::acquired_before_the_barrier && t == 32) ACQUIRE("gpu", map);
    if (what != Warps::no_barrier) __syncthreads();
    if (t == 32) {
      if (what != Warps::acquired_before_the_barrier) ACQUIRE("gpu", map);
      expect(s);
      LOAD(s, map);  // [use]
    }
    wait(s, i);
    for (unsigned e = t; e < elements; e += 64) out[i * elements + e] = s.tile[e];
    __syncthreads();
  }
}

// A lane changes the map, and the warp publishes it and changes its copy once more.
template <bool meets>
__global__ void of_a_lane(Map* map, int* tensor) {
  __shared__ Shared s;
  replace<meets>(s, map, tensor);
  CHANGE("gpu", map, &s.map);  // [change by the warp]
  if (threadIdx.x == 0) s.map.words[0] = 0;
}

enum class Blocks { right, relaxed_flag, no_flag, released_to_block, acquired_by_block };

// The first block changes the map and sets a flag, for which the second one waits.
template <Blocks what>
__global__ void of_blocks(Map* map, int* tensor, int* flag, int* out) {
  __shared__ Shared s;
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    replace(s, map, tensor);
    if (what == Blocks::released_to_block) {
      CHANGE("cta", map, &s.map);  // [change for the block]
    } else {
      CHANGE("gpu", map, &s.map);  // [change for others]
    }
    // tensormap.cp_fenceproxy is a release fence before a relaxed store, too.
    if (t == 0 && what == Blocks::relaxed_flag)
      asm volatile("st.relaxed.gpu.global.b32 [%0], 1;" ::"l"(flag) : "memory");
    else if (t == 0) asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(flag) : "memory");
    return;
  }
  if (t == 0) {
    prepare(s);
    for (int seen = 0; what != Blocks::no_flag && seen == 0;)
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    if (what == Blocks::acquired_by_block) ACQUIRE("cta", map);
    else ACQUIRE("gpu", map);
    expect(s);
    LOAD(s, map);  // [use by another block]
  }
  __syncwarp();
  wait(s, 0);
  for (unsigned e = t; e < elements; e += 32) out[e] = s.tile[e];
}

int* ints(std::size_t count) {
  int* p = nullptr;
  cudaMalloc(&p, count * sizeof(int));
  cudaMemset(p, 0, count * sizeof(int));
  return p;
}

Map* encoded() {
  CUtensorMap here;
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * sizeof(int)};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  cuTensorMapEncodeTiled(&here, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, ints(elements), dims, strides,
                         box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Map* const there = reinterpret_cast<Map*>(ints(32));
  cudaMemcpy(there, &here, sizeof here, cudaMemcpyHostToDevice);
  return there;
}

template <Warps what>
void run() {
  of_warps<what><<<1, 64>>>(encoded(), ints(2 * elements), ints(2 * elements));
}
template <Blocks what>
void run() {
  of_blocks<what><<<2, 32>>>(encoded(), ints(elements), ints(1), ints(elements));
}

template <bool meets>
void run_lane() {
  of_a_lane<meets><<<1, 32>>>(encoded(), ints(elements));
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"warps_twin", run<Warps::right>},
                   {"no_barrier", run<Warps::no_barrier>},
                   {"acquired_before_the_barrier", run<Warps::acquired_before_the_barrier>},
                   {"lane_twin", run_lane<true>},
                   {"lane_not_met", run_lane<false>},
                   {"blocks_twin", run<Blocks::right>},
                   {"relaxed_flag", run<Blocks::relaxed_flag>},
                   {"no_flag", run<Blocks::no_flag>},
                   {"released_to_block", run<Blocks::released_to_block>},
                   {"acquired_by_block", run<Blocks::acquired_by_block>}});
}
