// Memory of two exported pools in another process: the data of a pointer goes with the pool that
// the memory came from.
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

struct Told {
  cudaMemPoolPtrExportData first, second;
};

int other(int socket) {
  who = "child: ";
  const int one = receive_file(socket), two = receive_file(socket);
  Told told;
  if (read(socket, &told, sizeof told) != sizeof told) return 1;
  cudaMemPool_t first = nullptr, second = nullptr;
  SAY(cudaMemPoolImportFromShareableHandle(&first, (void*)(size_t)one, as_file, 0));
  SAY(cudaMemPoolImportFromShareableHandle(&second, (void*)(size_t)two, as_file, 0));
  char *a = nullptr, *b = nullptr;
  SAY(cudaMemPoolImportPointer((void**)&a, first, &told.second));
  SAY(cudaMemPoolImportPointer((void**)&b, second, &told.first));
  SAY(cudaMemPoolImportPointer((void**)&a, first, &told.first));
  SAY(cudaMemPoolImportPointer((void**)&b, second, &told.second));
  char seen[2] = {};
  SAY(cudaMemcpy(&seen[0], a, 1, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(&seen[1], b, 1, cudaMemcpyDeviceToHost));
  printf("%d %d\n", seen[0], seen[1]);
  SAY(cudaFreeAsync(a, 0));
  SAY(cudaFreeAsync(b, 0));
  SAY(cudaDeviceSynchronize());
  const char byte = 1;
  return write(socket, &byte, 1) != 1;
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
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, 0};
  how.handleTypes = as_file;
  Told told{};
  char* memory[2];
  cudaMemPool_t pools[2];
  for (int i = 0; i < 2; ++i) {
    int file = -1;
    SAY(cudaMemPoolCreate(&pools[i], &how));
    SAY(cudaMemPoolExportToShareableHandle(&file, pools[i], as_file, 0));
    SAY(cudaMallocFromPoolAsync((void**)&memory[i], 1000, pools[i], 0));
    SAY(cudaMemsetAsync(memory[i], 7 + i, 1000, 0));
    SAY(cudaMemPoolExportPointer(i ? &told.second : &told.first, memory[i]));
    send_file(ends[0], file);
  }
  SAY(cudaDeviceSynchronize());
  if (write(ends[0], &told, sizeof told) != sizeof told) return 1;
  char byte;
  if (read(ends[0], &byte, 1) != 1) return 2;
  int status = 0;
  waitpid(child, &status, 0);
  printf("the other process ends with %d\n", status);
}
