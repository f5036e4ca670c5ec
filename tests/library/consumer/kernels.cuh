// The declarations that the project's files share: one file launches kernels that another compiles.
#pragma once
#include <inflight/launch.cuh>
#include <inflight/tensor_map.cuh>

using tile = inflight::swizzled_tile<float, 8, 32, inflight::swizzle::b128>;

// out[i] = the sum of in[32 * i] to in[32 * i + 31].
__global__ void row_sums(float* out, const float* in);
// out[c] = the map's tensor at row 1, column c.
__global__ void second_row(float* out, const __grid_constant__ inflight::tile_map<tile> map);

// In host.cpp: launches both kernels, and returns whether their results are right.
bool launched_from_cpp();
