// The result of each call when two processes share memory and events, and when memory is exported
// as a file descriptor.
// flags: -lcuda
// stderr: the file from which memory was to be imported is not memory that a process of this software GPU shares
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define SAY(expr) printf("%s%s = %d\n", who, #expr, int(expr)), fflush(stdout)
static const char* who = "parent: ";
struct Told {
  cudaIpcMemHandle_t base, inner, again;
  cudaIpcEventHandle_t event, unrecorded;
  size_t bytes;
};
__global__ void set(int* p, int v) { p[threadIdx.x] = v; }
__global__ void spin(long long n) {
  long long t = clock64();
  while (clock64() - t < n) {
  }
}

static int child(int in, int out) {
  who = "child: ";
  Told t;
  if (read(in, &t, sizeof t) != sizeof t) return 1;
  void *a = 0, *b = 0, *c = 0;
  SAY(cudaIpcOpenMemHandle(&a, t.base, 0));
  SAY(cudaIpcOpenMemHandle(&a, t.base, cudaIpcMemLazyEnablePeerAccess));
  SAY(cudaIpcOpenMemHandle(&b, t.base, cudaIpcMemLazyEnablePeerAccess));
  SAY(cudaIpcOpenMemHandle(&c, t.inner, cudaIpcMemLazyEnablePeerAccess));
  printf("child: twice the same pointer: %d; inner - base: %ld\n", a == b, (char*)c - (char*)a);
  cudaPointerAttributes pa;
  SAY(cudaPointerGetAttributes(&pa, a));
  printf("type %d device %d\n", pa.type, pa.device);
  CUdeviceptr base = 0;
  size_t size = 0;
  SAY(cuMemGetAddressRange(&base, &size, (CUdeviceptr)a));
  printf("range: %ld of it, %zu bytes\n", long((CUdeviceptr)a - base), size);
  int legacy = -1;
  SAY(cuPointerGetAttribute(&legacy, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                            (CUdeviceptr)a));
  printf("legacy ipc capable %d\n", legacy & 255);
  cudaIpcMemHandle_t re;
  SAY(cudaIpcGetMemHandle(&re, a));
  SAY(cudaFree(a));
  SAY(cudaGetLastError());
  SAY(cudaIpcCloseMemHandle((char*)a + 512));
  SAY(cudaGetLastError());
  int v = 0;
  SAY(cudaMemcpy(&v, a, 4, cudaMemcpyDefault));
  printf("value %d\n", v);
  cudaEvent_t e = 0, u = 0;
  SAY(cudaIpcOpenEventHandle(&e, t.event));
  SAY(cudaStreamWaitEvent(0, e, 0));
  SAY(cudaEventSynchronize(e));
  SAY(cudaIpcOpenEventHandle(&u, t.unrecorded));
  SAY(cudaEventQuery(u));
  SAY(cudaEventSynchronize(u));
  float ms;
  SAY(cudaEventElapsedTime(&ms, u, e));
  SAY(cudaGetLastError());
  cudaIpcEventHandle_t ee;
  SAY(cudaIpcGetEventHandle(&ee, e));
  SAY(cudaGetLastError());
  SAY(cudaEventRecord(u, 0));
  SAY(cudaEventSynchronize(u));
  SAY(cudaEventDestroy(e));
  SAY(cudaIpcCloseMemHandle(a));
  SAY(cudaMemcpy(&v, a, 4, cudaMemcpyDefault));
  SAY(cudaGetLastError());
  SAY(cudaIpcCloseMemHandle(a));
  SAY(cudaIpcCloseMemHandle(a));
  SAY(cudaIpcCloseMemHandle(a));
  SAY(cudaGetLastError());
  cudaIpcMemHandle_t rubbish;
  memset(&rubbish, 0x5a, sizeof rubbish);
  SAY(cudaIpcOpenMemHandle(&c, rubbish, cudaIpcMemLazyEnablePeerAccess));
  SAY(cudaGetLastError());
  cudaIpcEventHandle_t rube;
  memset(&rube, 0x5a, sizeof rube);
  SAY(cudaIpcOpenEventHandle(&e, rube));
  SAY(cudaGetLastError());
  char done = 1;
  (void)!write(out, &done, 1);
  return 0;
}

static void vmm() {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle h, i, plain;
  size_t bytes = 2 << 20;
  int fd = -1;
  SAY(cuMemCreate(&plain, bytes, &p, 0));
  SAY(cuMemExportToShareableHandle(&fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  SAY(cuMemCreate(&h, bytes, &p, 0));
  SAY(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  SAY(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_FABRIC, 0));
  SAY(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_NONE, 0));
  SAY(cuMemExportToShareableHandle(0, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  SAY(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
  SAY(cuMemImportFromShareableHandle(&i, (void*)(uintptr_t)fd,
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  printf("same handle: %d\n", i == h);
  SAY(cuMemImportFromShareableHandle(&i, (void*)(uintptr_t)0,
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  SAY(cuMemImportFromShareableHandle(&i, (void*)(uintptr_t)9999,
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  SAY(cuMemImportFromShareableHandle(&i, (void*)(uintptr_t)fd,
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CUmemAllocationProp q{};
  SAY(cuMemGetAllocationPropertiesFromHandle(&q, i));
  printf("type %d location %d %d\n", q.type, q.location.type, q.location.id);
  CUdeviceptr va;
  SAY(cuMemAddressReserve(&va, 2 * bytes, 0, 0, 0));
  SAY(cuMemMap(va, bytes, 0, h, 0));
  SAY(cuMemMap(va + bytes, bytes, 0, i, 0));
  CUmemAccessDesc d{};
  d.location = p.location;
  d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  SAY(cuMemSetAccess(va, 2 * bytes, &d, 1));
  SAY(cuMemsetD32(va, 7, 16));
  int v = 0;
  SAY(cuMemcpyDtoH(&v, va + bytes, 4));
  printf("through the import: %d\n", v);
  cudaIpcMemHandle_t ipc;
  SAY(cudaIpcGetMemHandle(&ipc, (void*)va));
  SAY(cudaGetLastError());
  unsigned long long types = 99;
  SAY(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, va));
  printf("allowed handle types %llu\n", types);
  CUmemAllocationProp host{};
  host.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  host.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  host.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  size_t g = 0;
  SAY(cuMemGetAllocationGranularity(&g, &host, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  printf("host granularity %zu\n", g);
  SAY(cuMemCreate(&h, bytes, &host, 0));
  CUdeviceptr hv;
  SAY(cuMemAddressReserve(&hv, bytes, 0, 0, 0));
  SAY(cuMemMap(hv, bytes, 0, h, 0));
  SAY(cuMemSetAccess(hv, bytes, &d, 1));
  CUmemAccessDesc hd = d;
  hd.location = host.location;
  SAY(cuMemSetAccess(hv, bytes, &hd, 1));
  *(volatile int*)hv = 5;
  cudaPointerAttributes pa;
  SAY(cudaPointerGetAttributes(&pa, (void*)hv));
  printf("type %d device %d host %d\n", pa.type, pa.device, pa.hostPointer == (void*)hv);
}

int main() {
  int to[2], from[2];
  (void)!pipe(to);
  (void)!pipe(from);
  if (fork() == 0) return child(to[0], from[1]);
  int *p, *pinned, *managed, *pooled;
  cudaMalloc(&p, 1 << 20);
  cudaMallocHost(&pinned, 4096);
  cudaMallocManaged(&managed, 4096);
  cudaMallocAsync(&pooled, 4096, 0);
  set<<<1, 32>>>(p, 42);
  SAY(cudaDeviceSynchronize());
  Told t{};
  SAY(cudaIpcGetMemHandle(&t.base, p));
  SAY(cudaIpcGetMemHandle(&t.inner, p + 128));
  SAY(cudaIpcGetMemHandle(&t.again, p));
  printf("equal handles: %d, inner equal: %d\n", !memcmp(&t.base, &t.again, 64),
         !memcmp(&t.base, &t.inner, 64));
  cudaIpcMemHandle_t h;
  SAY(cudaIpcGetMemHandle(&h, pinned));
  SAY(cudaIpcGetMemHandle(&h, managed));
  SAY(cudaIpcGetMemHandle(&h, pooled));
  SAY(cudaIpcGetMemHandle(&h, &t));
  SAY(cudaIpcGetMemHandle(&h, 0));
  SAY(cudaGetLastError());
  void* o = 0;
  SAY(cudaIpcOpenMemHandle(&o, t.base, cudaIpcMemLazyEnablePeerAccess));
  SAY(cudaGetLastError());
  SAY(cudaIpcCloseMemHandle(p));
  SAY(cudaGetLastError());
  cudaEvent_t e, u, plain, f;
  SAY(cudaEventCreateWithFlags(&e, cudaEventInterprocess | cudaEventDisableTiming));
  SAY(cudaEventCreateWithFlags(&u, cudaEventInterprocess | cudaEventDisableTiming));
  SAY(cudaEventCreate(&plain));
  SAY(cudaIpcGetEventHandle(&t.event, plain));
  SAY(cudaIpcGetEventHandle(&t.event, e));
  SAY(cudaIpcGetEventHandle(&t.unrecorded, u));
  SAY(cudaIpcOpenEventHandle(&f, t.event));
  SAY(cudaGetLastError());
  spin<<<1, 1>>>(4000000000ll);
  SAY(cudaEventRecord(e));
  (void)!write(to[1], &t, sizeof t);
  char c;
  (void)!read(from[0], &c, 1);
  SAY(cudaEventQuery(u));
  SAY(cudaDeviceSynchronize());
  wait(0);
  int dev = 0;
  int ipc = 0, posix = 0, host = 0;
  cuDeviceGetAttribute(&ipc, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, dev);
  cuDeviceGetAttribute(&posix, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       dev);
  cuDeviceGetAttribute(&host, CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                       dev);
  printf("attributes: ipc events %d posix %d host numa vmm %d\n", ipc, posix, host);
  vmm();
  SAY(cudaGetLastError());
  return 0;
}
