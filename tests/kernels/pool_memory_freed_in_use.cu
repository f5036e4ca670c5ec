// software-only
// stderr: copy .*freed after
// Memory from another process's pool is freed in one stream while a copy of it waits in another.
// The copy is an illegal access, as a kernel's would be. On a GPU it may find other bytes.
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "tests/kernels/kernel_test.cuh"
#include "tests/kernels/two_processes.hpp"

namespace {

constexpr auto as_file = cudaMemHandleTypePosixFileDescriptor;
std::atomic<bool> gate{false};

void wait_at_gate(void*) {
  while (!gate) usleep(100);
}

int other(int socket) {
  const int file = receive_file(socket);
  cudaMemPoolPtrExportData told;
  if (read(socket, &told, sizeof told) != sizeof told) return 1;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(std::size_t(file)),
                                             as_file, 0));
  cudaStream_t frees, copies;
  CHECK(cudaStreamCreateWithFlags(&frees, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  char *memory, *own;
  CHECK(cudaMalloc(&own, 1000));
  CHECK(cudaMemPoolImportPointer(reinterpret_cast<void**>(&memory), pool, &told));
  CHECK(cudaMemsetAsync(own, 0, 1000, copies));
  CHECK(cudaLaunchHostFunc(copies, wait_at_gate, nullptr));
  CHECK(cudaMemcpyAsync(own, memory, 1000, cudaMemcpyDeviceToDevice, copies));
  CHECK(cudaFreeAsync(memory, frees));
  CHECK(cudaStreamSynchronize(frees));
  gate = true;
  std::printf("the copy: %s\n", cudaGetErrorName(cudaStreamSynchronize(copies)));
  const char byte = 1;
  return write(socket, &byte, 1) != 1;
}

}  // namespace

int main() {
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::exit(other(ends[1]));
  }
  close(ends[1]);
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, 0};
  how.handleTypes = as_file;
  cudaMemPool_t pool;
  cudaMemPoolPtrExportData told;
  char* memory;
  int file = -1;
  CHECK(cudaMemPoolCreate(&pool, &how));
  CHECK(cudaMemPoolExportToShareableHandle(&file, pool, as_file, 0));
  CHECK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&memory), 1000, pool, nullptr));
  CHECK(cudaMemsetAsync(memory, 7, 1000, nullptr));
  CHECK(cudaMemPoolExportPointer(&told, memory));
  CHECK(cudaDeviceSynchronize());
  send_file(ends[0], file);
  if (write(ends[0], &told, sizeof told) != sizeof told) return 1;
  char byte;
  if (read(ends[0], &byte, 1) != 1) return 2;
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("the other process ends with %d\n", status);
}
