// flags: -lcuda
// Driver calls without a current context. Those that name an object use its context.
#include <cuda.h>

#include <cstdio>

const char* const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 v;\n"
    ".visible .entry k() { ret; }\n";

void nothing(void*) {}

#define TELL(call)                                                                       \
  do {                                                                                   \
    cuCtxSetCurrent(nullptr);                                                            \
    const int code = int(call);                                                          \
    CUcontext current = nullptr;                                                         \
    cuCtxGetCurrent(&current);                                                           \
    std::printf("%s: %d%s\n", #call, code, current ? ", leaves a context current" : ""); \
  } while (0)

int main() {
  CUdevice device;
  CUcontext context, found;
  CUstream stream;
  CUevent first, second;
  CUdeviceptr a, b, made;
  CUmemoryPool pool;
  CUmodule module;
  CUfunction kernel;
  CUlibrary library;
  CUkernel entry;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuEventCreate(&first, 0);
  cuEventCreate(&second, 0);
  cuMemAlloc(&a, 4096);
  cuMemAlloc(&b, 4096);
  cuDeviceGetDefaultMemPool(&pool, device);
  cuModuleLoadData(&module, text);
  cuModuleGetFunction(&kernel, module, "k");
  cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cuLibraryGetKernel(&entry, library, "k");

  unsigned long long id = 0;
  int number = 0;
  unsigned flags = 0;
  std::size_t bytes = 0;
  float milliseconds = 0;
  char host[64] = {};
  CUstreamCaptureStatus capturing;
  TELL(cuStreamGetCtx(stream, &found));
  TELL(cuStreamGetId(stream, &id));
  TELL(cuStreamGetDevice(stream, &device));
  TELL(cuStreamGetPriority(stream, &number));
  TELL(cuStreamGetFlags(stream, &flags));
  TELL(cuStreamIsCapturing(stream, &capturing));
  TELL(cuStreamQuery(stream));
  TELL(cuStreamSynchronize(stream));
  TELL(cuEventRecord(first, stream));
  TELL(cuEventRecord(second, stream));
  TELL(cuStreamWaitEvent(stream, first, 0));
  TELL(cuEventSynchronize(second));
  TELL(cuEventQuery(second));
  TELL(cuEventElapsedTime(&milliseconds, first, second));
  TELL(cuMemAllocFromPoolAsync(&made, 256, pool, stream));
  TELL(cuMemFreeAsync(made, stream));
  TELL(cuMemAllocAsync(&made, 256, stream));
  TELL(cuMemFreeAsync(made, stream));
  TELL(cuMemcpyAsync(a, b, 64, stream));
  TELL(cuMemcpyDtoDAsync(a, b, 64, stream));
  TELL(cuMemcpyHtoDAsync(a, host, 64, stream));
  TELL(cuMemsetD8Async(a, 1, 64, stream));
  TELL(cuStreamWriteValue32(stream, a, 1, 0));
  TELL(cuStreamSynchronize(stream));
  TELL(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  TELL(cuLaunchHostFunc(stream, nothing, nullptr));
  TELL(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel));
  TELL(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
  TELL(cuFuncLoad(kernel));
  TELL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, kernel, 32, 0));
  TELL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&number, kernel, 32, 0, 0));
  TELL(cuOccupancyMaxPotentialBlockSize(&number, &number, kernel, nullptr, 0, 0));
  TELL(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 1, 32));
  TELL(cuModuleGetFunction(&kernel, module, "k"));
  TELL(cuModuleGetGlobal(&made, &bytes, module, "v"));
  TELL(cuKernelGetFunction(&kernel, entry));
  TELL(cuLibraryGetModule(&module, library));
  TELL(cuLibraryGetGlobal(&made, &bytes, library, "v"));
  TELL(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
  TELL(cuMemGetAddressRange(&made, &bytes, a));
  TELL(cuMemPoolTrimTo(pool, 0));
  TELL(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &id));
  TELL(cuMemcpyDtoH(host, a, 64));
  TELL(cuMemsetD8(a, 0, 64));
  TELL(cuMemAlloc(&made, 64));
  TELL(cuEventCreate(&first, 0));
  TELL(cuStreamSynchronize(nullptr));
  TELL(cuEventRecord(second, nullptr));
  TELL(cuMemAllocAsync(&made, 64, nullptr));
  TELL(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  TELL(cuCtxSynchronize());
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec exec;
  TELL(cuGraphCreate(&graph, 0));
  TELL(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  TELL(cuGraphInstantiate(&exec, graph, 0));
  cuCtxSetCurrent(context);
  cuGraphInstantiate(&exec, graph, 0);
  TELL(cuGraphLaunch(exec, stream));
  TELL(cuGraphLaunch(exec, nullptr));
  TELL(cuMemFree(b));
  TELL(cuModuleUnload(module));
  TELL(cuEventDestroy(second));
  TELL(cuStreamDestroy(stream));
}
