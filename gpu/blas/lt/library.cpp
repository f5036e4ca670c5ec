// cublasLt's handles, versions, status names and log.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "gpu/blas/call.hpp"
#include "gpu/blas/status_names.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::blas {
namespace {

// cublasLtLogger...: errors have level 1, calls level 5.
using Callback = void (*)(int level, const char* function, const char* message);
struct Log {
  std::mutex mutex;
  std::atomic<int> level{0}, mask{0};
  std::atomic<bool> disabled{false};
  std::atomic<Callback> callback{nullptr};
  std::FILE* file = nullptr;

  bool wants(int each) const {
    return !disabled && (each <= level || (mask & 1 << (each - 1)) != 0);
  }
};
Log& log() {
  static Log& one = *new Log;
  return one;
}

// A handle is only an address, so a cublasHandle_t works too.
struct LightHandle {};

}  // namespace

int logged(const char* name, Status status) {
  constexpr int errors = 1, calls = 5;
  Log& to = log();
  const int level = status == Status::success ? calls : errors;
  if (!to.wants(level)) return int(status);
  if (const Callback heard = to.callback) heard(level, name, status_name(int(status)));
  const std::lock_guard lock(to.mutex);
  if (to.file) std::fprintf(to.file, "%s: %s\n", name, status_name(int(status)));
  return int(status);
}

}  // namespace inflight::blas

using namespace inflight::blas;

INFLIGHT_CUBLAS int cublasLtCreate(void** handle) {
  return answer("cublasLtCreate", [&] {
    if (!handle) return Status::invalid_value;
    if (inflight::cuda::Core::get().device_count() == 0) return Status::not_initialized;
    *handle = new LightHandle;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasLtDestroy(void* handle) {
  if (!handle) return int(Status::not_initialized);
  delete static_cast<LightHandle*>(handle);
  return int(Status::success);
}
INFLIGHT_CUBLAS std::size_t cublasLtGetVersion() { return library_version; }
INFLIGHT_CUBLAS std::size_t cublasLtGetCudartVersion() { return inflight::cuda::cuda_version; }
INFLIGHT_CUBLAS int cublasLtGetProperty(int which, int* value) {
  return library_property(which, value);
}
INFLIGHT_CUBLAS const char* cublasLtGetStatusName(int status) { return status_name(status); }
INFLIGHT_CUBLAS const char* cublasLtGetStatusString(int status) { return status_text(status); }
// There is no cache of heuristics, so its capacity is 0.
INFLIGHT_CUBLAS int cublasLtHeuristicsCacheGetCapacity(std::size_t* capacity) {
  if (!capacity) return int(Status::invalid_value);
  *capacity = 0;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtHeuristicsCacheSetCapacity(std::size_t) { return int(Status::success); }

INFLIGHT_CUBLAS int cublasLtLoggerSetCallback(Callback callback) {
  log().callback = callback;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtLoggerSetFile(std::FILE* file) {
  const std::lock_guard lock(log().mutex);
  log().file = file;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtLoggerOpenFile(const char* path) {
  std::FILE* const file = path ? std::fopen(path, "a") : nullptr;
  return file ? cublasLtLoggerSetFile(file) : int(Status::invalid_value);
}
INFLIGHT_CUBLAS int cublasLtLoggerSetLevel(int level) {
  constexpr int most = 5;
  if (level < 0 || level > most) return int(Status::invalid_value);
  log().level = level;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtLoggerSetMask(int mask) {
  log().mask = mask;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtLoggerForceDisable() {
  log().disabled = true;
  return int(Status::success);
}
