// software-only
// options: --devices 2
// flags: -lcuda
// stderr: is an address of a multicast object, which only multimem instructions, stores and bulk
// Stores, asynchronous stores, copies and fills at a multicast object's addresses reach every
// device, as NCCL's flags, TMA copy kernels and PyTorch's copy collectives expect. PTX does not
// define what loads from there return.
#include "tests/kernels/multicast_test.cuh"

// Each at its own KiB, with 16 bytes per lane.
__global__ void store(char* all) {
  const unsigned i = threadIdx.x;
  char* to = all + 16 * i;
  asm volatile("st.weak.global.u8 [%0], %1;" ::"l"(to), "r"(i + 1) : "memory");
  asm volatile("st.u16 [%0+1024], %1;" ::"l"(to), "h"((short)(i + 2)) : "memory");
  asm volatile("st.relaxed.sys.global.u32 [%0+2048], %1;" ::"l"(to), "r"(i + 3) : "memory");
  asm volatile("st.release.sys.u64 [%0+3072], %1;" ::"l"(to), "l"(i + 4ull) : "memory");
  asm volatile("st.volatile.global.v4.u32 [%0+4096], {%1, %2, %3, %4};" ::"l"(to), "r"(i + 5),
               "r"(i + 6), "r"(i + 7), "r"(i + 8)
               : "memory");
  asm volatile("st.v2.u64 [%0+5120], {%1, %2};" ::"l"(to), "l"(i + 9ull), "l"(i + 10ull)
               : "memory");
  if (i % 3 == 0) asm volatile("st.u32 [%0+6144], %1;" ::"l"(to), "r"(i + 11) : "memory");
  asm volatile("st.u32 [%0+7168], 12;" ::"l"(all) : "memory");
}

unsigned long long wanted(int at, unsigned i, int word) {
  const unsigned long long first[] = {i + 1, i + 2, i + 3, i + 4, i + 5, i + 9};
  if (at == 4) return word < 4 ? i + 5 + word : 0;
  if (at == 5) return word % 2 ? 0 : i + 9 + word / 2;
  if (at == 6) return word == 0 && i % 3 == 0 ? i + 11 : 0;
  if (at == 7) return word == 0 && i == 0 ? 12 : 0;
  return word == 0 ? first[at] : 0;
}

// Lanes of one instruction that store both to the object and elsewhere.
__global__ void both(int* all, int* own) {
  int* to = threadIdx.x % 2 ? all : own;
  to[threadIdx.x] = threadIdx.x + 1;
}

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

#define WAIT                                                \
  asm volatile("cp.async.bulk.commit_group;" ::: "memory"); \
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

__global__ void bulk(unsigned* all) {
  __shared__ alignas(128) unsigned from[64];
  for (unsigned i = 0; i < 64; ++i) from[i] = 100 + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(all),
               "r"(shared_address(from))
               : "memory");
  WAIT;
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;" ::"l"(all),
      "r"(shared_address(from))
      : "memory");
  WAIT;
}

__global__ void tensor(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) unsigned from[8][8];
  for (unsigned i = 0; i < 64; ++i) from[i / 8][i % 8] = 1000 + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int y : {0, 8})
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &map),
        "r"(12), "r"(y), "r"(shared_address(from))
        : "memory");
  WAIT;
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], "
      "[%3];" ::"l"(&map),
      "r"(0), "r"(0), "r"(shared_address(from))
      : "memory");
  WAIT;
}

CUtensorMap map_of(void* at) {  // 16 rows of 16 words
  alignas(64) CUtensorMap map;
  const cuuint64_t extents[] = {16, 16}, strides[] = {64};
  const cuuint32_t box[] = {8, 8}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, at, extents, strides, box,
                             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    std::printf("encoding fails\n");
  return map;
}

// Results of the two stores and the reduction of `tensor`: x from 12 on is cut at 16.
unsigned of_tensor(unsigned x, unsigned y) {
  unsigned value = x >= 12 ? 1000 + y % 8 * 8 + (x - 12) : 0;
  if (x < 8 && y < 8) value += 1000 + y * 8 + x;
  return value;
}

__global__ void load(int* all, int* out) { *out = *all; }

int main() {
  CHECK(cudaFree(nullptr));
  Pair pair;
  int* own;
  CHECK(cudaMalloc(&own, 4096));
  CHECK(cudaMemset(own, 0, 4096));
  store<<<1, 32>>>(pair.all);
  both<<<1, 32>>>((int*)(pair.all + 16384), own);
  bulk<<<1, 1>>>((unsigned*)(pair.all + 32768));
  tensor<<<1, 1>>>(map_of(pair.all + 65536));
  std::vector<unsigned> words(64 * 64);
  for (unsigned i = 0; i < words.size(); ++i) words[i] = i + 1;
  CHECK(cudaMemcpy(pair.all + 131072, words.data(), 16384, cudaMemcpyDefault));
  CHECK(
      cudaMemcpy2DAsync(pair.all + 147456, 256, words.data(), 512, 128, 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemsetAsync(pair.all + 163840, 0x5a, 256));
  SAY(cudaMemcpy(words.data(), pair.all, 4, cudaMemcpyDefault));
  SAY(cudaMemcpy(pair.all + page - 4, words.data(), 8, cudaMemcpyDefault));
  CHECK(cudaDeviceSynchronize());
  for (Memory& each : pair.memory) {
    int wrong[5] = {};
    std::vector<unsigned> there(page / 4);
    CHECK(cudaMemcpy(there.data(), each.at, page, cudaMemcpyDefault));
    for (int at = 0; at < 8; ++at)
      for (unsigned i = 0; i < 32; ++i)
        for (int word = 0; word < 4; ++word)
          wrong[0] += there[256 * at + 4 * i + word] != wanted(at, i, word);
    for (unsigned i = 0; i < 32; ++i) wrong[1] += there[4096 + i] != (i % 2 ? i + 1 : 0);
    for (unsigned i = 0; i < 64; ++i) wrong[2] += there[8192 + i] != (i < 32 ? 2 : 1) * (100 + i);
    for (unsigned i = 0; i < 256; ++i) wrong[3] += there[16384 + i] != of_tensor(i % 16, i / 16);
    for (unsigned i = 0; i < 4096; ++i) wrong[4] += there[32768 + i] != i + 1;
    for (unsigned i = 0; i < 512; ++i)
      wrong[4] += there[36864 + i] != (i % 64 < 32 ? i / 64 * 128 + i % 64 + 1 : 0);
    for (unsigned i = 0; i < 65; ++i) wrong[4] += there[40960 + i] != (i < 64 ? 0x5a5a5a5a : 0);
    std::printf("wrong: %d stores, %d of some lanes, %d bulk, %d tensor, %d copies\n", wrong[0],
                wrong[1], wrong[2], wrong[3], wrong[4]);
  }
  int some[32], wrong = 0;
  CHECK(cudaMemcpy(some, own, sizeof some, cudaMemcpyDefault));
  for (int i = 0; i < 32; ++i) wrong += some[i] != (i % 2 ? 0 : i + 1);
  std::printf("wrong: %d of the other lanes\n", wrong);
  load<<<1, 1>>>((int*)pair.all, own);
  std::printf("load: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
