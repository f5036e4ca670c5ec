// flags: -Xlinker -l:libcublas.so.13 -Xlinker -l:libcublasLt.so.13
// stderr: cuBLAS products are computed by .*: their rounding is that library.s, not a GPU.s
// Products, batches and triangular systems against plain loops.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common.cuh"

namespace {

cublasHandle_t handle;

template <class T>
std::vector<T> product(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, T alpha,
                       const std::vector<T>& a, int lda, const std::vector<T>& b, int ldb, T beta,
                       std::vector<T> c, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum{};
      for (int l = 0; l < k; ++l) sum += at(a, lda, ta, i, l) * at(b, ldb, tb, l, j);
      c[j * ldc + i] = alpha * sum + (beta == T{} ? T{} : beta * c[j * ldc + i]);
    }
  return c;
}

template <class T>
void gemms() {
  const int m = 31, n = 22, k = 27, ld = 40;
  const auto a = samples<T>(ld * ld), b = samples<T>(ld * ld, 4), c = samples<T>(ld * n, 8);
  const On<T> dev_a(a), dev_b(b);
  const T alpha = sample<T>(3), beta = sample<T>(4), zero{};
  for (const auto ta : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
    for (const auto tb : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      const On<T> dev_c(c);
      GOOD(BY_TYPE(T, gemm)(handle, ta, tb, m, n, k, raw(&alpha), *dev_a, ld, *dev_b, ld, raw(&beta),
                            *dev_c, ld));
      same(dev_c.host(), product(ta, tb, m, n, k, alpha, a, ld, b, ld, beta, c, ld), "gemm");
    }
  // A strided batch that shares A, and the same batch by lists of addresses.
  const On<T> strided(c), listed(c);
  GOOD(BY_TYPE(T, gemmStridedBatched)(handle, CUBLAS_OP_N, CUBLAS_OP_N, 5, 4, 3, raw(&alpha), *dev_a, ld,
                                      0LL, *dev_b, ld, 10LL, raw(&zero), *strided, 5, 20LL, 6));
  auto wanted = c;
  std::vector<T*> as, bs, cs;
  for (int i = 0; i < 6; ++i) {
    const std::vector<T> b_part(b.begin() + i * 10, b.end()), c_part(c.begin() + i * 20, c.end());
    const auto one = product(CUBLAS_OP_N, CUBLAS_OP_N, 5, 4, 3, alpha, a, ld, b_part, ld, zero, c_part, 5);
    std::copy(one.begin(), one.begin() + 20, wanted.begin() + i * 20);
    as.push_back(dev_a.data), bs.push_back(dev_b.data + i * 10), cs.push_back(listed.data + i * 20);
  }
  same(strided.host(), wanted, "gemmStridedBatched");
  const On<T*> dev_as(as), dev_bs(bs), dev_cs(cs);
  using R = std::remove_pointer_t<decltype(raw(&alpha))>;
  using Raw = std::remove_const_t<R>;
  GOOD(BY_TYPE(T, gemmBatched)(handle, CUBLAS_OP_N, CUBLAS_OP_N, 5, 4, 3, raw(&alpha),
                               (const Raw* const*)dev_as.data, ld, (const Raw* const*)dev_bs.data, ld,
                               raw(&zero), (Raw* const*)dev_cs.data, 5, 6));
  same(listed.host(), wanted, "gemmBatched");
}

template <class T>
void symmetric() {
  const int n = 14, k = 9;
  const auto a = samples<T>(n * k), b = samples<T>(n * k, 5), c = samples<T>(n * n, 6);
  const On<T> dev_a(a), dev_b(b), dev_c(c), square(c);
  const T alpha = sample<T>(3), beta = sample<T>(7);
  auto wanted = c;
  const auto full = product(CUBLAS_OP_N, CUBLAS_OP_T, n, n, k, alpha, a, n, a, n, beta, c, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) wanted[j * n + i] = full[j * n + i];
  GOOD(BY_TYPE(T, syrk)(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, k, raw(&alpha), *dev_a, n,
                        raw(&beta), *dev_c, n));
  same(dev_c.host(), wanted, "syrk");
  const auto other = product(CUBLAS_OP_N, CUBLAS_OP_T, n, n, k, alpha, a, n, b, n, beta, wanted, n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) wanted[j * n + i] = other[j * n + i];
  GOOD(BY_TYPE(T, syrkx)(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, raw(&alpha), *dev_a, n,
                         *dev_b, n, raw(&beta), *dev_c, n));
  same(dev_c.host(), wanted, "syrkx");
  // A symmetric matrix given by its lower triangle.
  auto mirrored = c;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) mirrored[j * n + i] = c[i * n + j];
  const On<T> result{std::vector<T>(n * k)};
  const T zero{};
  GOOD(BY_TYPE(T, symm)(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, k, raw(&alpha), *square, n,
                        *dev_a, n, raw(&zero), *result, n));
  same(result.host(), product(CUBLAS_OP_N, CUBLAS_OP_N, n, k, n, alpha, mirrored, n, a, n, zero, a, n),
       "symm");
}

// Updates with types as arguments, including the 3m forms (three products instead of four).
void typed_updates() {
  using T = C;
  const int n = 11, k = 6;
  const auto a = samples<T>(n * k), c = samples<T>(n * n, 6);
  const On<T> dev_a(a);
  const T alpha = sample<T>(3), beta = sample<T>(7);
  const float real = 0.75f, other = -0.5f;
  auto lower = [&](std::vector<T> all) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) all[j * n + i] = c[j * n + i];
    return all;
  };
  const auto symmetric =
      lower(product(CUBLAS_OP_N, CUBLAS_OP_T, n, n, k, alpha, a, n, a, n, beta, c, n));
  for (const auto call : {cublasCsyrkEx, cublasCsyrk3mEx}) {
    const On<T> dev_c(c);
    GOOD(call(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, raw(&alpha), *dev_a, CUDA_C_32F, n,
              raw(&beta), *dev_c, CUDA_C_32F, n));
    same(dev_c.host(), symmetric, "syrkEx");
  }
  // A Hermitian matrix's diagonal is made real, whatever it was.
  auto before = c;
  for (int i = 0; i < n; ++i) before[i * n + i] = T(before[i * n + i].real());
  const auto hermitian =
      lower(product(CUBLAS_OP_N, CUBLAS_OP_C, n, n, k, T(real), a, n, a, n, T(other), before, n));
  for (const auto call : {cublasCherkEx, cublasCherk3mEx}) {
    const On<T> dev_c(c);
    GOOD(call(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, &real, *dev_a, CUDA_C_32F, n,
              &other, *dev_c, CUDA_C_32F, n));
    same(dev_c.host(), hermitian, "herkEx");
  }
}

template <class T>
void triangular() {
  const int m = 12, n = 7;
  auto a = samples<T>(m * m);
  for (int i = 0; i < m; ++i) a[i * m + i] = T(5);
  auto lower = a;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < j; ++i) lower[j * m + i] = T{};
  const auto b = samples<T>(m * n, 3);
  const On<T> dev_a(a), dev_b(b), dev_c(b);
  const T alpha = sample<T>(3), inverse = T(1) / alpha, zero{};
  GOOD(BY_TYPE(T, trmm)(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C,
                        CUBLAS_DIAG_NON_UNIT, m, n, raw(&alpha), *dev_a, m, *dev_b, m, *dev_c, m));
  same(dev_c.host(), product(CUBLAS_OP_C, CUBLAS_OP_N, m, n, m, alpha, lower, m, b, m, zero, b, m), "trmm");
  GOOD(BY_TYPE(T, trsm)(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C,
                        CUBLAS_DIAG_NON_UNIT, m, n, raw(&inverse), *dev_a, m, *dev_c, m));
  same(dev_c.host(), b, "trsm undoes trmm");
}

template <class T>
void shapes() {
  const int m = 9, n = 6;
  const auto a = samples<T>(m * n), b = samples<T>(m * n, 2), x = samples<T>(m, 5);
  const On<T> dev_a(a), dev_b(b), dev_x(x), dev_c(a);
  const T alpha = sample<T>(3), beta = sample<T>(4);
  std::vector<T> wanted(m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      wanted[j * m + i] = alpha * at(a, n, CUBLAS_OP_C, i, j) + beta * b[j * m + i];
  GOOD(BY_TYPE(T, geam)(handle, CUBLAS_OP_C, CUBLAS_OP_N, m, n, raw(&alpha), *dev_a, n, raw(&beta), *dev_b,
                        m, *dev_c, m));
  same(dev_c.host(), wanted, "geam");
  // Without a factor on the host, its matrix does not count. cuSOLVER's gesvd transposes so.
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) wanted[j * m + i] = alpha * at(a, n, CUBLAS_OP_C, i, j);
  GOOD(BY_TYPE(T, geam)(handle, CUBLAS_OP_C, CUBLAS_OP_C, m, n, raw(&alpha), *dev_a, n, nullptr, nullptr, n,
                        *dev_c, m));
  same(dev_c.host(), wanted, "geam without beta");
  GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  IS(CUBLAS_STATUS_INVALID_VALUE, BY_TYPE(T, geam)(handle, CUBLAS_OP_C, CUBLAS_OP_C, m, n, *dev_x, *dev_a, n,
                                                   nullptr, nullptr, n, *dev_c, m));
  GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  for (int i = 0; i < m * n; ++i) wanted[i] = a[i] * x[i % m];
  GOOD(BY_TYPE(T, dgmm)(handle, CUBLAS_SIDE_LEFT, m, n, *dev_a, m, *dev_x, 1, *dev_c, m));
  same(dev_c.host(), wanted, "dgmm");
}

// f16 and bf16 with f32 sums, and 8-bit integers. These small numbers give exact results.
template <class In, class Out>
void typed(cudaDataType_t in, cudaDataType_t out, cublasComputeType_t compute, const char* what) {
  const int m = 20, n = 12, k = 16;
  std::vector<In> a(m * k), b(k * n);
  for (int i = 0; i < m * k; ++i) a[i] = In(float(i * 7 % 11 - 5));
  for (int i = 0; i < k * n; ++i) b[i] = In(float(i * 5 % 9 - 4));
  const On<In> dev_a(a), dev_b(b);
  const On<Out> dev_c{std::vector<Out>(m * n)};
  const float one_f = 1, zero_f = 0;
  const int one_i = 1, zero_i = 0;
  const bool integer = compute == CUBLAS_COMPUTE_32I;
  GOOD(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k,
                    integer ? (const void*)&one_i : &one_f, dev_a.data, in, m, dev_b.data, in, k,
                    integer ? (const void*)&zero_i : &zero_f, dev_c.data, out, m, compute,
                    CUBLAS_GEMM_DEFAULT));
  bool good = true;
  const auto c = dev_c.host();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += float(a[l * m + i]) * float(b[j * k + l]);
      good = good && float(c[j * m + i]) == float(Out(sum));
    }
  expect(good, what);
}

// Two groups: one product, then two of another shape.
void groups() {
  const auto a = samples<double>(200), b = samples<double>(200, 5);
  const On<double> dev_a(a), dev_b(b), dev_c(samples<double>(60, 3));
  const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  const int m[] = {4, 3}, n[] = {5, 2}, k[] = {6, 7}, lda[] = {4, 7}, ldb[] = {6, 2}, ldc[] = {4, 3},
            sizes[] = {1, 2};
  const double alpha[] = {2, 3}, beta[] = {0, 0};
  const On<double*> as({dev_a.data, dev_a.data + 30, dev_a.data + 60}),
      bs({dev_b.data, dev_b.data + 40, dev_b.data + 70}), cs({dev_c.data, dev_c.data + 20, dev_c.data + 26});
  const cublasOperation_t tb[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  GOOD(cublasDgemmGroupedBatched(handle, ops, tb, m, n, k, alpha, as.data, lda, bs.data, ldb, beta, cs.data,
                                 ldc, 2, sizes));
  const auto c = dev_c.host();
  const auto part = [](const std::vector<double>& v, int from, int to) {
    return std::vector<double>(v.begin() + from, v.begin() + to);
  };
  same(part(c, 0, 20), product<double>(ops[0], tb[0], 4, 5, 6, 2, a, 4, b, 6, 0, part(c, 0, 20), 4), "group 1");
  for (int i = 0; i < 2; ++i) {
    const int from = 20 + 6 * i;
    same(part(c, from, from + 6),
         product<double>(ops[1], tb[1], 3, 2, 7, 3, part(a, 30 + 30 * i, 200), 7, part(b, 40 + 30 * i, 200), 2, 0,
                         part(c, from, from + 6), 3),
         "group 2");
  }
}

void systems() {
  const int n = 8, batch = 3;
  std::vector<std::vector<double>> as, bs;
  std::vector<double*> a_list, b_list, c_list;
  std::vector<On<double>*> kept;
  const auto keep = [&](const std::vector<double>& v) {
    kept.push_back(new On<double>(v));
    return kept.back()->data;
  };
  for (int i = 0; i < batch; ++i) {
    as.push_back(samples<double>(n * n, 5 * i));
    for (int d = 0; d < n; ++d) as[i][d * n + (d + 1) % n] += 6;  // pivots move
    bs.push_back(samples<double>(n, 9 + i));
    a_list.push_back(keep(as[i])), b_list.push_back(keep(bs[i]));
    c_list.push_back(keep(as[i]));
  }
  const On<double*> dev_a(a_list), dev_b(b_list), dev_c(c_list);
  const On<int> pivots{std::vector<int>(n * batch)}, infos{std::vector<int>(batch, 9)};
  int info = 9;
  GOOD(cublasDgetrfBatched(handle, n, dev_a.data, n, *pivots, *infos, batch));
  expect(infos.host() == std::vector<int>(batch), "getrf's info");
  GOOD(cublasDgetrsBatched(handle, CUBLAS_OP_N, n, 1, dev_a.data, n, *pivots, dev_b.data, n, &info, batch));
  GOOD(cublasDgetriBatched(handle, n, dev_a.data, n, *pivots, dev_c.data, n, *infos, batch));
  for (int i = 0; i < batch; ++i) {
    const auto x = kept[3 * i + 1]->host(), inverse = kept[3 * i + 2]->host();
    same(product<double>(CUBLAS_OP_N, CUBLAS_OP_N, n, 1, n, 1, as[i], n, x, n, 0, x, n), bs[i], "getrs");
    auto identity = product<double>(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, as[i], n, inverse, n, 0, inverse, n);
    for (int d = 0; d < n; ++d) identity[d * n + d] -= 1;
    same(identity, std::vector<double>(n * n), "getri");
  }
  for (auto* each : kept) delete each;
}

}  // namespace

int main() {
  GOOD(cublasCreate(&handle));
  gemms<float>(), gemms<double>(), gemms<C>(), gemms<Z>();
  symmetric<float>(), symmetric<Z>();
  typed_updates();
  triangular<double>(), triangular<C>();
  shapes<float>(), shapes<Z>();
  typed<__half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, "GemmEx f16, sums in f32");
  typed<__half, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, "GemmEx f16 to f32");
  typed<__nv_bfloat16, __nv_bfloat16>(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, "GemmEx bf16");
  typed<signed char, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, "GemmEx of 8-bit integers");
  groups();
  systems();
  const __half one(1.0f), zero(0.0f);
  const On<__half> a({__half(3.0f), __half(4.0f)}), c({zero});
  GOOD(cublasHgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &one, *a, 2, *a, 2, &zero, *c, 1));
  expect(float(c.host()[0]) == 25, "Hgemm");
  IS(CUBLAS_STATUS_NOT_SUPPORTED,
     cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, *a, CUDA_R_32F, 1, *a, CUDA_R_16F, 1,
                  &zero, *c, CUDA_R_16F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  GOOD(cublasDestroy(handle));
  return finish();
}
