// flags: -Xlinker -l:libcublas.so.13 -Xlinker -l:libcublasLt.so.13
// stderr: cublasSgemv reads 1088 bytes at 0x[0-9a-f]+: the allocation there has 1024 bytes
// stderr: cublasZgemm(_v2)? reads more than 2\^64-1 bytes at 0x[0-9a-f]+: the allocation there has
// Order in streams, capture, host and device results, and invalid arguments.
#include "common.cuh"

// No header declares these, which cuSOLVER calls.
extern "C" cublasStatus_t cublasSetEnvironmentMode(cublasHandle_t handle, int mode);
extern "C" cublasStatus_t cublasGetEnvironmentMode(cublasHandle_t handle, int* mode);

namespace {

__global__ void fill(float* x, int n, float value) {
  for (int spin = 0; spin < 200; ++spin) __nanosleep(100);
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}

const int n = 256;

void order() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cublasHandle_t handle;
  GOOD(cublasCreate(&handle));
  GOOD(cublasSetStream(handle, stream));
  const On<float> x{std::vector<float>(n)}, y{std::vector<float>(n)};
  const float two = 2;
  fill<<<1, 64, 0, stream>>>(*x, n, 3);
  GOOD(cublasSaxpy(handle, n, &two, *x, 1, *y, 1));
  fill<<<1, 64, 0, stream>>>(*x, n, 7);
  float sum = 0;
  GOOD(cublasSasum(handle, n, *y, 1, &sum));  // waits
  expect(sum == 6 * n, "a call runs between the kernels around it");

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<1, 64, 0, stream>>>(*x, n, 1);
  GOOD(cublasSaxpy(handle, n, &two, *x, 1, *y, 1));
  IS(CUBLAS_STATUS_NOT_SUPPORTED, cublasSasum(handle, n, *y, 1, &sum));
  expect(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "the end of the capture");
  expect(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "instantiation");
  GOOD(cublasSasum(handle, n, *y, 1, &sum));
  expect(sum == 6 * n, "a captured call does not run");
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  GOOD(cublasSasum(handle, n, *y, 1, &sum));
  expect(sum == 12 * n, "a graph runs it each time");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  GOOD(cublasDestroy(handle));
  cudaStreamDestroy(stream);
}

void copies() {
  const auto a = samples<double>(12 * 5);
  double* device;
  cudaMalloc(&device, 10 * 5 * sizeof(double));
  GOOD(cublasSetMatrix(10, 5, sizeof(double), a.data(), 12, device, 10));
  std::vector<double> row(5), back(10 * 5);
  GOOD(cublasGetVector(5, sizeof(double), device + 3, 10, row.data(), 1));
  GOOD(cublasGetMatrix(10, 5, sizeof(double), device, 10, back.data(), 10));
  bool good = true;
  for (int j = 0; j < 5; ++j) {
    good = good && row[j] == a[12 * j + 3];
    for (int i = 0; i < 10; ++i) good = good && back[10 * j + i] == a[12 * j + i];
  }
  expect(good, "matrices there and back");
  cudaFree(device);
}

#if CUBLAS_VERSION >= 130000
// As on an H100.
void emulation(cublasHandle_t handle) {
  cudaEmulationSpecialValuesSupport mask;
  cudaEmulationMantissaControl control;
  int count = 7, offset = 7, *bits = &count;
  GOOD(cublasGetEmulationSpecialValuesSupport(handle, &mask));
  GOOD(cublasGetFixedPointEmulationMantissaControl(handle, &control));
  GOOD(cublasGetFixedPointEmulationMaxMantissaBitCount(handle, &count));
  GOOD(cublasGetFixedPointEmulationMantissaBitOffset(handle, &offset));
  GOOD(cublasGetFixedPointEmulationMantissaBitCountPointer(handle, &bits));
  expect(mask == CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT &&
             control == CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC && count == 0 && offset == 0 &&
             !bits,
         "how arithmetic is emulated at first");
  IS(CUBLAS_STATUS_INVALID_VALUE,
     cublasSetEmulationSpecialValuesSupport(handle, cudaEmulationSpecialValuesSupport(0x10000)));
  IS(CUBLAS_STATUS_INVALID_VALUE,
     cublasSetFixedPointEmulationMantissaControl(handle, cudaEmulationMantissaControl(2)));
  IS(CUBLAS_STATUS_INVALID_VALUE, cublasSetFixedPointEmulationMaxMantissaBitCount(handle, -1));
  IS(CUBLAS_STATUS_INVALID_VALUE, cublasGetFixedPointEmulationMantissaControl(handle, nullptr));
  GOOD(cublasSetFixedPointEmulationMantissaBitOffset(handle, -1));
  GOOD(cublasGetFixedPointEmulationMantissaBitOffset(handle, &offset));
  expect(offset == -1, "an offset");
}
#endif

void mistakes() {
  cublasHandle_t handle, other = reinterpret_cast<cublasHandle_t>(&handle);
  GOOD(cublasCreate(&handle));
  const On<float> x{std::vector<float>(n)};
  const float one = 1;
  int version = 0, major = 0;
  GOOD(cublasGetVersion(handle, &version));
  GOOD(cublasGetProperty(MAJOR_VERSION, &major));
  expect(version / 10000 == CUBLAS_VER_MAJOR && major == CUBLAS_VER_MAJOR, "the version");
  cublasMath_t mode;
  GOOD(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  GOOD(cublasGetMathMode(handle, &mode));
  expect(mode == CUBLAS_TF32_TENSOR_OP_MATH, "the mode");
  int environment = 0;
  IS(CUBLAS_STATUS_NOT_INITIALIZED, cublasSetEnvironmentMode(nullptr, 1));
  IS(CUBLAS_STATUS_INVALID_VALUE, cublasSetEnvironmentMode(handle, 2));
  GOOD(cublasSetEnvironmentMode(handle, 1));
  GOOD(cublasGetEnvironmentMode(handle, &environment));
  expect(environment == 1, "the environment's mode");
#if CUBLAS_VERSION >= 130000
  cublasEmulationStrategy_t strategy;
  IS(CUBLAS_STATUS_INVALID_VALUE, cublasSetEmulationStrategy(handle, cublasEmulationStrategy_t(3)));
  GOOD(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER));
  GOOD(cublasGetEmulationStrategy(handle, &strategy));
  expect(strategy == CUBLAS_EMULATION_STRATEGY_EAGER, "the strategy");
  emulation(handle);
#endif
  IS(CUBLAS_STATUS_NOT_INITIALIZED, cublasSaxpy(other, n, &one, *x, 1, *x, 1));
  IS(CUBLAS_STATUS_INVALID_VALUE,
     cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 16, 4, 4, &one, *x, 4, *x, 4, &one, *x, 16));
  expect(std::string(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE)) ==
                 "CUBLAS_STATUS_INVALID_VALUE" &&
             std::string(cublasGetStatusString(CUBLAS_STATUS_SUCCESS)) == "success",
         "words for codes");
  // Reads past the allocation, which faults as in a kernel.
  GOOD(cublasSgemv(handle, CUBLAS_OP_N, 16, 17, &one, *x, 16, *x, 1, &one, *x, 1));
  expect(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "memory past an allocation");
}

// Sizes whose product with the size of an element wraps, or for which no list of regions has room.
void sizes_that_wrap() {
  const int far = 1 << 30, all = 2147483647;
  const auto faults = [](auto call, const char* what) {
    cudaDeviceReset();
    const On<Z> x{std::vector<Z>(n)};
    cublasHandle_t handle;
    GOOD(cublasCreate(&handle));
    call(handle, *x);
    expect(cudaDeviceSynchronize() == cudaErrorIllegalAddress, what);
    cublasDestroy(handle);
  };
  const Z one_value = 1;
  const auto* const one = raw(&one_value);
  const auto plain = CUBLAS_OP_N;
  faults(
      [&](auto h, auto* x) {
        cublasZgemm(h, plain, plain, 1, far + 1, 1, one, x, 1, x, 1, one, x, far);
      },
      "columns far apart");
  faults([&](auto h, auto* x) { cublasZscal(h, far + 1, one, x, far); }, "elements far apart");
  faults([&](auto h, auto* x) { cublasZcopy(h, far + 1, x, 0, x, far); }, "a copy far apart");
  faults(
      [&](auto h, auto* x) {
        cublasZgeam(h, plain, plain, 1, far + 1, one, x, far, one, x, far, x, far);
      },
      "a sum far apart");
  faults(
      [&](auto h, auto* x) {
        cublasZhemv(h, CUBLAS_FILL_MODE_UPPER, all, one, x, all, x, 1, one, x, 1);
      },
      "a triangle of any size");
  faults(
      [&](auto h, auto* x) {
        cublasZhbmv(h, CUBLAS_FILL_MODE_UPPER, all, 0, one, x, 1, x, 1, one, x, 1);
      },
      "a band of any size");
  faults(
      [&](auto h, auto* x) {
        cublasZgemmStridedBatched(h, plain, plain, 1, 1, 1, one, x, 1, 0, x, 1, 0, one, x, 1,
                                  1ll << 61, 9);
      },
      "matrices far apart");
}

// A factor of zero stands for matrices that are not read (BLAS).
void factor_of_zero() {
  cudaDeviceReset();
  const On<Z> x{std::vector<Z>(n)};
  cublasHandle_t handle;
  GOOD(cublasCreate(&handle));
  const auto zero = __half(0.f);
  auto* const nowhere = reinterpret_cast<__half*>(16);
  GOOD(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 16, 16, 16, &zero, nowhere, 16, nowhere, 16,
                   &zero, reinterpret_cast<__half*>(x.data), 16));
  expect(cudaDeviceSynchronize() == cudaSuccess, "matrices that are not read");
  GOOD(cublasDestroy(handle));
}

}  // namespace

int main() {
  order();
  copies();
  mistakes();
  sizes_that_wrap();
  factor_of_zero();
  return finish();
}
