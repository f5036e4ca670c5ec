// fork() while a kernel runs: no call works in the child, and the child can exit. A child forked
// before the first call, or after calls that need no driver, has its own GPU.
// flags: -lcuda
// stderr: forked from one that had used CUDA
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void increment(int* p) { *p += 1; }

int used() {
  int *p = nullptr, value = 41;
  cudaMalloc(&p, 4);
  cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice);
  increment<<<1, 1>>>(p);
  cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost);
  return value;
}

template <class Body>
void in_child(const char* name, Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a signal ends a child that hangs
    body();
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%s: exit status %d, signal %d\n", name, WEXITSTATUS(status),
              WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

#define SAY(call) std::printf("  %s: %d\n", #call, int(call))

int main() {
  in_child("child before the first call", [] { std::printf("  its value: %d\n", used()); });
  int version = 0;
  SAY(cudaRuntimeGetVersion(&version));
  SAY(cuDriverGetVersion(&version));
  in_child("child after these versions", [] { std::printf("  its value: %d\n", used()); });
  SAY(cudaDriverGetVersion(&version));
  in_child("child after the driver's version", [] { std::printf("  its value: %d\n", used()); });
  int* flag = nullptr;
  cudaMallocHost(&flag, 4);
  *flag = 0;
  std::printf("parent's value: %d\n", used());
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int* memory = nullptr;
  cudaMalloc(&memory, 64);
  wait_for<<<1, 1, 0, stream>>>(flag);
  in_child("child while a kernel runs", [&] {
    int count = 0;
    void* p = nullptr;
    CUdeviceptr d = 0;
    CUcontext context = nullptr;
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaMalloc(&p, 64));
    increment<<<1, 1>>>(memory);
    SAY(cudaGetLastError());
    SAY(cudaStreamSynchronize(stream));
    SAY(cudaDeviceSynchronize());
    SAY(cudaFree(memory));
    SAY(cuInit(0));
    SAY(cuDeviceGetCount(&count));
    SAY(cuMemAlloc(&d, 64));
    SAY(cuCtxGetCurrent(&context));
    SAY(cudaGetLastError());
  });
  in_child("child that calls nothing", [] {});
  *flag = 1;
  std::printf("parent: %d\n", int(cudaStreamSynchronize(stream)));
  std::printf("parent's value: %d\n", used());
}
