// flags: -lcuda
// The runtime calls that initialise the driver, so that a library that never calls cuInit
// (PyTorch's) may query devices. Each call is the first of its process.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void nothing() {}
__device__ int variable;

template <class Body>
void after(const char* name, Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("%s: status %d\n", name, status);
    return;
  }
  alarm(30);
  const int answer = body();
  CUdevice device = -1;
  int count = -1, major = -1;
  unsigned flags = 0;
  int active = -1;
  CUcontext context = nullptr;
  const int found = cuDeviceGet(&device, 0), counted = cuDeviceGetCount(&count);
  const int asked = cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  const int primary = cuDevicePrimaryCtxGetState(0, &flags, &active);
  const int current = cuCtxGetCurrent(&context);
  std::printf(
      "%s %d: cuDeviceGet %d, count %d, attribute %d (%d), primary %d (active %d), current %d "
      "(%s)\n",
      name, answer, found, counted, asked, major, primary, active, current,
      context ? "one" : "none");
  std::fflush(stdout);
  std::_Exit(0);
}

#define AFTER(call) after(#call, [] { return int(call); })

int number;
size_t room, more;
char text[64];
void* pointer;
cudaDeviceProp properties;
cudaStream_t stream;
cudaEvent_t event;
cudaMemPool_t pool;
cudaFuncAttributes attributes;
cudaPointerAttributes of_pointer;
cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;

int main() {
  after("nothing", [] { return 0; });
  AFTER(cudaRuntimeGetVersion(&number));
  AFTER(cudaDriverGetVersion(&number));
  AFTER(cudaGetLastError());
  AFTER(cudaPeekAtLastError());
  after("cudaGetErrorString", [] { return cudaGetErrorString(cudaErrorInvalidValue) == nullptr; });
  AFTER(cudaGetDeviceCount(&number));
  AFTER(cudaGetDevice(&number));
  AFTER(cudaSetDevice(0));
  AFTER(cudaInitDevice(0, 0, 0));
  AFTER(cudaGetDeviceProperties(&properties, 0));
  AFTER(cudaDeviceGetAttribute(&number, cudaDevAttrComputeCapabilityMajor, 0));
  AFTER(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  AFTER(cudaDeviceGetByPCIBusId(&number, "0000:ff:1f.0"));
  AFTER(cudaDeviceCanAccessPeer(&number, 0, 0));
  AFTER(cudaChooseDevice(&number, &properties));
  AFTER(cudaGetDeviceFlags((unsigned*)&number));
  AFTER(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  AFTER(cudaSetValidDevices(&number, 1));
  AFTER(cudaDeviceGetDefaultMemPool(&pool, 0));
  AFTER(cudaDeviceGetLimit(&room, cudaLimitStackSize));
  AFTER(cudaThreadExchangeStreamCaptureMode(&mode));
  AFTER(cudaMemGetInfo(&room, &more));
  AFTER(cudaFree(nullptr));
  AFTER(cudaFreeHost(nullptr));
  AFTER(cudaMalloc(&pointer, 4));
  AFTER(cudaMallocHost(&pointer, 4));
  AFTER(cudaPointerGetAttributes(&of_pointer, &number));
  AFTER(cudaStreamCreate(&stream));
  AFTER(cudaStreamQuery(nullptr));
  AFTER(cudaEventCreate(&event));
  AFTER(cudaFuncGetAttributes(&attributes, nothing));
  AFTER(cudaGetSymbolAddress(&pointer, variable));
  AFTER(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 32, 0));
  AFTER(cudaDeviceSynchronize());
  AFTER(cudaDeviceReset());
}
