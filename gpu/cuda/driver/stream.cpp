// Driver API: streams and host functions.
#include "gpu/cuda/driver/runtime.hpp"

namespace inflight::cuda::driver {
namespace {

using Value = abi::LaunchAttribute::Value;
using Callback = void (*)(Handle stream, int status, void* data);

// A default stream is the current context's.
Status context_handle(const Stream& stream, Handle* context) {
  bool made = stream.kind() == Stream::Kind::user;
  return store_value(context, Handle(made ? home_of(stream) : current_context()));
}

}  // namespace

INFLIGHT_CU(cuStreamCreate, (Handle * stream, unsigned flags),
            { return runtime(cudaStreamCreateWithPriority(stream, flags, 0)); })
INFLIGHT_CU(cuStreamCreateWithPriority, (Handle * stream, unsigned flags, int priority),
            { return runtime(cudaStreamCreateWithPriority(stream, flags, priority)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamDestroy, cuStreamDestroy_v2, (Handle stream),
                   { return runtime(cudaStreamDestroy(stream)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamSynchronize, cuStreamSynchronize_ptsz,
                   (Handle stream), { return runtime(cudaStreamSynchronize(at(stream, second))); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamQuery, cuStreamQuery_ptsz, (Handle stream),
                   { return runtime(cudaStreamQuery(at(stream, second))); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetPriority, cuStreamGetPriority_ptsz,
                   (Handle stream, int* priority),
                   { return runtime(cudaStreamGetPriority(at(stream, second), priority)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetFlags, cuStreamGetFlags_ptsz,
                   (Handle stream, unsigned* flags),
                   { return runtime(cudaStreamGetFlags(at(stream, second), flags)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetId, cuStreamGetId_ptsz,
                   (Handle stream, unsigned long long* id),
                   { return runtime(cudaStreamGetId(at(stream, second), id)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetDevice, cuStreamGetDevice_ptsz,
                   (Handle stream, int* device),
                   { return runtime(cudaStreamGetDevice(at(stream, second), device)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCtx, cuStreamGetCtx_ptsz,
                   (Handle stream, Handle* context), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return context_handle(s, context); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz,
                   (Handle stream, Handle* context, Handle* green), {
                     if (green) *green = nullptr;
                     return with_stream(stream, second,
                                        [&](Stream& s) { return context_handle(s, context); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamSetAttribute, cuStreamSetAttribute_ptsz,
                   (Handle stream, int attribute, const Value* value), {
                     return runtime(cudaStreamSetAttribute(at(stream, second), attribute, value));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetAttribute, cuStreamGetAttribute_ptsz,
                   (Handle stream, int attribute, Value* value), {
                     return runtime(cudaStreamGetAttribute(at(stream, second), attribute, value));
                   })
INFLIGHT_CU_TWO_AT(of_stream(to), cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz,
                   (Handle to, Handle from),
                   { return runtime(cudaStreamCopyAttributes(at(to, second), at(from, second))); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz,
                   (Handle stream, DevicePointer memory, std::size_t bytes, unsigned flags), {
                     return runtime(cudaStreamAttachMemAsync(at(stream, second), pointer(memory),
                                                             bytes, flags));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuLaunchHostFunc, cuLaunchHostFunc_ptsz,
                   (Handle stream, void (*function)(void*), void* data),
                   { return runtime(cudaLaunchHostFunc(at(stream, second), function, data)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamAddCallback, cuStreamAddCallback_ptsz,
                   (Handle stream, Callback callback, void* data, unsigned flags), {
                     return runtime(
                         cudaStreamAddCallback(at(stream, second), callback, data, flags));
                   })

}  // namespace inflight::cuda::driver
