// arch: sm_90a
// tensormap.replace on maps in global and in shared memory, field by field, and the tensor copy's
// result: the pattern of grouped kernels, which make their group's map from a template.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int columns = 32, rows = 16, box_columns = 8, box_rows = 8;
constexpr int most = 1024;  // words of shared memory that a tile may take

struct Tile {
  std::uint32_t words[most];
};

__device__ std::uint32_t shared(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Loads a tile of `bytes` at (x, y) through a map in global memory.
[[maybe_unused]] __device__ void load(const CUtensorMap* map, int x, int y, unsigned bytes,
                                      Tile* out) {
  __shared__ alignas(1024) Tile tile;
  __shared__ alignas(8) std::uint64_t bar;
  for (unsigned i = threadIdx.x; i < most; i += blockDim.x) tile.words[i] = 0xdddddddd;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared(&bar)),
                 "r"(bytes));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared(&tile)),
        "l"(map), "r"(x), "r"(y), "r"(shared(&bar))
        : "memory");
  }
  asm volatile(
      "{\n .reg .pred p;\nwait: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p bra "
      "wait;\n}" ::"r"(shared(&bar))
      : "memory");
  __syncthreads();
  for (unsigned i = threadIdx.x; i < most; i += blockDim.x) out->words[i] = tile.words[i];
}

enum Field {
  nothing,
  address,
  smaller,
  longer_stride,
  wider_box,
  element_stride,
  swizzled,
  as_integers,
  filled,
  several
};

// REPLACE(field, type, operands...): in the space of `place`, at %0.
#define REPLACE(space, at, field, type, constraint, ...)                \
  asm volatile("tensormap.replace.tile." field "." space ".b1024." type \
               " [%0], " __VA_ARGS__ ::constraint(at)                   \
               : "memory")
#define REPLACE_VALUE(space, at, field, type, constraint, ordinal, value)                 \
  asm volatile("tensormap.replace.tile." field "." space ".b1024." type " [%0], " ordinal \
               "%1;" ::constraint(at),                                                    \
               value                                                                      \
               : "memory")

#define CHANGE(space, at, constraint)                                                 \
  if (field == address || field == several)                                           \
    REPLACE_VALUE(space, at, "global_address", "b64", constraint, "", "l"(other));    \
  if (field == smaller || field == several) {                                         \
    REPLACE_VALUE(space, at, "global_dim", "b32", constraint, "0, ", "r"(6));         \
    REPLACE_VALUE(space, at, "global_dim", "b32", constraint, "1, ", "r"(3));         \
  }                                                                                   \
  if (field == longer_stride)                                                         \
    REPLACE_VALUE(space, at, "global_stride", "b64", constraint, "0, ",               \
                  "l"(std::uint64_t{2} * columns * 4));                               \
  if (field == wider_box) {                                                           \
    REPLACE_VALUE(space, at, "box_dim", "b32", constraint, "0, ", "r"(16));           \
    REPLACE_VALUE(space, at, "box_dim", "b32", constraint, "1, ", "r"(4));            \
  }                                                                                   \
  if (field == element_stride)                                                        \
    REPLACE_VALUE(space, at, "element_stride", "b32", constraint, "1, ", "r"(2));     \
  if (field == swizzled) REPLACE(space, at, "swizzle_mode", "b32", constraint, "1;"); \
  if (field == as_integers) REPLACE(space, at, "elemtype", "b32", constraint, "2;");  \
  if (field == filled) {                                                              \
    REPLACE(space, at, "fill_mode", "b32", constraint, "1;");                         \
    REPLACE_VALUE(space, at, "global_dim", "b32", constraint, "0, ", "r"(6));         \
  }

__global__ void in_global(CUtensorMap* map, int field, const float* other, unsigned bytes,
                          Tile* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (threadIdx.x == 0) {
    CHANGE("global", map, "l")
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  }
  __syncthreads();
  load(map, 0, 0, bytes, out);
#endif
}

__global__ void in_shared(const __grid_constant__ CUtensorMap from, CUtensorMap* map, int field,
                          const float* other, unsigned bytes, Tile* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ alignas(128) CUtensorMap copy;
  if (threadIdx.x < 32) {
    reinterpret_cast<std::uint32_t*>(&copy)[threadIdx.x] =
        reinterpret_cast<const std::uint32_t*>(&from)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      const std::uint32_t at = shared(&copy);
      CHANGE("shared::cta", at, "r")
    }
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
        " [%0], [%1], 128;" ::"l"(map),
        "r"(shared(&copy))
        : "memory");
  }
  __syncthreads();
  load(map, 0, 0, bytes, out);
#endif
}

CUtensorMap encode(float* data) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult query;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                   &query);
  const auto call = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  CUtensorMap map;
  cuuint64_t dims[] = {columns, rows}, strides[] = {columns * 4};
  cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  const CUresult result = call(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, dims, strides, box,
                               steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("encode: %d\n", result);
  return map;
}

void show(const char* name, const char* place, const Tile& t, unsigned bytes) {
  std::printf("%s, %s: %s\n", name, place, cudaGetErrorString(cudaDeviceSynchronize()));
  for (unsigned i = 0; i < bytes / 4; ++i) {
    if (t.words[i] < 0x7f800000) {
      float value;
      memcpy(&value, &t.words[i], 4);
      std::printf(" %g", value);
    } else {
      std::printf(" %08x", t.words[i]);
    }
    if (i % 8 == 7) std::printf("\n");
  }
  unsigned beyond = 0;
  for (unsigned i = bytes / 4; i < most; ++i) beyond += t.words[i] != 0xdddddddd;
  std::printf(" words written beyond: %u\n", beyond);
}

}  // namespace

int main() {
  std::vector<float> values(2 * columns * rows);
  for (int i = 0; i < 2 * columns * rows; ++i)
    values[i] = float(i / columns * 100 + i % columns);  // row, column
  float* data;
  cudaMalloc(&data, values.size() * 4);
  cudaMemcpy(data, values.data(), values.size() * 4, cudaMemcpyHostToDevice);
  float* const other = data + columns * rows;
  CUtensorMap* map;
  Tile* tile;
  cudaMalloc(&map, sizeof *map);
  cudaMallocManaged(&tile, sizeof *tile);
  const CUtensorMap plain = encode(data);
  constexpr unsigned whole = box_columns * box_rows * 4;
  struct {
    const char* name;
    Field field;
    unsigned bytes;
  } cases[] = {{"as encoded", nothing, whole},
               {"another address", address, whole},
               {"6 columns, 3 rows", smaller, whole},
               {"twice the stride", longer_stride, whole},
               {"a box of 16 columns, 4 rows", wider_box, whole},
               {"every second row", element_stride, whole / 2},
               {"swizzled by 32 bytes", swizzled, whole},
               {"as integers", as_integers, whole},
               {"6 columns, NaN beyond", filled, whole},
               {"several at once", several, whole}};
  for (const auto& c : cases) {
    cudaMemcpy(map, &plain, sizeof plain, cudaMemcpyHostToDevice);
    in_global<<<1, 64>>>(map, c.field, other, c.bytes, tile);
    cudaDeviceSynchronize();
    show(c.name, "in global memory", *tile, c.bytes);
    cudaMemset(map, 0, sizeof plain);
    in_shared<<<1, 64>>>(plain, map, c.field, other, c.bytes, tile);
    cudaDeviceSynchronize();
    show(c.name, "through shared memory", *tile, c.bytes);
  }
}
