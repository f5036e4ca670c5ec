// Driver API: streams and host functions.
#include "gpu/cuda/driver_runtime.hpp"

namespace inflight::cuda::driver {
namespace {

using Value = abi::LaunchAttribute::Value;
using Callback = void (*)(Handle stream, int status, void* data);

// Every context of a device shares its streams: the current one, or the primary one of another.
Status context_handle(const Stream& stream, Handle* context) {
  Context* current = current_context();
  bool own = current->device == &stream.device();
  return store_value(context,
                     Handle(own ? current : &Core::get().primary(stream.device().ordinal)));
}

}  // namespace

INFLIGHT_CU(cuStreamCreate, (Handle * stream, unsigned flags),
            { return runtime(cudaStreamCreateWithPriority(stream, flags, 0)); })
INFLIGHT_CU(cuStreamCreateWithPriority, (Handle * stream, unsigned flags, int priority),
            { return runtime(cudaStreamCreateWithPriority(stream, flags, priority)); })
INFLIGHT_CU_TWO(cuStreamDestroy, cuStreamDestroy_v2, (Handle stream),
                { return runtime(cudaStreamDestroy(stream)); })
INFLIGHT_CU_TWO(cuStreamSynchronize, cuStreamSynchronize_ptsz, (Handle stream),
                { return runtime(cudaStreamSynchronize(at(stream, second))); })
INFLIGHT_CU_TWO(cuStreamQuery, cuStreamQuery_ptsz, (Handle stream),
                { return runtime(cudaStreamQuery(at(stream, second))); })
INFLIGHT_CU_TWO(cuStreamGetPriority, cuStreamGetPriority_ptsz, (Handle stream, int* priority),
                { return runtime(cudaStreamGetPriority(at(stream, second), priority)); })
INFLIGHT_CU_TWO(cuStreamGetFlags, cuStreamGetFlags_ptsz, (Handle stream, unsigned* flags),
                { return runtime(cudaStreamGetFlags(at(stream, second), flags)); })
INFLIGHT_CU_TWO(cuStreamGetId, cuStreamGetId_ptsz, (Handle stream, unsigned long long* id),
                { return runtime(cudaStreamGetId(at(stream, second), id)); })
INFLIGHT_CU_TWO(cuStreamGetDevice, cuStreamGetDevice_ptsz, (Handle stream, int* device),
                { return runtime(cudaStreamGetDevice(at(stream, second), device)); })
INFLIGHT_CU_TWO(cuStreamGetCtx, cuStreamGetCtx_ptsz, (Handle stream, Handle* context), {
  return with_stream(stream, second, [&](Stream& s) { return context_handle(s, context); });
})
INFLIGHT_CU_TWO(cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz,
                (Handle stream, Handle* context, Handle* green), {
                  if (green) *green = nullptr;
                  return with_stream(stream, second,
                                     [&](Stream& s) { return context_handle(s, context); });
                })
INFLIGHT_CU_TWO(cuStreamSetAttribute, cuStreamSetAttribute_ptsz,
                (Handle stream, int attribute, const Value* value),
                { return runtime(cudaStreamSetAttribute(at(stream, second), attribute, value)); })
INFLIGHT_CU_TWO(cuStreamGetAttribute, cuStreamGetAttribute_ptsz,
                (Handle stream, int attribute, Value* value),
                { return runtime(cudaStreamGetAttribute(at(stream, second), attribute, value)); })
INFLIGHT_CU_TWO(cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz, (Handle to, Handle from),
                { return runtime(cudaStreamCopyAttributes(at(to, second), at(from, second))); })
INFLIGHT_CU_TWO(cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz,
                (Handle stream, DevicePointer memory, std::size_t bytes, unsigned flags), {
                  return runtime(
                      cudaStreamAttachMemAsync(at(stream, second), pointer(memory), bytes, flags));
                })
INFLIGHT_CU_TWO(cuLaunchHostFunc, cuLaunchHostFunc_ptsz,
                (Handle stream, void (*function)(void*), void* data),
                { return runtime(cudaLaunchHostFunc(at(stream, second), function, data)); })
INFLIGHT_CU_TWO(cuStreamAddCallback, cuStreamAddCallback_ptsz,
                (Handle stream, Callback callback, void* data, unsigned flags), {
                  return runtime(cudaStreamAddCallback(at(stream, second), callback, data, flags));
                })

}  // namespace inflight::cuda::driver
