// arch: sm_80
// Kernels of two processes poll memory that only the other process changes, for longer
// than the deadlock limit. There is no error, for exported memory and for imported
// memory.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

__global__ void look(const volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void set(volatile int* flag) { *flag = 1; }

int wait_and_set(int* mine, int* other) {
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  look<<<1, 1, 0, a>>>(mine);
  sleep(8);
  set<<<1, 1, 0, b>>>(other);
  return cudaDeviceSynchronize() != cudaSuccess;
}

int main() {
  int pipes[2];
  if (pipe(pipes)) return 1;
  cudaIpcMemHandle_t handle;
  const pid_t child = fork();
  if (child == 0) {
    if (read(pipes[0], &handle, sizeof handle) != sizeof handle) _exit(1);
    int* flags;
    cudaIpcOpenMemHandle((void**)&flags, handle, cudaIpcMemLazyEnablePeerAccess);
    exit(wait_and_set(flags, flags + 1));
  }
  int* flags;
  cudaMalloc(&flags, 2 * sizeof *flags);
  cudaMemset(flags, 0, 2 * sizeof *flags);
  cudaDeviceSynchronize();
  cudaIpcGetMemHandle(&handle, flags);
  if (write(pipes[1], &handle, sizeof handle) != sizeof handle) return 1;
  const int failed = wait_and_set(flags + 1, flags);
  int state = -1;
  waitpid(child, &state, 0);
  return failed || state;
}
