// flags: -Xlinker -l:libcublas.so.13 -Xlinker -l:libcublasLt.so.13
// stderr: cuBLAS products are computed by .*: their rounding is that library.s, not a GPU.s
// Levels 1 and 2 of every type, compared with plain loops, in both pointer modes.
#include <cstdint>
#include "common.cuh"

namespace {

cublasHandle_t handle;

template <class T>
void level1() {
  const int n = 100, dx = 2, dy = -3;
  const auto x = samples<T>(n * 2), y = samples<T>(n * 3, 7);
  const auto yi = [&](int i) { return (i + 1 - n) * dy; };
  const T alpha = sample<T>(3);
  const On<T> dev_x(x), dev_y(y);
  auto wanted = y;
  for (int i = 0; i < n; ++i) wanted[yi(i)] += alpha * x[i * dx];
  GOOD(BY_TYPE(T, axpy)(handle, n, raw(&alpha), *dev_x, dx, *dev_y, dy));
  same(dev_y.host(), wanted, "axpy");

  T sum{}, got{};
  for (int i = 0; i < n; ++i) sum += conjugate(x[i * dx]) * wanted[yi(i)];
  if constexpr (std::is_same_v<T, float>) GOOD(cublasSdot(handle, n, *dev_x, dx, *dev_y, dy, &got));
  if constexpr (std::is_same_v<T, double>) GOOD(cublasDdot(handle, n, *dev_x, dx, *dev_y, dy, &got));
  if constexpr (std::is_same_v<T, C>) GOOD(cublasCdotc(handle, n, *dev_x, dx, *dev_y, dy, raw(&got)));
  if constexpr (std::is_same_v<T, Z>) GOOD(cublasZdotc(handle, n, *dev_x, dx, *dev_y, dy, raw(&got)));
  expect(near(got, sum), "dot");

  GOOD(BY_TYPE(T, scal)(handle, n, raw(&alpha), *dev_x, dx));
  GOOD(BY_TYPE(T, swap)(handle, n, *dev_x, dx, *dev_y, dy));
  auto left = x, right = wanted;
  for (int i = 0; i < n; ++i) left[i * dx] *= alpha;
  for (int i = 0; i < n; ++i) std::swap(left[i * dx], right[yi(i)]);
  same(dev_x.host(), left, "scal, swap");
  same(dev_y.host(), right, "swap");
  GOOD(BY_TYPE(T, copy)(handle, n, *dev_x, dx, *dev_y, dy));
  for (int i = 0; i < n; ++i) right[yi(i)] = left[i * dx];
  same(dev_y.host(), right, "copy");
}

// Sums and norms, with results on the device.
void reductions() {
  const int n = 1000;
  const auto x = samples<C>(n);
  const On<C> dev(x);
  const On<float> results{std::vector<float>(2)};
  const On<int> places{std::vector<int>(2)};
  double squares = 0, sum = 0;
  int most = 0, least = 0;
  const auto size = [&](int i) { return std::fabs(x[i].real()) + std::fabs(x[i].imag()); };
  for (int i = 0; i < n; ++i) {
    squares += std::norm(Z(x[i]));
    sum += size(i);
    if (size(i) > size(most)) most = i;
    if (size(i) < size(least)) least = i;
  }
  GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  GOOD(cublasScnrm2(handle, n, *dev, 1, *results));
  GOOD(cublasScasum(handle, n, *dev, 1, *results + 1));
  GOOD(cublasIcamax(handle, n, *dev, 1, *places));
  GOOD(cublasIcamin(handle, n, *dev, 1, *places + 1));
  GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  same(results.host(), {float(std::sqrt(squares)), float(sum)}, "nrm2, asum on the device");
  expect(places.host() == std::vector<int>{most + 1, least + 1}, "amax, amin");
  std::int64_t wide = 0;
  GOOD(cublasIcamax_64(handle, n, *dev, 1, &wide));
  expect(wide == most + 1, "amax_64");
}

template <class T>
void rotations() {
  const auto x = samples<T>(50), y = samples<T>(50, 5);
  const On<T> dev_x(x), dev_y(y);
  T a = T(3), b = T(4), s{};
  double c = 0;
  if constexpr (std::is_same_v<T, double>) {
    GOOD(cublasDrotg(handle, &a, &b, &c, &s));
    expect(near(a, T(5)) && near(c, 0.6) && near(s, T(0.8)), "rotg");
    GOOD(cublasDrot(handle, 50, *dev_x, 1, *dev_y, 1, &c, &s));
  } else {
    c = 0.6, s = T(0, 0.8);
    GOOD(cublasZrot(handle, 50, *dev_x, 1, *dev_y, 1, &c, raw(&s)));
  }
  auto left = x, right = y;
  for (int i = 0; i < 50; ++i) {
    left[i] = c * x[i] + s * y[i];
    right[i] = c * y[i] - conjugate(s) * x[i];
  }
  same(dev_x.host(), left, "rot, x");
  same(dev_y.host(), right, "rot, y");
}

template <class T>
void general_matrices() {
  const int m = 23, n = 17, lda = 29;
  const auto a = samples<T>(lda * n), x = samples<T>(2 * m, 3), y = samples<T>(2 * m, 11);
  const On<T> dev_a(a), dev_x(x);
  const T alpha = sample<T>(5), beta = sample<T>(6);
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    const On<T> dev_y(y);
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    auto wanted = y;
    for (int i = 0; i < rows; ++i) {
      T sum{};
      for (int j = 0; j < columns; ++j) sum += at(a, lda, op, i, j) * x[2 * j];
      wanted[i] = alpha * sum + beta * y[i];
    }
    GOOD(BY_TYPE(T, gemv)(handle, op, m, n, raw(&alpha), *dev_a, lda, *dev_x, 2, raw(&beta), *dev_y, 1));
    same(dev_y.host(), wanted, "gemv");
  }
  // The band form of a matrix: element (i, j) is in row above + i - j.
  const int below = 2, above = 3, band = below + above + 1;
  const auto stored = samples<T>(band * n);
  const On<T> dev_band(stored), dev_y(y);
  auto wanted = y;
  for (int i = 0; i < m; ++i) {
    T sum{};
    for (int j = std::max(0, i - below); j < std::min(n, i + above + 1); ++j)
      sum += stored[j * band + above + i - j] * x[j];
    wanted[i] = alpha * sum + beta * y[i];
  }
  GOOD(BY_TYPE(T, gbmv)(handle, CUBLAS_OP_N, m, n, below, above, raw(&alpha), *dev_band, band, *dev_x,
                        1, raw(&beta), *dev_y, 1));
  same(dev_y.host(), wanted, "gbmv");
}

template <class T>
void triangles() {
  const int n = 19;
  auto a = samples<T>(n * n);
  for (int i = 0; i < n; ++i) a[i * n + i] = T(4);
  const auto x = samples<T>(n, 2);
  const On<T> dev_a(a), dev_x(x);
  auto wanted = x;
  for (int i = 0; i < n; ++i) {
    wanted[i] = T{};
    for (int j = i; j < n; ++j) wanted[i] += a[j * n + i] * x[j];
  }
  GOOD(BY_TYPE(T, trmv)(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, *dev_a, n,
                        *dev_x, 1));
  same(dev_x.host(), wanted, "trmv");
  GOOD(BY_TYPE(T, trsv)(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, *dev_a, n,
                        *dev_x, 1));
  same(dev_x.host(), x, "trsv undoes trmv");
  const On<T> pack{std::vector<T>(n * (n + 1) / 2)};
  GOOD(BY_TYPE(T, trttp)(handle, CUBLAS_FILL_MODE_UPPER, n, *dev_a, n, *pack));
  GOOD(BY_TYPE(T, tpmv)(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, *pack, *dev_x, 1));
  same(dev_x.host(), wanted, "tpmv");
}

template <class T>
void updates() {
  const int n = 13;
  const auto x = samples<T>(n), y = samples<T>(n, 4), a = samples<T>(n * n, 9);
  const On<T> dev_x(x), dev_y(y), dev_a(a);
  const T alpha = sample<T>(2);
  auto wanted = a;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) wanted[j * n + i] += alpha * x[i] * y[j];
  if constexpr (std::is_same_v<T, double>)
    GOOD(cublasDger(handle, n, n, &alpha, *dev_x, 1, *dev_y, 1, *dev_a, n));
  else
    GOOD(cublasCgeru(handle, n, n, raw(&alpha), *dev_x, 1, *dev_y, 1, *dev_a, n));
  same(dev_a.host(), wanted, "ger");
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) wanted[j * n + i] += alpha * x[i] * x[j];
  GOOD(BY_TYPE(T, syr)(handle, CUBLAS_FILL_MODE_LOWER, n, raw(&alpha), *dev_x, 1, *dev_a, n));
  same(dev_a.host(), wanted, "syr");
  auto product = y;
  for (int i = 0; i < n; ++i) {
    T sum{};
    for (int j = 0; j < n; ++j) sum += wanted[i > j ? j * n + i : i * n + j] * x[j];
    product[i] = alpha * sum;
  }
  const T zero{};
  GOOD(BY_TYPE(T, symv)(handle, CUBLAS_FILL_MODE_LOWER, n, raw(&alpha), *dev_a, n, *dev_x, 1, raw(&zero),
                        *dev_y, 1));
  same(dev_y.host(), product, "symv");
}

// Elements of other types, with computation in f32.
void typed() {
  std::vector<__half> x, y;
  float sum = 0;
  for (int i = 0; i < 64; ++i) {
    x.push_back(__half(sample<float>(i)));
    y.push_back(__half(sample<float>(i + 3)));
    sum += float(x[i]) * float(y[i]);
  }
  const On<__half> dev_x(x), dev_y(y);
  __half result, norm;
  const float alpha = 2;
  GOOD(cublasDotEx(handle, 64, *dev_x, CUDA_R_16F, 1, *dev_y, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
  expect(float(result) == float(__half(sum)), "DotEx of f16");
  const On<__half> other{std::vector<__half>(64)};
  GOOD(cublasCopyEx(handle, 64, *dev_x, CUDA_R_16F, 1, *other, CUDA_R_16F, 1));
  GOOD(cublasSwapEx(handle, 64, *dev_x, CUDA_R_16F, 1, *dev_y, CUDA_R_16F, 1));
  GOOD(cublasSwapEx(handle, 64, *dev_x, CUDA_R_16F, 1, *dev_y, CUDA_R_16F, 1));
  const float c = 0, s = 1;  // swaps x and y, and negates y
  GOOD(cublasRotEx(handle, 64, *other, CUDA_R_16F, 1, *dev_y, CUDA_R_16F, 1, &c, &s, CUDA_R_32F, CUDA_R_32F));
  bool turned = true;
  for (int i = 0; i < 64; ++i)
    turned = turned && float(other.host()[i]) == float(y[i]) && float(dev_y.host()[i]) == -float(x[i]);
  expect(turned, "CopyEx, SwapEx, RotEx");
  cudaMemcpy(dev_y.data, y.data(), 64 * sizeof(__half), cudaMemcpyHostToDevice);
  GOOD(cublasAxpyEx(handle, 64, &alpha, CUDA_R_32F, *dev_x, CUDA_R_16F, 1, *dev_y, CUDA_R_16F, 1, CUDA_R_32F));
  GOOD(cublasNrm2Ex(handle, 64, *dev_y, CUDA_R_16F, 1, &norm, CUDA_R_16F, CUDA_R_32F));
  double squares = 0;
  bool good = true;
  const auto got = dev_y.host();
  for (int i = 0; i < 64; ++i) {
    const __half wanted(2 * float(x[i]) + float(y[i]));
    good = good && float(got[i]) == float(wanted);
    squares += double(float(wanted)) * double(float(wanted));
  }
  expect(good, "AxpyEx of f16");
  expect(float(norm) == float(__half(float(std::sqrt(squares)))), "Nrm2Ex of f16");
}

}  // namespace

int main() {
  GOOD(cublasCreate(&handle));
  level1<float>(), level1<double>(), level1<C>(), level1<Z>();
  reductions();
  rotations<double>(), rotations<Z>();
  general_matrices<float>(), general_matrices<double>(), general_matrices<C>(), general_matrices<Z>();
  triangles<float>(), triangles<Z>();
  updates<double>(), updates<C>();
  typed();
  GOOD(cublasDestroy(handle));
  return finish();
}
