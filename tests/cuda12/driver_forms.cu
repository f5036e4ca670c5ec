// flags: -lcuda
// The driver API by the names that CUDA 12's cuda.h gives its calls.
#include <cuda.h>
#include <cudaTypedefs.h>

#include "tests/kernels/kernel_test.cuh"

#define DRIVER(call)                         \
  do {                                       \
    const CUresult result = (call);          \
    const char* error = nullptr;             \
    if (result != CUDA_SUCCESS) {            \
      cuGetErrorName(result, &error);        \
      std::printf("%s: %s\n", #call, error); \
      std::exit(3);                          \
    }                                        \
  } while (0)

const char* const text = R"(
.version 8.4
.target sm_80
.address_size 64
.visible .entry store(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<2>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [to]; ld.param.u32 %r1, [value];
  cvta.to.global.u64 %d2, %d1; st.global.u32 [%d2], %r1;
  ret;
}
)";

int main() {
  DRIVER(cuInit(0));
  CUdevice device;
  CUcontext context;
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuCtxCreate(&context, CU_CTX_SCHED_SPIN, device));
  CUuuid uuid;
  DRIVER(cuDeviceGetUuid(&uuid, device));
  size_t bytes = 0;
  DRIVER(cuDeviceTotalMem(&bytes, device));
  std::printf("memory: %d\n", bytes > (1ull << 30));

  CUmodule module;
  CUfunction store;
  CUdeviceptr memory;
  DRIVER(cuModuleLoadData(&module, text));
  DRIVER(cuModuleGetFunction(&store, module, "store"));
  DRIVER(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  DRIVER(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
  DRIVER(cuMemPrefetchAsync(memory, 4096, device, nullptr));
  int value = 5;
  void* arguments[] = {&memory, &value};
  DRIVER(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  DRIVER(cuCtxSynchronize());
  std::printf("stored %d\n", *reinterpret_cast<int*>(memory));

  CUgraph graph;
  CUgraphNode first, second, from, to;
  CUgraphExec exec;
  DRIVER(cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = store;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments;
  value = 6;
  DRIVER(cuGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  value = 7;
  DRIVER(cuGraphAddKernelNode(&second, graph, nullptr, 0, &kernel));
  DRIVER(cuGraphAddDependencies(graph, &first, &second, 1));
  size_t edges = 1;
  DRIVER(cuGraphGetEdges(graph, &from, &to, &edges));
  std::printf("edges %zu: %d %d\n", edges, from == first, to == second);
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  DRIVER(cuGraphLaunch(exec, nullptr));
  DRIVER(cuCtxSynchronize());
  std::printf("stored %d\n", *reinterpret_cast<int*>(memory));

  CUstream stream;
  CUstreamCaptureStatus status;
  cuuint64_t id = 0;
  DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  DRIVER(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr));
  std::printf("capturing %d\n", status != CU_STREAM_CAPTURE_STATUS_NONE);

  // By the types that the same headers declare for what is found by name.
  PFN_cuGetProcAddress find = nullptr;
  PFN_cuCtxGetDevice get_device = nullptr;
  CUdriverProcAddressQueryResult found;
  DRIVER(cuGetProcAddress("cuGetProcAddress", (void**)&find, CUDA_VERSION,
                          CU_GET_PROC_ADDRESS_DEFAULT, &found));
  DRIVER(find("cuCtxGetDevice", (void**)&get_device, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT,
              &found));
  DRIVER(get_device(&device));
  std::printf("device %d\n", device);
  DRIVER(cuMemFree(memory));
  DRIVER(cuCtxDestroy(context));
}
