// arch: sm_80
// software-only
// Events that processes share: a wait in one process for a recording of the other, both ways; one
// that nobody has recorded; and a process that ends before its recording is reached.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

struct Told {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t ready, answer;
};

__global__ void wait_for_host(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void set(int* to, int value) { *to = value; }
__global__ void add(int* to, const int* from) { *to += *from; }

template <class T>
void tell(int pipe, const T& value) {
  if (write(pipe, &value, sizeof value) != sizeof value) _exit(2);
}
template <class T>
T hear(int pipe) {
  T value;
  if (read(pipe, &value, sizeof value) != sizeof value) _exit(3);
  return value;
}

int other(int in, int out) {
  const Told told = hear<Told>(in);
  int* memory;
  cudaEvent_t ready, answer;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaIpcOpenMemHandle((void**)&memory, told.memory, cudaIpcMemLazyEnablePeerAccess);
  printf("open: %d %d\n", cudaIpcOpenEventHandle(&ready, told.ready),
         cudaIpcOpenEventHandle(&answer, told.answer));
  printf("not recorded: %s, recorded and not reached: %s\n",
         cudaGetErrorName(cudaEventQuery(answer)), cudaGetErrorName(cudaEventQuery(ready)));
  fflush(stdout);
  cudaStreamWaitEvent(stream, ready, 0);
  add<<<1, 1, 0, stream>>>(memory + 1, memory);
  cudaEventRecord(answer, stream);
  tell(out, 1);  // only now does the first process let its kernel end
  cudaEventSynchronize(answer);
  hear<int>(in);
  // A recording that is never reached, since this process is killed.
  int* flag;
  cudaMallocHost(&flag, sizeof *flag);
  *flag = 0;
  wait_for_host<<<1, 1, 0, stream>>>(flag);
  cudaEventRecord(answer, stream);
  tell(out, 2);
  pause();
  return 0;
}

int main() {
  int there[2], back[2];
  if (pipe(there) || pipe(back)) return 1;
  const pid_t child = fork();
  if (child == 0) _exit(other(there[0], back[1]));
  int *memory, *flag;
  cudaMalloc(&memory, 2 * sizeof(int));
  cudaMemset(memory, 0, 2 * sizeof(int));
  cudaMallocHost(&flag, sizeof *flag);
  *flag = 0;
  cudaEvent_t ready, answer, plain;
  Told told;
  cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming);
  cudaEventCreateWithFlags(&answer, cudaEventInterprocess | cudaEventDisableTiming);
  cudaEventCreate(&plain);
  printf("handles: %d %d %d; of a plain event: %d\n", cudaIpcGetMemHandle(&told.memory, memory),
         cudaIpcGetEventHandle(&told.ready, ready), cudaIpcGetEventHandle(&told.answer, answer),
         cudaIpcGetEventHandle(&told.answer, plain) != cudaSuccess);
  cudaGetLastError();
  fflush(stdout);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  wait_for_host<<<1, 1, 0, stream>>>(flag);
  set<<<1, 1, 0, stream>>>(memory, 40);
  cudaEventRecord(ready, stream);
  cudaIpcGetEventHandle(&told.answer, answer);
  tell(there[1], told);
  hear<int>(back[0]);
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
  tell(there[1], 1);
  hear<int>(back[0]);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  printf("recorded by a process that has ended: %s\n",
         cudaGetErrorName(cudaEventSynchronize(answer)));
  return 0;
}
