// arch: sm_80
// software-only
// Events shared between processes: each process waits for a recording of the other, an event is
// never recorded, and a process ends before it reaches its recording.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/kernels/two_processes.hpp"

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t ready, answer;
};

__global__ void wait_for_host(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void set(int* to, int value) { *to = value; }
__global__ void add(int* to, const int* from) { *to += *from; }

int other(const End& first) {
  const Handles handles = first.receive<Handles>();
  int* memory;
  cudaEvent_t ready, answer;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaIpcOpenMemHandle((void**)&memory, handles.memory, cudaIpcMemLazyEnablePeerAccess);
  printf("open: %d %d\n", cudaIpcOpenEventHandle(&ready, handles.ready),
         cudaIpcOpenEventHandle(&answer, handles.answer));
  printf("not recorded: %s, recorded and not reached: %s\n",
         cudaGetErrorName(cudaEventQuery(answer)), cudaGetErrorName(cudaEventQuery(ready)));
  fflush(stdout);
  cudaStreamWaitEvent(stream, ready, 0);
  add<<<1, 1, 0, stream>>>(memory + 1, memory);
  cudaEventRecord(answer, stream);
  first.send(1);  // only now the first process lets its kernel end
  cudaEventSynchronize(answer);
  first.receive<int>();
  // A recording that is never reached, because this process is killed.
  int* flag;
  cudaMallocHost(&flag, sizeof *flag);
  *flag = 0;
  wait_for_host<<<1, 1, 0, stream>>>(flag);
  cudaEventRecord(answer, stream);
  first.send(2);
  pause();
  return 0;
}

int main() {
  const Child child = start(other);
  int *memory, *flag;
  cudaMalloc(&memory, 2 * sizeof(int));
  cudaMemset(memory, 0, 2 * sizeof(int));
  cudaDeviceSynchronize();
  cudaMallocHost(&flag, sizeof *flag);
  *flag = 0;
  cudaEvent_t ready, answer, plain;
  Handles handles;
  cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming);
  cudaEventCreateWithFlags(&answer, cudaEventInterprocess | cudaEventDisableTiming);
  cudaEventCreate(&plain);
  printf("handles: %d %d %d; of a plain event: %d\n", cudaIpcGetMemHandle(&handles.memory, memory),
         cudaIpcGetEventHandle(&handles.ready, ready), cudaIpcGetEventHandle(&handles.answer, answer),
         cudaIpcGetEventHandle(&handles.answer, plain) != cudaSuccess);
  cudaGetLastError();
  fflush(stdout);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  wait_for_host<<<1, 1, 0, stream>>>(flag);
  set<<<1, 1, 0, stream>>>(memory, 40);
  cudaEventRecord(ready, stream);
  cudaIpcGetEventHandle(&handles.answer, answer);
  child.send(handles);
  child.receive<int>();
  cudaStream_t second;
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaStreamWaitEvent(second, answer, 0);
  set<<<1, 1, 0, second>>>(memory, 2);  // after the other process has read 40
  printf("before the kernel ends: %s\n", cudaGetErrorName(cudaEventQuery(answer)));
  *(volatile int*)flag = 1;
  cudaStreamSynchronize(second);
  int values[2];
  cudaMemcpy(values, memory, sizeof values, cudaMemcpyDefault);
  printf("memory: %d %d, the answer: %s\n", values[0], values[1],
         cudaGetErrorName(cudaEventQuery(answer)));
  child.send(1);
  child.receive<int>();
  kill(child.process, SIGKILL);
  waitpid(child.process, nullptr, 0);
  printf("recorded by a process that has ended: %s\n",
         cudaGetErrorName(cudaEventSynchronize(answer)));
  return 0;
}
