// Helpers of the examples that multiply matrices: their arguments, their speed, and cuBLAS beside
// them.
#pragma once
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <functional>

#include "examples/example.cuh"

// C = A * B^T: A has m rows of k numbers, B n rows of k, and C m rows of n.
template <class T>
struct matrix_product {
  int m, n, k;
  const T *a, *b;
  T* c;
};

// Median TFLOP/s of eleven times ten runs, after two times ten. Runs follow one another without a
// pause, so the host's part of a launch does not count.
template <class T>
double teraflops(const matrix_product<T>& p, const std::function<void()>& run) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times(13);
  for (float& time : times) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < 10; ++i) run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&time, begin, end));
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin() + 2, times.end());
  return 10 * 2.0 * p.m * p.n * p.k / times[7] / 1e9;
}

// The product of 16-bit numbers of CUDA's type `type` by cuBLAS, or nothing if that is not
// installed. cuBLAS has columns where C has rows.
template <class T>
std::function<void()> by_cublas(const matrix_product<T>& p, cudaDataType type) {
  void* library = dlopen("libcublas.so.13", RTLD_NOW);
  if (library == nullptr) library = dlopen("libcublas.so.12", RTLD_NOW);
  if (library == nullptr) return {};
  using create = int(void**);
  using multiply = int(void*, int, int, int, int, int, const void*, const void*, int, int,
                       const void*, int, int, const void*, void*, int, int, int, int);
  void* handle = nullptr;
  if (reinterpret_cast<create*>(dlsym(library, "cublasCreate_v2"))(&handle) != 0) return {};
  const auto gemm = reinterpret_cast<multiply*>(dlsym(library, "cublasGemmEx"));
  return [=] {
    const float one = 1, zero = 0;
    constexpr int transposed = 1, plain = 0, in_f32 = 68, any_algorithm = -1;
    if (gemm(handle, transposed, plain, p.n, p.m, p.k, &one, p.b, type, p.k, p.a, type, p.k, &zero,
             p.c, type, p.n, in_f32, any_algorithm) != 0) {
      std::fprintf(stderr, "cublasGemmEx failed\n");
      std::exit(1);
    }
  };
}
