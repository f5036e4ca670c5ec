// flags: -Xlinker -l:libcublas.so.13 -Xlinker -l:libcublasLt.so.13
// stderr: cuBLAS products are computed by .*: their rounding is that library.s, not a GPU.s
// stderr: cublasLtMatmul does not support gradients of 8-bit floats here
// cublasLtMatmul: layouts, batches, epilogues, 8-bit floats, and the one algorithm.
#include <cublasLt.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "common.cuh"

namespace {

cublasLtHandle_t light;

struct Matmul {
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t a, b, d;
  Matmul(cublasComputeType_t compute, cudaDataType_t type, int m, int n, int k, cublasOperation_t ta,
         cudaDataType_t out, cublasLtOrder_t order = CUBLASLT_ORDER_COL) {
    GOOD(cublasLtMatmulDescCreate(&how, compute, CUDA_R_32F));
    GOOD(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta));
    const bool columns = order == CUBLASLT_ORDER_COL, plain = ta == CUBLAS_OP_N;
    const int rows = plain ? m : k, across = plain ? k : m;
    GOOD(cublasLtMatrixLayoutCreate(&a, type, rows, across, columns ? rows : across));
    GOOD(cublasLtMatrixLayoutCreate(&b, type, k, n, columns ? k : n));
    GOOD(cublasLtMatrixLayoutCreate(&d, out, m, n, columns ? m : n));
    for (auto each : {a, b, d})
      GOOD(cublasLtMatrixLayoutSetAttribute(each, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t id, const T& value) {
    GOOD(cublasLtMatmulDescSetAttribute(how, id, &value, sizeof value));
  }
  cublasStatus_t run(const void* a_data, const void* b_data, void* d_data, float alpha = 1, float beta = 0) {
    cublasLtMatmulPreference_t preference;
    GOOD(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t workspace = 1 << 20;
    GOOD(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace, sizeof workspace));
    cublasLtMatmulHeuristicResult_t results[4];
    int count = 0;
    const auto found = cublasLtMatmulAlgoGetHeuristic(light, how, a, b, d, d, preference, 4, results, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    if (found != CUBLAS_STATUS_SUCCESS) return found;
    expect(count == 1 && results[0].state == CUBLAS_STATUS_SUCCESS, "there is one algorithm");
    return cublasLtMatmul(light, how, &alpha, a_data, a, b_data, b, &beta, d_data, d, d_data, d,
                          &results[0].algo, nullptr, 0, 0);
  }
  ~Matmul() {
    cublasLtMatmulDescDestroy(how);
    for (auto each : {a, b, d}) cublasLtMatrixLayoutDestroy(each);
  }
};

const int m = 24, n = 10, k = 16;

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, cublasOperation_t ta) {
  std::vector<float> d(m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l) d[j * m + i] += at(a, ta == CUBLAS_OP_N ? m : k, ta, i, l) * b[j * k + l];
  return d;
}

void orders() {
  const auto a = samples<float>(m * k), b = samples<float>(k * n, 3);
  const On<float> dev_a(a), dev_b(b), dev_d{std::vector<float>(m * n)};
  for (const auto ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    Matmul matmul(CUBLAS_COMPUTE_32F, CUDA_R_32F, m, n, k, ta, CUDA_R_32F);
    GOOD(matmul.run(*dev_a, *dev_b, *dev_d));
    same(dev_d.host(), product(a, b, ta), "matmul by columns");
  }
  // The same data in row order is the transposed product.
  Matmul rows(CUBLAS_COMPUTE_32F, CUDA_R_32F, m, n, k, CUBLAS_OP_N, CUDA_R_32F, CUBLASLT_ORDER_ROW);
  GOOD(rows.run(*dev_a, *dev_b, *dev_d));
  std::vector<float> wanted(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) wanted[i * n + j] += a[i * k + l] * b[l * n + j];
  same(dev_d.host(), wanted, "matmul by rows");
}

void epilogues() {
  const auto a = samples<float>(m * k), b = samples<float>(k * n, 3), bias = samples<float>(m, 5);
  const On<float> dev_a(a), dev_b(b), dev_d{std::vector<float>(m * n)}, dev_bias(bias), aux{std::vector<float>(m * n)};
  const auto plain = product(a, b, CUBLAS_OP_N);
  const auto gelu = [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  struct Case {
    cublasLtEpilogue_t epilogue;
    bool bias;
    std::function<double(double)> activate;
  };
  for (const Case& each : {Case{CUBLASLT_EPILOGUE_BIAS, true, [](double x) { return x; }},
                           Case{CUBLASLT_EPILOGUE_RELU, false, [](double x) { return std::fmax(x, 0); }},
                           Case{CUBLASLT_EPILOGUE_RELU_BIAS, true, [](double x) { return std::fmax(x, 0); }},
                           Case{CUBLASLT_EPILOGUE_GELU, false, gelu},
                           Case{CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true, gelu}}) {
    Matmul matmul(CUBLAS_COMPUTE_32F, CUDA_R_32F, m, n, k, CUBLAS_OP_N, CUDA_R_32F);
    matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, each.epilogue);
    matmul.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(*dev_bias));
    matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(*aux));
    matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(m));
    GOOD(matmul.run(*dev_a, *dev_b, *dev_d));
    std::vector<float> wanted(m * n), before(m * n);
    for (int i = 0; i < m * n; ++i) {
      before[i] = plain[i] + (each.bias ? bias[i % m] : 0);
      wanted[i] = float(each.activate(before[i]));
    }
    same(dev_d.host(), wanted, "an epilogue");
    if (each.epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) same(aux.host(), before, "what GELU was given");
  }
}

// The gradients of activations, from data kept in their forward passes, and those of biases.
void gradients() {
  const auto a = samples<float>(m * k), b = samples<float>(k * n, 3),
             kept = samples<float>(m * n, 7);
  const On<float> dev_a(a), dev_b(b), dev_d{std::vector<float>(m * n)}, dev_kept(kept);
  const int mask_rows = 128;
  std::vector<unsigned char> mask(mask_rows / 8 * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      if (kept[j * m + i] > 0) mask[(j * mask_rows + i) / 8] |= 1 << i % 8;
  const On<unsigned char> dev_mask(mask);
  const auto slope = [](double x) {
    const double root = std::sqrt(2 / M_PI), step = 1e-5;
    const auto gelu = [&](double y) {
      return 0.5 * y * (1 + std::tanh(root * (y + 0.044715 * y * y * y)));
    };
    return (gelu(x + step) - gelu(x - step)) / (2 * step);
  };
  for (const auto ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    const auto plain = product(a, b, ta);
    for (const auto epilogue :
         {CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU,
          CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB}) {
      const bool relu = epilogue & 8, gelu = epilogue & 64;
      std::vector<float> wanted(m * n), sums(epilogue == CUBLASLT_EPILOGUE_BGRADB ? n : m);
      for (int i = 0; i < m * n; ++i) {
        const double factor = relu ? double(kept[i] > 0) : gelu ? slope(kept[i]) : 1;
        wanted[i] = float(plain[i] * factor);
        if (epilogue & 16) sums[i % m] += wanted[i];
      }
      for (int l = 0; l < k; ++l) {
        for (int i = 0; epilogue == CUBLASLT_EPILOGUE_BGRADA && i < m; ++i)
          sums[i] += at(a, ta == CUBLAS_OP_N ? m : k, ta, i, l);
        for (int j = 0; epilogue == CUBLASLT_EPILOGUE_BGRADB && j < n; ++j) sums[j] += b[j * k + l];
      }
      const On<float> dev_sums{std::vector<float>(sums.size())};
      Matmul matmul(CUBLAS_COMPUTE_32F, CUDA_R_32F, m, n, k, ta, CUDA_R_32F);
      matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
      matmul.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(*dev_sums));
      matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                 relu ? static_cast<void*>(*dev_mask) : static_cast<void*>(*dev_kept));
      matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(relu ? mask_rows : m));
      GOOD(matmul.run(*dev_a, *dev_b, *dev_d));
      same(dev_d.host(), wanted, "an activation's gradient");
      if (epilogue != CUBLASLT_EPILOGUE_DRELU && epilogue != CUBLASLT_EPILOGUE_DGELU)
        same(dev_sums.host(), sums, "a bias's gradient");
    }
  }
}

void float8() {
  std::vector<__nv_fp8_e4m3> a(k * m), b(k * n);
  std::vector<float> wide_a(k * m), wide_b(k * n);
  for (int i = 0; i < k * m; ++i) a[i] = __nv_fp8_e4m3(sample<float>(i) * 100), wide_a[i] = float(a[i]);
  for (int i = 0; i < k * n; ++i) b[i] = __nv_fp8_e4m3(sample<float>(i + 2) / 64), wide_b[i] = float(b[i]);
  const On<__nv_fp8_e4m3> dev_a(a), dev_b(b), narrow{std::vector<__nv_fp8_e4m3>(m * n)};
  const On<float> dev_d{std::vector<float>(m * n)}, scales({0.5f, 4.0f});
  auto wanted = product(wide_a, wide_b, CUBLAS_OP_T);
  for (float& each : wanted) each *= 2;
  Matmul matmul(CUBLAS_COMPUTE_32F, CUDA_R_8F_E4M3, m, n, k, CUBLAS_OP_T, CUDA_R_32F);
  matmul.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(*scales));
  matmul.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(*scales + 1));
  GOOD(matmul.run(dev_a.data, dev_b.data, *dev_d));
  same(dev_d.host(), wanted, "8-bit floats with scales");
  // The input of GELU, kept as 8-bit floats with a scale.
  const On<float> more({8.0f, -1.0f});
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(narrow.data));
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(m));
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUDA_R_8F_E4M3);
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, static_cast<const void*>(*more));
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, static_cast<void*>(*more + 1));
  GOOD(matmul.run(dev_a.data, dev_b.data, *dev_d));
  std::vector<float> kept;
  for (const __nv_fp8_e4m3& each : narrow.host()) kept.push_back(float(each));
  float greatest = 0;
  for (float& each : wanted) {
    greatest = std::fmax(greatest, std::fabs(each));
    each = float(__nv_fp8_e4m3(each * 8));
  }
  same(kept, wanted, "what GELU was given, in 8 bits");
  expect(near(more.host()[1], greatest), "the greatest of it");
  matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  IS(CUBLAS_STATUS_NOT_SUPPORTED, matmul.run(dev_a.data, dev_b.data, *dev_d));
}

void batches() {
  const auto a = samples<float>(m * k * 3), b = samples<float>(k * n * 3, 3);
  const On<float> dev_a(a), dev_b(b), dev_d{std::vector<float>(m * n * 3)};
  Matmul matmul(CUBLAS_COMPUTE_32F, CUDA_R_32F, m, n, k, CUBLAS_OP_N, CUDA_R_32F);
  const int count = 3;
  const std::int64_t strides[] = {m * k, k * n, m * n};
  const cublasLtMatrixLayout_t layouts[] = {matmul.a, matmul.b, matmul.d};
  for (int i = 0; i < 3; ++i) {
    GOOD(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    GOOD(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &strides[i],
                                          sizeof strides[i]));
  }
  GOOD(matmul.run(*dev_a, *dev_b, *dev_d));
  std::vector<float> wanted;
  for (int i = 0; i < 3; ++i) {
    const auto one = product({a.begin() + i * m * k, a.end()}, {b.begin() + i * k * n, b.end()}, CUBLAS_OP_N);
    wanted.insert(wanted.end(), one.begin(), one.end());
  }
  same(dev_d.host(), wanted, "a batch");
}

// A program may select an algorithm by the number that a GPU uses for it.
void algorithm_by_number() {
  Matmul p(CUBLAS_COMPUTE_32F, CUDA_R_32F, m, n, k, CUBLAS_OP_N, CUDA_R_32F);
  const auto a = samples<float>(m * k), b = samples<float>(k * n, 2);
  const On<float> dev_a(a), dev_b(b), dev_d{std::vector<float>(m * n)};
  cublasLtMatmulAlgo_t algorithm;
  const cudaDataType_t f32 = CUDA_R_32F;
  IS(CUBLAS_STATUS_INVALID_VALUE,
     cublasLtMatmulAlgoInit(light, CUBLAS_COMPUTE_32F, f32, f32, f32, f32, f32, -1, &algorithm));
  GOOD(cublasLtMatmulAlgoInit(light, CUBLAS_COMPUTE_32F, f32, f32, f32, f32, f32, 10, &algorithm));
  int id = 0;
  std::size_t bytes = 0;
  GOOD(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id,
                                            &bytes));
  expect(id == 10, "the algorithm's number");
  const float alpha = 1, beta = 0;
  GOOD(cublasLtMatmul(light, p.how, &alpha, *dev_a, p.a, *dev_b, p.b, &beta, *dev_d, p.d, *dev_d,
                      p.d, &algorithm, nullptr, 0, 0));
  same(dev_d.host(), product(a, b, CUBLAS_OP_N), "by the algorithm of a number");
}

}  // namespace

int main() {
  GOOD(cublasLtCreate(&light));
  orders();
  epilogues();
  gradients();
  float8();
  batches();
  algorithm_by_number();
  std::size_t bytes = 0;
  cublasLtMatrixLayoutOpaque_t own;
  GOOD(cublasLtMatrixLayoutInit(&own, CUDA_R_16F, 3, 4, 5));
  std::uint64_t rows = 0;
  GOOD(cublasLtMatrixLayoutGetAttribute(&own, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, &bytes));
  expect(rows == 3 && bytes == sizeof rows, "a layout of the program's own");
  GOOD(cublasLtDestroy(light));
  return finish();
}
