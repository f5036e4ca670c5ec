// alone: the report begins with the name of its kernel
// arch: sm_80
// software-only
// options: --fidelity --device a100
// stderr: ^power\(float\*\)$
// stderr: ^    exact +[0-9,]+ +[0-9,]+ +[0-9.]+ %$
// stderr: ^    by a model +2 +64 +[0-9.]+ %$
// stderr: ^      ex2\.approx\.ftz\.f32: approximate functions were compared only with an H
// stderr: ^      mov\.u64: clocks count instructions$
// The output of `--fidelity` for a kernel with an approximation and a clock, on a device that was
// not measured.
#include <cstdio>

__global__ void power(float* x) {
  const long long begin = clock64();
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x[threadIdx.x]));
  x[threadIdx.x] = clock64() >= begin ? y : 0;
}

int main() {
  float* x;
  cudaMallocManaged(&x, 64 * sizeof(float));
  for (int i = 0; i < 64; ++i) x[i] = float(i % 4);
  power<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  std::printf("%.2f %.2f\n", x[0], x[3]);
}
