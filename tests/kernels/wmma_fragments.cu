// nvcuda::wmma: every shape, type and layout, with strides, in shared and in global memory. x[i] of
// equal fragments is the same element, as programs that scale or add them assume.
#include <mma.h>

#include "kernel_test.cuh"

namespace {

using namespace nvcuda;

template <class T>
struct Type {
  using storage = T;
};
template <>
struct Type<wmma::precision::tf32> {
  using storage = float;
};

// Small whole numbers, which every type represents.
template <class T>
__host__ __device__ T number(int i) {
  return static_cast<T>(static_cast<float>(i * 7 % 5 - (static_cast<T>(-1.0F) < T(0.0F) ? 2 : 0)));
}

template <int M, int N, int K, class T, class Acc, class LA, class LB>
__global__ void product(const typename Type<T>::storage* a, const typename Type<T>::storage* b,
                        const Acc* c, Acc* d, int lda, int ldb) {
  __shared__ alignas(128) Acc tile[N * (M + 8)];
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Acc> fc, fd, twice;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
  wmma::fill_fragment(twice, Acc(2));
  wmma::mma_sync(fd, fa, fb, fc);
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] * twice.x[i] + fc.x[i];
  // Through shared memory, in column order with a stride.
  wmma::store_matrix_sync(tile, fd, M + 8, wmma::mem_col_major);
  __syncwarp();
  wmma::load_matrix_sync(fd, tile, M + 8, wmma::mem_col_major);
  wmma::store_matrix_sync(d, fd, N, wmma::mem_row_major);
}

constexpr int padding = 16;  // elements between lines

template <int M, int N, int K, class T, class Acc, class LA, class LB>
void run(const char* name) {
  using S = typename Type<T>::storage;
  constexpr bool a_rows = std::is_same_v<LA, wmma::row_major>,
                 b_rows = std::is_same_v<LB, wmma::row_major>;
  const int lda = (a_rows ? K : M) + padding, ldb = (b_rows ? N : K) + padding;
  const auto at_a = [&](int r, int k) { return a_rows ? r * lda + k : k * lda + r; };
  const auto at_b = [&](int k, int c) { return b_rows ? k * ldb + c : c * ldb + k; };
  std::vector<S> a((a_rows ? M : K) * lda), b((b_rows ? K : N) * ldb);
  std::vector<Acc> c(M * N);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = number<S>(static_cast<int>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = number<S>(static_cast<int>(3 * i + 1));
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = number<Acc>(static_cast<int>(i % 11));
  Buffer<S> da(a), db(b);
  Buffer<Acc> dc(c), dd(M * N);
  product<M, N, K, T, Acc, LA, LB><<<1, 32>>>(da, db, dc, dd, lda, ldb);
  dd.read();
  int wrong = 0;
  for (int r = 0; r < M; ++r)
    for (int n = 0; n < N; ++n) {
      double sum = static_cast<double>(static_cast<float>(c[r * N + n]));
      const double start = sum;
      for (int k = 0; k < K; ++k)
        sum += static_cast<double>(static_cast<float>(a[at_a(r, k)])) *
               static_cast<double>(static_cast<float>(b[at_b(k, n)]));
      wrong += static_cast<double>(static_cast<float>(dd.host[r * N + n])) != 2 * sum + start;
    }
  std::printf("%s m%dn%dk%d %s %s: %d of %d wrong\n", name, M, N, K, a_rows ? "row" : "col",
              b_rows ? "row" : "col", wrong, M * N);
}

template <int M, int N, int K, class T, class Acc>
void layouts(const char* name) {
  using Row = wmma::row_major;
  using Col = wmma::col_major;
  run<M, N, K, T, Acc, Row, Row>(name);
  run<M, N, K, T, Acc, Row, Col>(name);
  run<M, N, K, T, Acc, Col, Row>(name);
  run<M, N, K, T, Acc, Col, Col>(name);
}

template <class T, class Acc>
void shapes(const char* name) {
  layouts<16, 16, 16, T, Acc>(name);
  layouts<32, 8, 16, T, Acc>(name);
  layouts<8, 32, 16, T, Acc>(name);
}

// The positions of the accumulator's elements, which programs that work on its rows assume.
__global__ void accumulator(int* out) {
  __shared__ alignas(32) float tile[256];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = static_cast<float>(i);
  __syncwarp();
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
  wmma::load_matrix_sync(f, tile, 16, wmma::mem_row_major);
  for (int i = 0; i < f.num_elements; ++i)
    out[threadIdx.x * 8 + i] = static_cast<int>(f.x[i]);
}

}  // namespace

int main() {
  shapes<__half, float>("half to float");
  shapes<__half, __half>("half");
  shapes<__nv_bfloat16, float>("bfloat16");
  shapes<signed char, int>("signed char");
  shapes<unsigned char, int>("unsigned char");
  layouts<16, 16, 8, wmma::precision::tf32, float>("tf32");
  layouts<8, 8, 4, double, double>("double");
  Buffer<int> places(256);
  accumulator<<<1, 32>>>(places);
  places.read();
  for (const int lane : {0, 1, 5, 31}) {
    std::printf("lane %d:", lane);
    for (int i = 0; i < 8; ++i) std::printf(" %d", places.host[lane * 8 + i]);
    std::printf("\n");
  }
}
