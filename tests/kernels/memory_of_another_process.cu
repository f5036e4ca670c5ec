// arch: sm_80
// software-only
// options: --devices 2
// Memory that one process allocates and another uses through cudaIpc handles: its contents and
// address, kernels of both processes that write it at once, and refused calls.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/kernels/two_processes.hpp"

struct Handles {
  cudaIpcMemHandle_t memory, small;
};

constexpr int count = 1 << 20;

__global__ void fill(int* to, int n, int first) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    to[i] = first + i;
}
__global__ void increase(unsigned* sum, int times) {
  for (int i = 0; i < times; ++i) atomicAdd_system(sum, 1u);
}
__global__ void meet(volatile int* flags, int mine, int other) {
  flags[mine] = 1;
  __threadfence_system();
  while (flags[other] == 0) {
  }
}

int other(const End& first) {
  const Handles handles = first.receive<Handles>();
  int *memory = nullptr, *again = nullptr, *small = nullptr;
  printf("open: %d",
         cudaIpcOpenMemHandle((void**)&memory, handles.memory, cudaIpcMemLazyEnablePeerAccess));
  printf(" again: %d",
         cudaIpcOpenMemHandle((void**)&again, handles.memory, cudaIpcMemLazyEnablePeerAccess));
  printf(" the same: %d\n", memory == again);
  cudaPointerAttributes facts;
  cudaPointerGetAttributes(&facts, memory);
  printf("type %d\n", facts.type);
  int values[3];
  cudaMemcpy(values, memory, sizeof values, cudaMemcpyDefault);
  printf("it holds %d %d %d\n", values[0], values[1], values[2]);
  cudaMemcpy(values, memory + count - 1, sizeof *values, cudaMemcpyDefault);
  printf("and ends with %d\n", values[0]);
  cudaIpcOpenMemHandle((void**)&small, handles.small, cudaIpcMemLazyEnablePeerAccess);
  first.send(1);
  meet<<<1, 1>>>(small, 1, 0);  // ends when the first process's kernel has arrived
  increase<<<4, 64>>>((unsigned*)small + 2, 100);
  fill<<<16, 64>>>(memory, count, 1000);
  printf("kernels: %d\n", cudaDeviceSynchronize());
  printf("close: %d %d %d", cudaIpcCloseMemHandle(memory), cudaIpcCloseMemHandle(memory),
         cudaIpcCloseMemHandle(small));
  printf(" once more: %s\n", cudaGetErrorName(cudaIpcCloseMemHandle(memory)));
  cudaGetLastError();
  cudaIpcMemHandle_t rubbish;
  memset(&rubbish, 0x5a, sizeof rubbish);
  printf(
      "opens rubbish: %d\n",
      cudaIpcOpenMemHandle((void**)&again, rubbish, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess);
  fflush(stdout);
  first.send(2);
  return 0;
}

int main() {
  const Child second = start(other);
  int *memory, *small, *pinned;
  cudaMalloc(&memory, count * sizeof(int));
  cudaMalloc(&small, 3 * sizeof(int));
  cudaMallocHost(&pinned, 64);
  cudaMemset(small, 0, 3 * sizeof(int));
  fill<<<16, 64>>>(memory, count, 7);
  Handles handles;
  // A running kernel may write it. No write is lost.
  const int got = cudaIpcGetMemHandle(&handles.memory, memory);
  const int got_small = cudaIpcGetMemHandle(&handles.small, small);
  cudaIpcMemHandle_t none;
  printf("handles: %d %d; of pinned memory: %s\n", got, got_small,
         cudaGetErrorName(cudaIpcGetMemHandle(&none, pinned)));
  cudaGetLastError();
  fflush(stdout);
  cudaDeviceSynchronize();
  second.send(handles);
  second.receive<int>();
  meet<<<1, 1>>>(small, 0, 1);
  increase<<<4, 64>>>((unsigned*)small + 2, 100);
  const int status = cudaDeviceSynchronize();
  second.receive<int>();
  unsigned sum = 0;
  int values[3];
  cudaMemcpy(&sum, small + 2, sizeof sum, cudaMemcpyDefault);
  cudaMemcpy(values, memory, sizeof values, cudaMemcpyDefault);
  printf("first process: %d, both added up to %u, memory holds %d %d %d\n", status, sum, values[0],
         values[1], values[2]);
  int state = -1;
  wait(&state);
  printf("free: %d %d\n", cudaFree(memory), cudaFree(small));
  return WEXITSTATUS(state);
}
