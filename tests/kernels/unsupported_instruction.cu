// arch: sm_100
// options: --device b200
// software-only
// stderr: not supported in kernel work\(int\*, int\): st\.async\.release
// stderr: source: .*unsupported_instruction\.cu:20
// stderr: thread: \(0,0,0\) of block \(3,0,0\), and 31 more threads
// stderr: 'inflight run --strict' refuses to launch them
// An unsupported instruction ends a kernel when it is reached, like an illegal instruction. Until
// then, and if it is never reached, kernels run.
#include <cstdio>

#include "tests/kernels/kernel_test.cuh"

__global__ void work(int* out, int cancel_from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 3 * i;
  if (int(blockIdx.x) < cancel_from) {
    out[i] += 1;
  } else {
    asm volatile("st.async.release.gpu.global.u32 [%0], %1;" ::"l"(out + i), "r"(7) : "memory");
    out[i] = 0;
  }
}

int main() {
  int* out = nullptr;
  cudaHostAlloc(&out, 4 * 32 * sizeof(int), cudaHostAllocDefault);
  work<<<4, 32>>>(out, 4);
  printf("not reached: %s, ", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%d %d\n", out[31], out[127]);
  work<<<4, 32>>>(out, 3);
  printf("launched: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
  printf("reached: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("sticky: %s\n", cudaGetErrorName(cudaMemset(out, 0, 4)));
  printf("and what was done before it stays: %d\n", out[127]);
}
