// arch: sm_80
// software-only
// flags: -lcuda
// stderr: the file from which memory was to be imported is not memory that a process of this software GPU shares
// options: --devices 2
// Virtual memory management memory that another process gets as a file descriptor, from a device
// and from the host; the devices that may access a mapping; and refused calls.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/kernels/two_processes.hpp"

constexpr size_t bytes = 2 << 20;
constexpr auto as_file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

__global__ void add(int* to, int value) { to[threadIdx.x] += value; }
__global__ void read_one(const int* from, int* to) { *to = *from; }

CUmemAllocationProp properties(CUmemLocationType where, int id, bool shareable) {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = where;
  p.location.id = id;
  if (shareable) p.requestedHandleTypes = as_file;
  return p;
}

CUresult open_to(CUdeviceptr at, CUmemLocationType where, int id) {
  CUmemAccessDesc access{{where, id}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  return cuMemSetAccess(at, bytes, &access, 1);
}

int* mapped(CUmemGenericAllocationHandle handle, int device) {
  CUdeviceptr at = 0;
  cuMemAddressReserve(&at, bytes, 0, 0, 0);
  cuMemMap(at, bytes, 0, handle, 0);
  open_to(at, CU_MEM_LOCATION_TYPE_DEVICE, device);
  return (int*)at;
}

int other(int socket) {
  cudaSetDevice(1);
  cudaFree(nullptr);
  const int device_file = receive_file(socket), host_file = receive_file(socket);
  CUmemGenericAllocationHandle device, host;
  printf("import: %d %d\n",
         cuMemImportFromShareableHandle(&device, (void*)(size_t)device_file, as_file),
         cuMemImportFromShareableHandle(&host, (void*)(size_t)host_file, as_file));
  close(device_file);
  close(host_file);
  CUmemAllocationProp p;
  cuMemGetAllocationPropertiesFromHandle(&p, device);
  printf("on a device: %d\n", p.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  int *d = mapped(device, 1), *h = mapped(host, 1);
  add<<<1, 4>>>(d, 100);
  add<<<1, 4>>>(h, 1000);
  printf("kernels of device 1: %d\n", cudaDeviceSynchronize());
  printf("host sees %d at its own address: %d\n", h[3],
         open_to((CUdeviceptr)h, CU_MEM_LOCATION_TYPE_HOST_NUMA, 0));
  fflush(stdout);
  char done = 1;
  return write(socket, &done, 1) != 1;
}

int main() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 1;
  if (fork() == 0) _exit(other(sockets[1]));
  cudaFree(nullptr);
  CUmemGenericAllocationHandle device, host, plain;
  auto on_device = properties(CU_MEM_LOCATION_TYPE_DEVICE, 0, true),
       on_host = properties(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, true),
       kept = properties(CU_MEM_LOCATION_TYPE_DEVICE, 0, false);
  printf("create: %d %d %d\n", cuMemCreate(&device, bytes, &on_device, 0),
         cuMemCreate(&host, bytes, &on_host, 0), cuMemCreate(&plain, bytes, &kept, 0));
  int *d = mapped(device, 0), *h = mapped(host, 0);
  open_to((CUdeviceptr)h, CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);
  add<<<1, 4>>>(d, 1);
  add<<<1, 4>>>(h, 2);
  cudaDeviceSynchronize();
  int device_file = -1, host_file = -1, none = -1;
  printf("export: %d %d, one that was not made for it: %d\n",
         cuMemExportToShareableHandle(&device_file, device, as_file, 0),
         cuMemExportToShareableHandle(&host_file, host, as_file, 0),
         cuMemExportToShareableHandle(&none, plain, as_file, 0) != CUDA_SUCCESS);
  int some_file[2];
  CUmemGenericAllocationHandle no;
  if (pipe(some_file)) return 1;
  printf("import of another file: %d\n",
         cuMemImportFromShareableHandle(&no, (void*)(size_t)some_file[0], as_file) != CUDA_SUCCESS);
  fflush(stdout);
  send_file(sockets[0], device_file);
  send_file(sockets[0], host_file);
  char done;
  if (read(sockets[0], &done, 1) != 1) return 1;
  int value = 0;
  cudaMemcpy(&value, d + 3, sizeof value, cudaMemcpyDefault);
  printf("device memory holds %d, the host's %d\n", value, h[3]);
  int state = -1;
  wait(&state);
  // The mapping is accessible only to device 0, whatever its peers are.
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  int* result;
  cudaMalloc(&result, sizeof *result);
  unsigned long long flags[2];
  CUmemLocation places[2] = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
  cuMemGetAccess(&flags[0], &places[0], (CUdeviceptr)d);
  cuMemGetAccess(&flags[1], &places[1], (CUdeviceptr)d);
  printf("access: %llu %llu\n", flags[0], flags[1]);
  open_to((CUdeviceptr)d, CU_MEM_LOCATION_TYPE_DEVICE, 1);
  read_one<<<1, 1>>>(d, result);
  printf("once it is open to device 1: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaMemcpy(&value, result, sizeof value, cudaMemcpyDefault);
  printf(", %d\n", value);
  return WEXITSTATUS(state);
}
