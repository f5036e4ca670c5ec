// software-only
// flags: -lcuda
// options: --devices 3
// A multicast object whose two devices are bound by different processes: reductions and stores
// through its address reach the memory of both, from either process.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/kernels/two_processes.hpp"

constexpr size_t page = 2 << 20;
constexpr auto as_file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr int threads = 64, times = 50;
#define SAY(expr) printf("%s%s = %d\n", who, #expr, int(expr)), fflush(stdout)
static const char* who = "one: ";

// A rendezvous: both arrive, then both continue.
void meet(int socket) {
  char byte = 1;
  if (write(socket, &byte, 1) != 1 || read(socket, &byte, 1) != 1) _exit(4);
}

unsigned* mapped(CUmemGenericAllocationHandle handle, int device) {
  CUdeviceptr at = 0;
  CUmemAccessDesc access = {};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (cuMemAddressReserve(&at, page, 0, 0, 0) || cuMemMap(at, page, 0, handle, 0) ||
      cuMemSetAccess(at, page, &access, 1))
    printf("mapping fails\n");
  return (unsigned*)at;
}

__global__ void add_to_all(unsigned* all, unsigned value) {
  for (int i = 0; i < times; ++i)
    asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(all + threadIdx.x),
                 "r"(value)
                 : "memory");
}
__global__ void set_own(unsigned* own, unsigned value) { own[threads + threadIdx.x] = value; }
__global__ void sum_of_all(unsigned* all, unsigned* out) {
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];"
               : "=r"(out[threadIdx.x])
               : "l"(all + threads + threadIdx.x)
               : "memory");
}

int work(int device, int socket, CUmemGenericAllocationHandle object) {
  cudaSetDevice(device);
  cudaFree(nullptr);
  SAY(cuMulticastAddDevice(object, device));
  meet(socket);  // every device is added
  CUmemAllocationProp how = {};
  how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  how.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  how.requestedHandleTypes = as_file;
  CUmemGenericAllocationHandle memory = 0;
  cuMemCreate(&memory, page, &how, 0);
  unsigned* const own = mapped(memory, device);
  unsigned* const all = mapped(object, device);
  cudaMemset(own, 0, page);
  cudaDeviceSynchronize();
  SAY(cuMulticastBindMem(object, 0, memory, 0, page, 0));
  SAY(cuMulticastBindMem(object, 0, memory, 0, page, 0));  // already bound
  meet(socket);
  add_to_all<<<1, threads>>>(all, device);
  set_own<<<1, threads>>>(own, 100 * device);
  cudaDeviceSynchronize();
  meet(socket);
  unsigned got[threads], *sums;
  cudaMalloc(&sums, sizeof got);
  cudaMemcpy(got, own, sizeof got, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (unsigned each : got) wrong += each != times * (1 + 2);
  sum_of_all<<<1, threads>>>(all, sums);
  cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
  for (unsigned each : got) wrong += each != 100 * (1 + 2);
  printf("%swrong: %d\n", who, wrong), fflush(stdout);
  meet(socket);
  SAY(cuMulticastUnbind(object, device, 0, page));
  SAY(cuMulticastUnbind(object, device, 0, page));
  meet(socket);
  SAY(cuMulticastBindMem(object, 0, memory, 0, page, 0));
  return wrong;
}

int main() {
  setbuf(stdout, nullptr);
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  const pid_t other = fork();
  CUmemGenericAllocationHandle object = 0, again = 0;
  if (other == 0) {
    who = "other: ";
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return 9;
    cuInit(0);
    const int file = receive_file(ends[1]);
    if (cuMemImportFromShareableHandle(&object, (void*)(size_t)file, as_file)) return 10;
    if (cuMemImportFromShareableHandle(&again, (void*)(size_t)file, as_file)) return 11;
    if (object != again) return 12;
    return work(2, ends[1], object) ? 13 : 0;
  }
  cuInit(0);
  CUmulticastObjectProp how = {};
  how.numDevices = 2, how.size = page, how.handleTypes = as_file;
  SAY(cuMulticastCreate(&object, &how));
  int file = -1;
  SAY(cuMemExportToShareableHandle(&file, object, as_file, 0));
  send_file(ends[0], file);
  close(file);
  work(1, ends[0], object);
  int status = -1;
  waitpid(other, &status, 0);
  printf("the other ends with %d\n", status);
}
