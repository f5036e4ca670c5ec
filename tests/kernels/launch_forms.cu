// Every way to launch: triple brackets, cudaLaunchKernel, cudaLaunchKernelEx with attributes,
// templates, default arguments; three-dimensional grids and blocks.
#include "tests/kernels/kernel_test.cuh"

__global__ void where(unsigned long long* sum) {
  unsigned long long block =
      blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  unsigned long long thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned long long i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  atomicAdd(&sum[0], i);
  atomicXor(&sum[1], i * 0x9e3779b97f4a7c15ull);
  atomicAdd(&sum[2], 1);
}

template <class T, int n>
__global__ void typed(T* out, T factor) {
  out[threadIdx.x] = T(threadIdx.x) * factor + n;
}

__global__ void attributes(int* out, int a, float b) {
  out[threadIdx.x] = a + int(b * 2) + blockDim.x;
}

int main() {
  Buffer<unsigned long long> sum(3);
  where<<<dim3(3, 4, 5), dim3(7, 3, 2)>>>(sum);
  print("3-D", sum.read());
  where<<<dim3(1000, 1, 3), dim3(1, 33)>>>(sum);
  print("more", sum.read());

  Buffer<int> a(32), b(32);
  Buffer<double> d(32);
  typed<int, 4><<<1, 32>>>(a, 3);
  typed<double, -1><<<1, 32>>>(d, 0.5);
  print("int", a.read());
  print("double", d.read(), 8);

  int* p = b;
  int first = 10;
  float second = 2.5f;
  void* arguments[] = {&p, &first, &second};
  CHECK(cudaLaunchKernel((void*)attributes, dim3(1), dim3(32), arguments, 0, 0));
  print("cudaLaunchKernel", b.read());
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, attributes, p, 20, 3.5f));
  print("cudaLaunchKernelEx", b.read());
  CHECK(cudaLaunchKernelExC(&config, (void*)attributes, arguments));
  print("cudaLaunchKernelExC", b.read());
}
