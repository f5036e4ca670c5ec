// A host-only C++ file: it makes a tensor map and launches kernels that nvcc compiles in another
// file.
#include <cuda_runtime.h>

#include <cstdio>
#include <inflight/inflight.cuh>

#include "kernels.cuh"

static_assert(__cplusplus >= 201703L, "the target asks for C++17");

// A map of 8 x 32 floats in device memory, or an error.
static inflight::tensor_map_result<inflight::tile_map<tile>> map_of(float* in) {
  return inflight::make_tensor_map<tile>(in, {32, 8});
}

#if defined(HOST_ALONE)
int main() {
  float* in;
  if (cudaMalloc(&in, 8 * 32 * sizeof(float)) != cudaSuccess) return 1;
  std::puts(map_of(in) ? "a map" : map_of(in).error().message().c_str());
  std::puts(map_of(in + 1) ? "a map" : map_of(in + 1).error().rule.c_str());
  std::printf("%d columns of row 1 are swizzled by %u bytes\n", tile::columns,
              unsigned(tile::offset(1, 0) - tile::pitch));
}
#else
bool launched_from_cpp() {
  float *in, *out;
  if (cudaMallocManaged(&in, 8 * 32 * sizeof(float)) != cudaSuccess) return false;
  if (cudaMallocManaged(&out, (8 + 32) * sizeof(float)) != cudaSuccess) return false;
  for (int i = 0; i < 8 * 32; ++i) in[i] = float(i);
  inflight::launch_shape shape;
  shape.grid = 8, shape.block = 32;
  bool right = inflight::launch_kernel(row_sums, shape, out, in) == cudaSuccess;
  shape.grid = 1;
  right = right &&
          inflight::launch_kernel(second_row, shape, out + 8, map_of(in).value()) == cudaSuccess;
  right = right && cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < 8; ++i) right = right && out[i] == 32 * 32 * i + 31 * 16;
  for (int i = 0; i < 32; ++i) right = right && out[8 + i] == 32 + i;
  return right;
}
#endif
