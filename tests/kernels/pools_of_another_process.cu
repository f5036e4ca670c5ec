// The result of each call when one process exports a memory pool and memory from it and another
// imports both, and the values that kernels of both see.
// flags: -lcuda
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/kernels/two_processes.hpp"

#define SAY(expr) printf("%s%s = %d\n", who, #expr, int(expr)), fflush(stdout)
static const char* who = "parent: ";
constexpr auto as_file = cudaMemHandleTypePosixFileDescriptor;
constexpr int count = 1000;

struct Told {
  cudaMemPoolPtrExportData first, second;
};

__global__ void fill(int* p, int from) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) p[i] = from + i;
}
__global__ void add(int* p, int value) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) p[i] += value;
}
__global__ void differ(const int* p, int from, int* found) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (p[i] != from + i) atomicAdd(found, 1);
}
int wrong(const int* p, int from) {
  int *found, result;
  cudaMalloc(&found, sizeof(int));
  cudaMemset(found, 0, sizeof(int));
  differ<<<1, 128>>>(p, from, found);
  cudaMemcpy(&result, found, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(found);
  return result;
}

void step(int socket) {
  char byte = 1;
  if (write(socket, &byte, 1) != 1) _exit(4);
}
void await(int socket) {
  char byte;
  if (read(socket, &byte, 1) != 1) _exit(5);
}

int other(int socket) {
  who = "child: ";
  const int file = receive_file(socket);
  Told told;
  if (read(socket, &told, sizeof told) != sizeof told) return 1;
  cudaMemPool_t pool = nullptr;
  SAY(cudaMemPoolImportFromShareableHandle(&pool, (void*)(size_t)file, as_file, 0));
  int *first = nullptr, *second = nullptr, *own = nullptr;
  SAY(cudaMemPoolImportPointer((void**)&first, pool, &told.first));
  SAY(cudaMemPoolImportPointer((void**)&second, pool, &told.second));
  SAY(cudaMallocFromPoolAsync((void**)&own, 1024, pool, 0));
  SAY(cudaDeviceSetMemPool(0, pool));
  cudaGetLastError();
  printf("wrong in the first %d, in the second %d\n", wrong(first, 7), wrong(second, 70));
  add<<<1, 128>>>(first, 1000);
  SAY(cudaDeviceSynchronize());
  cudaPointerAttributes facts;
  SAY(cudaPointerGetAttributes(&facts, first));
  printf("type %d device %d\n", int(facts.type), facts.device);
  SAY(cudaFreeAsync(first, 0));
  SAY(cudaFree(second));
  SAY(cudaDeviceSynchronize());
  SAY(cudaMemPoolDestroy(pool));
  step(socket);
  return 0;
}

int main() {
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    exit(other(ends[1]));
  }
  close(ends[1]);
  int types = -1;
  cudaDeviceGetAttribute(&types, cudaDevAttrMemoryPoolSupportedHandleTypes, 0);
  printf("by file descriptors: %d\n", types & 1);
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t plain = nullptr, pool = nullptr;
  SAY(cudaMemPoolCreate(&plain, &how));
  how.handleTypes = as_file;
  SAY(cudaMemPoolCreate(&pool, &how));
  int none = -1, file = -1;
  SAY(cudaMemPoolExportToShareableHandle(&none, plain, as_file, 0));
  SAY(cudaMemPoolExportToShareableHandle(&none, pool, cudaMemHandleTypeNone, 0));
  SAY(cudaMemPoolExportToShareableHandle(&file, pool, as_file, 1));
  SAY(cudaMemPoolExportToShareableHandle(&file, pool, as_file, 0));
  int *first = nullptr, *second = nullptr, *unshared = nullptr;
  SAY(cudaMallocFromPoolAsync((void**)&first, count * sizeof(int), pool, 0));
  SAY(cudaMallocFromPoolAsync((void**)&second, count * sizeof(int), pool, 0));
  SAY(cudaMallocFromPoolAsync((void**)&unshared, count * sizeof(int), plain, 0));
  fill<<<1, 128>>>(first, 7);
  fill<<<1, 128>>>(second, 70);
  SAY(cudaDeviceSynchronize());
  Told told{};
  SAY(cudaMemPoolExportPointer(&told.first, unshared));
  SAY(cudaMemPoolExportPointer(&told.first, first));
  SAY(cudaMemPoolExportPointer(&told.second, second));
  cudaGetLastError();
  send_file(ends[0], file);
  if (write(ends[0], &told, sizeof told) != sizeof told) return 1;
  await(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  printf("the other process ends with %d\n", status);
  printf("wrong in the first %d, in the second %d\n", wrong(first, 1007), wrong(second, 70));
  SAY(cudaFreeAsync(first, 0));
  SAY(cudaFreeAsync(second, 0));
  SAY(cudaFreeAsync(unshared, 0));
  SAY(cudaDeviceSynchronize());
  SAY(cudaMemPoolDestroy(pool));
}
