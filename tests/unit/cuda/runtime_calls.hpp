// The runtime's entry points that the tests call, and kernels as PTX text.
#pragma once
#include <cstddef>
#include <string>

#include "gpu/cuda/core/base/abi.hpp"

namespace inflight::cuda::testing {

extern "C" {
int cudaGetLastError();
int cudaPeekAtLastError();
const char* cudaGetErrorName(int);
int cudaGetDeviceCount(int*);
int cudaSetDevice(int);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
int cudaGetDevice(int*);
int cudaDeviceReset();
int cudaDeviceSynchronize();
int cudaDeviceGetAttribute(int*, int, int);
int cudaDeviceCanAccessPeer(int*, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceRegisterAsyncNotification(int, void (*)(void*, void*, void*), void*, void**);
int cudaDeviceUnregisterAsyncNotification(int, void*);
int cudaDeviceGetP2PAttribute(int*, int, int, int);
int cudaDeviceGetP2PAtomicCapabilities(unsigned*, const int*, unsigned, int, int);
int cudaDeviceGetHostAtomicCapabilities(unsigned*, const int*, unsigned, int);
int cudaMalloc(void**, std::size_t);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocHost(void**, std::size_t);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaHostGetFlags(unsigned*, void*);
int cudaHostRegister(void*, std::size_t, unsigned);
int cudaHostUnregister(void*);
int cudaHostGetDevicePointer(void**, void*, unsigned);
int cudaMallocAsync(void**, std::size_t, void*);
int cudaFreeAsync(void*, void*);
int cudaFree(void*);
int cudaFreeHost(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaMemcpyPeer(void*, int, const void*, int, std::size_t);
int cudaMemset(void*, int, std::size_t);
int cudaMemsetAsync(void*, int, std::size_t, void*);
int cudaMemGetInfo(std::size_t*, std::size_t*);
int cudaPointerGetAttributes(abi::PointerAttributes*, const void*);
int cudaStreamCreate(void**);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamDestroy(void*);
int cudaStreamQuery(void*);
int cudaStreamSynchronize(void*);
int cudaStreamWaitEvent(void*, void*, unsigned);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaLaunchHostFunc(void*, void (*)(void*), void*);
int cudaEventCreateWithFlags(void**, unsigned);
int cudaEventRecord(void*, void*);
int cudaEventQuery(void*);
int cudaEventSynchronize(void*);
int cudaEventElapsedTime(float*, void*, void*);
int cudaEventDestroy(void*);
int cudaLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cudaLibraryUnload(void*);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaLibraryGetGlobal(void**, std::size_t*, void*, const char*);
int cudaLaunchKernel(const void*, abi::Dim3, abi::Dim3, void**, std::size_t, void*);
int cudaLaunchCooperativeKernel(const void*, abi::Dim3, abi::Dim3, void**, std::size_t, void*);
int cudaLaunchKernelExC(const abi::LaunchConfig*, const void*, void**);
int cudaFuncGetAttributes(abi::FunctionAttributes*, const void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaFuncGetParamInfo(const void*, std::size_t, std::size_t*, std::size_t*);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaGraphCreate(void**, unsigned);
int cudaGraphDestroy(void*);
int cudaGraphAddKernelNode(void**, void*, void* const*, std::size_t, const abi::KernelNode*);
int cudaGraphAddMemsetNode(void**, void*, void* const*, std::size_t, const abi::FillNode*);
int cudaGraphAddMemcpyNode1D(void**, void*, void* const*, std::size_t, void*, const void*,
                             std::size_t, int);
int cudaGraphAddHostNode(void**, void*, void* const*, std::size_t, const abi::HostNode*);
int cudaGraphAddMemAllocNode(void**, void*, void* const*, std::size_t, abi::AllocateNode*);
int cudaGraphAddMemFreeNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphAddNode(void**, void*, void* const*, const abi::EdgeData*, std::size_t,
                     abi::GraphNode*);
int cudaGraphGetNodes(void*, void**, std::size_t*);
int cudaGraphGetEdges(void*, void**, void**, abi::EdgeData*, std::size_t*);
int cudaGraphNodeGetDependencies(void*, void**, abi::EdgeData*, std::size_t*);
int cudaGraphNodeGetDependentNodes(void*, void**, abi::EdgeData*, std::size_t*);
int cudaGraphAddDependencies(void*, void* const*, void* const*, const abi::EdgeData*, std::size_t);
int cudaGraphRemoveDependencies(void*, void* const*, void* const*, const abi::EdgeData*,
                                std::size_t);
int cudaGraphKernelNodeGetAttribute(void*, int, abi::LaunchAttribute::Value*);
int cudaGraphKernelNodeSetAttribute(void*, int, const abi::LaunchAttribute::Value*);
int cudaGraphKernelNodeCopyAttributes(void*, void*);
int cudaLaunchKernelExC(const abi::LaunchConfig*, const void*, void**);
int cudaGraphConditionalHandleCreate(std::uint64_t*, void*, unsigned, unsigned);
int cudaGraphNodeGetType(void*, int*);
int cudaGraphKernelNodeGetParams(void*, abi::KernelNode*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphExecDestroy(void*);
int cudaGraphExecKernelNodeSetParams(void*, void*, const abi::KernelNode*);
int cudaGraphLaunch(void*, void*);
int cudaGraphClone(void**, void*);
int cudaUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned);
int cudaUserObjectRelease(void*, unsigned);
int cudaGraphRetainUserObject(void*, void*, unsigned, unsigned);
int cudaGraphReleaseUserObject(void*, void*, unsigned);
}

// add(p, n, v): p[i] += v for i < n. fault(p): writes at p. stop(): trap.
inline constexpr const char* kernels = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v)
{
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [v];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r6, 4; add.s64 %d4, %d2, %d3;
  ld.global.u32 %r7, [%d4]; add.u32 %r8, %r7, %r2; st.global.u32 [%d4], %r8;
DONE:
  ret;
}
.visible .entry fault(.param .u64 p)
{
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [p]; st.global.u32 [%d1], 1; ret;
}
.visible .entry stop() { trap; ret; }
.visible .entry dynamic()
{
  ret;
}
.visible .entry spin(.param .u64 p)
{
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [p];
AGAIN:
  ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;
  ret;
}
)";

inline void* library() {
  static void* handle = [] {
    void* made = nullptr;
    cudaLibraryLoadData(&made, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0);
    return made;
  }();
  return handle;
}

inline void* kernel(const char* name) {
  void* handle = nullptr;
  cudaLibraryGetKernel(&handle, library(), name);
  return handle;
}

inline int launch_add(void* numbers, unsigned count, unsigned value, void* stream = nullptr) {
  void* arguments[] = {&numbers, &count, &value};
  return cudaLaunchKernel(kernel("add"), {(count + 127) / 128, 1, 1}, {128, 1, 1}, arguments, 0,
                          stream);
}

}  // namespace inflight::cuda::testing
