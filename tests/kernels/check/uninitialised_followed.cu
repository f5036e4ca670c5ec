// Unwritten bits that pass through a warp's registers: shuffles, votes, loops, matrices. They are
// reported where they decide something or leave the kernel, and only there.
#include <cuda_fp16.h>
#include <mma.h>

#include "tests/kernels/check/check_test.cuh"

constexpr unsigned n = 32, warp = 0xffffffff;

template <class T = int>
T* device(std::size_t count = n * n) {
  T* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  return p;
}

// Of 32 partial sums, `count` were written.
__device__ int partial(const int* in, unsigned count) {
  __shared__ int sums[n];
  if (threadIdx.x < count) sums[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  return sums[threadIdx.x];  // [partial]
}

__global__ void shuffled(const int* in, int* out, unsigned count) {
  int sum = partial(in, count);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(warp, sum, d);
  if (threadIdx.x == 0) *out = sum;  // [sum]
}

// Lanes 8 to 31 get unwritten values and then lose them.
__global__ void shuffled_in_parts(const int* in, int* out) {
  int sum = partial(in, 8);
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(warp, sum, d, 8);
  if (threadIdx.x == 0) *out = sum;
}

// Two halves of a warp execute one instruction, each with its own mask.
__global__ void reduced_by_halves(const int* in, int* out, unsigned count) {
  const unsigned half = threadIdx.x / 16;
  const int sum = __reduce_add_sync(0xffffu << half * 16, partial(in, count));
  if (threadIdx.x % 16 == 0) out[half] = sum;  // [sum of a half]
}

__global__ void shuffled_by_halves(const int* in, int* out, unsigned count) {
  const unsigned half = threadIdx.x / 16;
  int sum = partial(in, count);
  for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffu << half * 16, sum, d, 16);
  if (threadIdx.x == 0) *out = sum;  // [half]
}

__global__ void voted(const int* in, int* out, unsigned count) {
  const unsigned above = __ballot_sync(warp, partial(in, count) > 10);
  if (threadIdx.x == 0) *out = __popc(above);  // [votes]
}

// Lanes without a value vote a given value.
__global__ void voted_by_some(const int* in, int* out, unsigned count) {
  const int value = partial(in, count);
  const unsigned above = __ballot_sync(warp, threadIdx.x < count && value > 10);
  if (threadIdx.x == 0) *out = __popc(above);
}

__global__ void matched(const int* in, int* out, unsigned count) {
  const unsigned alike = __match_any_sync(warp, partial(in, count));
  if (alike == 1u << threadIdx.x) atomicAdd(out, 1);  // [matched]
}

__global__ void reduced(const int* in, int* out, unsigned count) {
  const int most = __reduce_max_sync(warp, partial(in, count));
  if (threadIdx.x == 0) *out = most;  // [most]
}

__global__ void chosen(const int* in, int* out, unsigned count) {
  const int first = __shfl_sync(warp, partial(in, count), 0);
  if (first == 7) out[threadIdx.x] = 1;  // [chosen]
}

// A value passes through a loop before it is used.
__global__ void carried(const int* in, int* out, unsigned count, int rounds) {
  int value = partial(in, count), best = 0;
  for (int i = 0; i < rounds; ++i) {
    best = max(best, value);
    value = value / 2 + i;
  }
  out[threadIdx.x] = best;  // [carried]
}

// Half of a word was written, and only that half is used.
__global__ void half_of_a_word(const short* in, int* out, bool upper) {
  __shared__ int words[n];
  reinterpret_cast<short*>(words)[2 * threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const int word = words[threadIdx.x];  // [word]
  const int asked = upper ? word >> 16 : word & 0xffff;
  if (asked > 5) out[threadIdx.x] = 1;  // [asked]
}

// Half of one lane's vector is undefined, and the other half is used.
__global__ void half_of_a_vector(const float* in, float* out, bool other) {
  __shared__ float4 points[n];
  reinterpret_cast<float*>(points)[4 * threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const float4 p = points[threadIdx.x];        // [vector]
  out[threadIdx.x] = (other ? p.y : p.x) * 2;  // [half]
}

// C = A B of 16 x 16 and 16 x 8, from tiles of which `rows` and `columns` of A were written.
__device__ void load_a(__half* tile, const __half* in, int rows, int columns) {
  for (int i = threadIdx.x; i < 256; i += 32)
    if (i / 16 < rows && i % 16 < columns) tile[i] = in[i];
}

__global__ void multiplied(const __half* in, float* out, int rows, int columns) {
  __shared__ alignas(16) __half a[256];
  load_a(a, in, rows, columns);
  __syncwarp();
  const unsigned lane = threadIdx.x;
  unsigned x[4];
  float d[4] = {};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(&a[lane % 16 * 16 + lane / 16 * 8]))  // [ldmatrix]
               : "memory");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %8}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(0x3c003c00));
  const int row = lane / 4, column = lane % 4 * 2;
  if (row < rows) out[row * 8 + column] = d[0];  // [product]
  if (row + 8 < rows) out[row * 8 + 64 + column] = d[2];
}

__global__ void multiplied_by_fragments(const __half* in, float* out, int rows, int columns) {
  using namespace nvcuda;
  __shared__ alignas(32) __half a[256];
  __shared__ alignas(32) float c[256];
  load_a(a, in, rows, columns);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::fill_fragment(fb, __float2half(1.f));
  wmma::load_matrix_sync(fa, a, 16);  // [load]
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < rows * 16; i += 32) out[i] = c[i];  // [fragments]
}

// Each thread multiplies a pair of halves of which one was written, puts the products into shared
// memory as one word, and uses one of them.
__global__ void half_of_a_product(const __half* in, __half* out, int which) {
  __shared__ __half pairs[2 * n];
  __shared__ __half2 products[n];
  pairs[2 * threadIdx.x] = in[threadIdx.x];
  const __half2 pair = reinterpret_cast<__half2*>(pairs)[threadIdx.x];  // [pair]
  products[threadIdx.x] = __hmul2(pair, pair);
  const auto* const product = reinterpret_cast<const __half*>(&products[threadIdx.x]);
  out[threadIdx.x] = __hadd(product[which], product[which]);  // [product of halves]
}

// The same for one of the four halves to which a product of matrices is added.
__global__ void half_of_an_accumulator(const __half* in, __half* out, unsigned other) {
  alignas(8) __half sums[4];
  const unsigned written = threadIdx.x % 4;
  sums[written] = in[threadIdx.x];
  auto* const d = reinterpret_cast<unsigned*>(sums);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %2, %2, %2}, {%2, %2}, "
      "{%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(0x3c003c00));
  out[threadIdx.x] = sums[written ^ other];  // [sum of halves]
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"shuffled", [] { shuffled<<<1, n>>>(device(), device(), 31); }},
       {"shuffled_twin", [] { shuffled<<<1, n>>>(device(), device(), 32); }},
       {"shuffled_in_parts", [] { shuffled_in_parts<<<1, n>>>(device(), device()); }},
       {"voted", [] { voted<<<1, n>>>(device(), device(), 31); }},
       {"voted_twin", [] { voted<<<1, n>>>(device(), device(), 32); }},
       {"voted_by_some", [] { voted_by_some<<<1, n>>>(device(), device(), 20); }},
       {"matched", [] { matched<<<1, n>>>(device(), device(), 31); }},
       {"matched_twin", [] { matched<<<1, n>>>(device(), device(), 32); }},
       {"reduced", [] { reduced<<<1, n>>>(device(), device(), 31); }},
       {"reduced_twin", [] { reduced<<<1, n>>>(device(), device(), 32); }},
       {"chosen", [] { chosen<<<1, n>>>(device(), device(), 0); }},
       {"chosen_twin", [] { chosen<<<1, n>>>(device(), device(), 1); }},
       {"carried", [] { carried<<<1, n>>>(device(), device(), 31, 9); }},
       {"carried_twin", [] { carried<<<1, n>>>(device(), device(), 32, 9); }},
       {"half_of_a_word", [] { half_of_a_word<<<1, n>>>(device<short>(), device(), true); }},
       {"half_of_a_word_twin", [] { half_of_a_word<<<1, n>>>(device<short>(), device(), false); }},
       {"half_of_a_vector",
        [] { half_of_a_vector<<<1, n>>>(device<float>(), device<float>(), true); }},
       {"half_of_a_vector_twin",
        [] { half_of_a_vector<<<1, n>>>(device<float>(), device<float>(), false); }},
       {"multiplied", [] { multiplied<<<1, n>>>(device<__half>(), device<float>(), 16, 12); }},
       {"multiplied_twin", [] { multiplied<<<1, n>>>(device<__half>(), device<float>(), 16, 16); }},
       {"rows_without_values",
        [] { multiplied<<<1, n>>>(device<__half>(), device<float>(), 11, 16); }},
       {"fragments",
        [] { multiplied_by_fragments<<<1, n>>>(device<__half>(), device<float>(), 16, 12); }},
       {"fragments_twin",
        [] { multiplied_by_fragments<<<1, n>>>(device<__half>(), device<float>(), 16, 16); }},
       {"rows_of_fragments_without_values",
        [] { multiplied_by_fragments<<<1, n>>>(device<__half>(), device<float>(), 11, 16); }},
       {"reduced_by_halves", [] { reduced_by_halves<<<1, n>>>(device(), device(), 20); }},
       {"reduced_by_halves_twin", [] { reduced_by_halves<<<1, n>>>(device(), device(), 32); }},
       {"shuffled_by_halves", [] { shuffled_by_halves<<<1, n>>>(device(), device(), 12); }},
       {"shuffled_by_halves_twin", [] { shuffled_by_halves<<<1, n>>>(device(), device(), 16); }},
       {"half_of_a_product",
        [] { half_of_a_product<<<1, n>>>(device<__half>(), device<__half>(), 1); }},
       {"half_of_a_product_twin",
        [] { half_of_a_product<<<1, n>>>(device<__half>(), device<__half>(), 0); }},
       {"half_of_an_accumulator",
        [] { half_of_an_accumulator<<<1, n>>>(device<__half>(), device<__half>(), 1); }},
       {"half_of_an_accumulator_twin",
        [] { half_of_an_accumulator<<<1, n>>>(device<__half>(), device<__half>(), 0); }}});
}
