// Typical loops over swizzled tiles, without asynchronous copies: a matrix product's main loop, a
// transposition, rows of half in pieces of 16 bytes, every swizzle. The hand-written code places an
// element at row * pitch + (column bytes ^ chunk of the row), which compilers fold best in an
// unrolled loop.
#include <cuda_fp16.h>

#include <inflight/swizzle.cuh>

namespace {

using inflight::swizzle;

// The hand-written twin's tile: the same memory, with an explicit address.
template <class T, int Rows, unsigned Pitch>
struct by_hand {
  __device__ T& operator()(int row, int column) {
    constexpr unsigned lines = 128 / Pitch, chunks = Pitch / 16;
    const unsigned swizzled =
        unsigned(column) * unsigned(sizeof(T)) ^ (unsigned(row) / lines % chunks) * 16;
    return *reinterpret_cast<T*>(bytes + unsigned(row) * Pitch + swizzled);
  }
  alignas(8 * Pitch) unsigned char bytes[Rows * Pitch];
};

constexpr int depth = 32, side = 128, threads = 256;

// c = a b: 128 x 128 by 256 threads, each 8 x 8. Tiles are 32 deep; that of b is in four parts.
template <class TileA, class TileB>
__device__ void product(float* c, const float* a, const float* b, int k) {
  __shared__ TileA rows;
  __shared__ TileB columns[side / 32];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sums[8][8] = {};
  for (int first = 0; first < k; first += depth) {
    __syncthreads();
    for (int i = threadIdx.x; i < side * depth; i += threads) {
      rows(i / depth, i % depth) = a[i / depth * k + first + i % depth];
      columns[i % side / 32](i / side, i % 32) = b[(first + i / side) * side + i % side];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      float left[8], right[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) left[i] = rows(y * 8 + i, d);
#pragma unroll
      for (int j = 0; j < 8; ++j) right[j] = columns[j / 2](d, x + 16 * (j % 2));
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += left[i] * right[j];
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) c[(y * 8 + i) * side + x + 16 * j] = sums[i][j];
}

// out = in transposed, 32 x 32 at a time by 256 threads.
template <class Tile>
__device__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ Tile tile;
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
#pragma unroll
  for (int i = 0; i < 32; i += 8) tile(y + i, x) = in[(top + y + i) * width + left + x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 32; i += 8) out[(left + y + i) * height + top + x] = tile(x, y + i);
}

// Each thread sums a row of 64 halves, eight in each load.
template <class Tile>
__device__ void row_sums(float* out, const uint4* in) {
  __shared__ Tile tile;
  for (int i = threadIdx.x; i < 64 * 8; i += 64)
    *reinterpret_cast<uint4*>(&tile(i / 8, i % 8 * 8)) = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int piece = 0; piece < 8; ++piece) {
    const uint4 eight = *reinterpret_cast<uint4*>(&tile(threadIdx.x, piece * 8));
    const __half2* pairs = reinterpret_cast<const __half2*>(&eight);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += __low2float(pairs[i]) + __high2float(pairs[i]);
  }
  out[threadIdx.x] = sum;
}

// Each thread sums a column, to a count given at run time, so nothing is a constant.
template <class Tile, int Columns>
__device__ void column_sums(float* out, const float* in, int count) {
  __shared__ Tile tile;
  for (int i = threadIdx.x; i < 64 * Columns; i += 64) tile(i / Columns, i % Columns) = in[i];
  __syncthreads();
  float sum = 0;
  for (int row = 0; row < count; ++row) sum += tile(row, threadIdx.x % Columns);
  out[threadIdx.x] = sum;
}

template <class T, int Rows, int Columns, swizzle Mode>
using tile = inflight::swizzled_tile<T, Rows, Columns, Mode>;

}  // namespace

#define BOTH(NAME, LIBRARY, HAND, PARAMETERS)                       \
  extern "C" __global__ void library_##NAME PARAMETERS { LIBRARY; } \
  extern "C" __global__ void hand_##NAME PARAMETERS { HAND; }

#define PRODUCT (float* c, const float* a, const float* b, int k)
extern "C" __global__ void __launch_bounds__(threads) library_product PRODUCT {
  product<tile<float, side, depth, swizzle::b128>, tile<float, depth, 32, swizzle::b128>>(c, a, b,
                                                                                          k);
}
extern "C" __global__ void __launch_bounds__(threads) hand_product PRODUCT {
  product<by_hand<float, side, 128>, by_hand<float, depth, 128>>(c, a, b, k);
}

#define TRANSPOSE (float* out, const float* in, int width, int height)
BOTH(transpose, (transpose<tile<float, 32, 32, swizzle::b128>>(out, in, width, height)),
     (transpose<by_hand<float, 32, 128>>(out, in, width, height)), TRANSPOSE)

#define ROWS (float* out, const uint4* in)
BOTH(row_sums, (row_sums<tile<__half, 64, 64, swizzle::b128>>(out, in)),
     (row_sums<by_hand<__half, 64, 128>>(out, in)), ROWS)

#define COLUMNS (float* out, const float* in, int count)
BOTH(columns_b128, (column_sums<tile<float, 64, 32, swizzle::b128>, 32>(out, in, count)),
     (column_sums<by_hand<float, 64, 128>, 32>(out, in, count)), COLUMNS)
BOTH(columns_b64, (column_sums<tile<float, 64, 16, swizzle::b64>, 16>(out, in, count)),
     (column_sums<by_hand<float, 64, 64>, 16>(out, in, count)), COLUMNS)
BOTH(columns_b32, (column_sums<tile<float, 64, 8, swizzle::b32>, 8>(out, in, count)),
     (column_sums<by_hand<float, 64, 32>, 8>(out, in, count)), COLUMNS)
BOTH(columns_narrow, (column_sums<tile<float, 64, 12, swizzle::b128>, 12>(out, in, count)),
     (column_sums<by_hand<float, 64, 128>, 12>(out, in, count)), COLUMNS)
