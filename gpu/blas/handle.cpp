// Handles, and the calls that set and get their settings.
#include "gpu/blas/handle.hpp"

#include "gpu/blas/call.hpp"
#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::blas {
namespace {

cuda::Handles<Handle>& handles() {
  static auto& all = *new cuda::Handles<Handle>;
  return all;
}

}  // namespace

Status create(Handle** place) {
  if (!place) return Status::invalid_value;
  if (cuda::Core::get().device_count() == 0) return Status::not_initialized;
  const auto stream = cuda::live_stream(nullptr, false);
  if (!stream) return Status::not_initialized;
  auto handle = std::make_shared<Handle>();
  handle->device = (*stream)->device().ordinal;
  *place = handles().add(std::move(handle));
  return Status::success;
}

Status destroy(Handle* handle) {
  const auto found = handles().remove(handle);
  if (!found) return Status::not_initialized;
  const auto stream = cuda::live_stream(found->stream, false);
  if (stream && !cuda::capturing(**stream)) (*stream)->synchronize();
  return Status::success;
}

std::shared_ptr<Handle> find(const Handle* handle) { return handles().find(handle); }

int call_guarded(Handle* handle, const char* name, BodyOf<Handle&> body) {
  return answer(name, [&] {
    const auto found = find(handle);
    return found ? body(*found) : Status::not_initialized;
  });
}

}  // namespace inflight::blas

using namespace inflight::blas;

INFLIGHT_CUBLAS int cublasCreate_v2(Handle** place) {
  return answer("cublasCreate", [&] { return create(place); });
}
INFLIGHT_CUBLAS int cublasDestroy_v2(Handle* handle) {
  return answer("cublasDestroy", [&] { return destroy(handle); });
}
INFLIGHT_CUBLAS int cublasSetStream_v2(Handle* handle, void* stream) {
  return answer(handle, "cublasSetStream", [&](Handle& h) {
    if (!inflight::cuda::stream_of(stream)) return Status::invalid_value;
    h.stream = stream;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetStream_v2(Handle* handle, void** stream) {
  return answer(handle, "cublasGetStream", [&](Handle& h) { return store(stream, h.stream); });
}
// The workspace is checked but not used.
INFLIGHT_CUBLAS int cublasSetWorkspace_v2(Handle* handle, void* workspace, std::size_t) {
  constexpr std::size_t alignment = 256;
  return answer(handle, "cublasSetWorkspace", [&](Handle&) {
    return reinterpret_cast<std::uintptr_t>(workspace) % alignment ? Status::invalid_value
                                                                   : Status::success;
  });
}
INFLIGHT_CUBLAS int cublasSetPointerMode_v2(Handle* handle, int mode) {
  return answer(handle, "cublasSetPointerMode", [&](Handle& h) {
    if (mode < 0 || mode > int(PointerMode::device)) return Status::invalid_value;
    h.pointers = PointerMode(mode);
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetPointerMode_v2(Handle* handle, int* mode) {
  return answer(handle, "cublasGetPointerMode",
                [&](Handle& h) { return store(mode, int(h.pointers)); });
}
INFLIGHT_CUBLAS int cublasSetMathMode(Handle* handle, int mode) {
  // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION may be added to any of them.
  constexpr int no_reduced_sums = 16, last = 8;
  return answer(handle, "cublasSetMathMode", [&](Handle& h) {
    if ((mode & ~no_reduced_sums) < 0 || (mode & ~no_reduced_sums) > last)
      return Status::invalid_value;
    h.math_mode = mode;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetMathMode(Handle* handle, int* mode) {
  return answer(handle, "cublasGetMathMode", [&](Handle& h) { return store(mode, h.math_mode); });
}
INFLIGHT_CUBLAS int cublasSetAtomicsMode(Handle* handle, int mode) {
  return answer(handle, "cublasSetAtomicsMode", [&](Handle& h) {
    if (mode != 0 && mode != 1) return Status::invalid_value;
    h.atomics_mode = mode;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetAtomicsMode(Handle* handle, int* mode) {
  return answer(handle, "cublasGetAtomicsMode",
                [&](Handle& h) { return store(mode, h.atomics_mode); });
}
INFLIGHT_CUBLAS int cublasSetSmCountTarget(Handle* handle, int count) {
  return answer(handle, "cublasSetSmCountTarget", [&](Handle& h) {
    if (count < 0) return Status::invalid_value;
    h.multiprocessors = count;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetSmCountTarget(Handle* handle, int* count) {
  return answer(handle, "cublasGetSmCountTarget",
                [&](Handle& h) { return store(count, h.multiprocessors); });
}
// No header declares these two. cuSOLVER sets the mode 1 in each of its handles.
INFLIGHT_CUBLAS int cublasSetEnvironmentMode(Handle* handle, int mode) {
  return answer(handle, "cublasSetEnvironmentMode", [&](Handle& h) {
    if (mode != 0 && mode != 1) return Status::invalid_value;
    h.environment_mode = mode;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetEnvironmentMode(Handle* handle, int* mode) {
  return answer(handle, "cublasGetEnvironmentMode",
                [&](Handle& h) { return store(mode, h.environment_mode); });
}
