// The runtime's entry points that the driver's calls of the same meaning stand on. Declared by
// their binary interface: enumerations are ints, handles and structures pointers.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

// A stream's handle as the runtime takes it: null from a per-thread name is the thread's own.
inline Handle at(Handle stream, bool per_thread) {
  return !stream && per_thread ? reinterpret_cast<Handle>(2) : stream;
}
inline Status runtime(int code) { return Status(code); }

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaMallocManaged(void**, std::size_t, unsigned flags);
int cudaMallocPitch(void**, std::size_t* pitch, std::size_t width, std::size_t height);
int cudaFree(void*);
int cudaHostAlloc(void**, std::size_t, unsigned flags);
int cudaFreeHost(void*);
int cudaHostRegister(void*, std::size_t, unsigned flags);
int cudaHostUnregister(void*);
int cudaHostGetDevicePointer(void**, void*, unsigned flags);
int cudaHostGetFlags(unsigned*, void*);
int cudaMemGetInfo(std::size_t* free, std::size_t* total);
int cudaMemAdvise(const void*, std::size_t, int advice, abi::Location);
int cudaMemPrefetchAsync(const void*, std::size_t, abi::Location, unsigned flags, void* stream);
int cudaMemRangeGetAttribute(void*, std::size_t, int attribute, const void*, std::size_t);
int cudaMemRangeGetAttributes(void**, std::size_t*, int* attributes, std::size_t count, const void*,
                              std::size_t);
int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority);
int cudaStreamDestroy(void* stream);
int cudaStreamSynchronize(void* stream);
int cudaStreamQuery(void* stream);
int cudaStreamGetPriority(void* stream, int*);
int cudaStreamGetFlags(void* stream, unsigned*);
int cudaStreamGetId(void* stream, unsigned long long*);
int cudaStreamGetDevice(void* stream, int*);
int cudaStreamSetAttribute(void* stream, int id, const abi::LaunchAttribute::Value*);
int cudaStreamGetAttribute(void* stream, int id, abi::LaunchAttribute::Value*);
int cudaStreamCopyAttributes(void* to, void* from);
int cudaStreamAttachMemAsync(void* stream, void*, std::size_t, unsigned flags);
int cudaStreamAddCallback(void* stream, void (*)(void*, int, void*), void* data, unsigned flags);
int cudaLaunchHostFunc(void* stream, void (*)(void*), void* data);
int cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
int cudaEventCreateWithFlags(void** event, unsigned flags);
int cudaEventDestroy(void* event);
int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags);
int cudaEventQuery(void* event);
int cudaEventSynchronize(void* event);
int cudaEventElapsedTime(float*, void* start, void* end);
int cudaLaunchKernelExC(const abi::LaunchConfig*, const void* function, void** arguments);
int cudaFuncGetAttributes(abi::FunctionAttributes*, const void* function);
int cudaFuncSetAttribute(const void* function, int attribute, int value);
int cudaFuncSetCacheConfig(const void* function, int config);
int cudaFuncSetSharedMemConfig(const void* function, int config);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                           int threads, std::size_t shared,
                                                           unsigned flags);
int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* shared, const void* function, int blocks,
                                              int threads);
int cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const abi::LaunchConfig*);
int cudaOccupancyMaxActiveClusters(int* count, const void* function, const abi::LaunchConfig*);
}

}  // namespace inflight::cuda::driver
