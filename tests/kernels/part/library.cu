// A shared library with a kernel and a variable, for library_with_kernels.cu.
__device__ int calls = 0;

__global__ void library_kernel(int* v) {
  v[threadIdx.x] = v[threadIdx.x] * 2 + int(threadIdx.x);
  if (threadIdx.x == 0) ++calls;
}

// Returns how often the kernel ran since the library was loaded, or minus the error.
extern "C" int run_library_kernel(int* v, int count) {
  for (int i = 0; i < 2; ++i) library_kernel<<<1, count>>>(v);
  int result = 0;
  cudaError_t error = cudaMemcpyFromSymbol(&result, calls, sizeof result);
  return error == cudaSuccess ? result : -int(error);
}
