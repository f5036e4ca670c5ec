// flags: -Xlinker -l:libcublas.so.13 -Xlinker -l:libcublasLt.so.13
// Products of bf16 and f16 with f32 sums. The bits must equal those of an H200's cuBLAS 13: tensor
// cores add in the order of k. (For few outputs and a long k, such as 128 x 128 x 4096, cuBLAS adds
// parts of k separately.)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common.cuh"

static std::uint64_t state;
static float draw() {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    sum += float(state >> 40 & 0xffff) / 65536.0f - 0.5f;
  }
  return sum * 2;
}

template <class T>
T* drawn(std::size_t count) {
  std::vector<T> values(count);
  for (T& each : values) each = T(draw());
  T* to;
  cudaMalloc(&to, count * sizeof(T));
  cudaMemcpy(to, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}

// C[i + j m] = sum over l of A[i k + l] B[j k + l].
template <class T>
void product(cublasHandle_t handle, int m, int n, int k) {
  const cudaDataType type = std::is_same_v<T, __half> ? CUDA_R_16F : CUDA_R_16BF;
  state = 12345 + m + k;
  T *a = drawn<T>(std::size_t(m) * k), *b = drawn<T>(std::size_t(n) * k);
  float* c;
  cudaMalloc(&c, std::size_t(m) * n * sizeof(float));
  const float one = 1, zero = 0;
  const cublasStatus_t status =
      cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, type, k, b, type, k, &zero,
                   c, CUDA_R_32F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  const std::size_t columns = n < 32 ? n : 32;
  std::vector<std::uint32_t> bits(columns * m);
  cudaMemcpy(bits.data(), c, bits.size() * 4, cudaMemcpyDeviceToHost);
  std::uint64_t sum = 14695981039346656037ull;
  for (std::uint32_t each : bits) sum = (sum ^ each) * 1099511628211ull;
  std::printf("%s %d x %d x %d: status %d, %016llx\n", type == CUDA_R_16F ? "f16" : "bf16", m, n, k,
              int(status), static_cast<unsigned long long>(sum));
  cudaFree(a), cudaFree(b), cudaFree(c);
}

int main() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  for (int k : {16, 32, 64, 128, 256, 512, 1024}) {
    product<__nv_bfloat16>(handle, 128, 128, k);
    product<__half>(handle, 128, 128, k);
  }
  product<__nv_bfloat16>(handle, 512, 512, 512);
  product<__nv_bfloat16>(handle, 512, 3072, 768);
  cublasDestroy(handle);
}
