// cuBLAS's version, status names and log.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "gpu/blas/call.hpp"
#include "gpu/blas/status_names.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::blas {
namespace {

using Callback = void (*)(const char* message);

// The log's outputs (cublasLoggerConfigure, CUBLAS_LOGINFO_DBG, CUBLAS_LOGDEST_DBG). Each call
// writes a line.
struct Log {
  std::mutex mutex;
  std::atomic<bool> on{false};
  bool to_output = false, to_error = false;
  std::FILE* file = nullptr;
  std::atomic<Callback> callback{nullptr};

  void configure(bool wanted, bool output, bool error, const char* path) {
    const std::lock_guard lock(mutex);
    if (file) std::fclose(file);
    file = path ? std::fopen(path, "a") : nullptr;
    to_output = output, to_error = error;
    on = wanted;
  }
  void write(const std::string& line) {
    if (const Callback heard = callback) heard(line.c_str());
    if (!on) return;
    const std::lock_guard lock(mutex);
    for (std::FILE* to : {to_output ? stdout : nullptr, to_error ? stderr : nullptr, file})
      if (to) std::fputs(line.c_str(), to), std::fflush(to);
  }
};

Log& log() {
  static Log& one = *[] {
    auto* made = new Log;
    const char* const wanted = std::getenv("CUBLAS_LOGINFO_DBG");
    const char* const where = std::getenv("CUBLAS_LOGDEST_DBG");
    if (!wanted || std::atoi(wanted) == 0 || !where) return made;
    const std::string_view to = where;
    const bool named = to != "stdout" && to != "stderr";
    made->configure(true, to == "stdout", to == "stderr", named ? where : nullptr);
    return made;
  }();
  return one;
}

}  // namespace

int logged(const char* name, Status status) {
  Log& to = log();
  if (to.on || to.callback) to.write(fmt::format("{}: {}\n", name, status_name(int(status))));
  return int(status);
}

}  // namespace inflight::blas

using namespace inflight::blas;

INFLIGHT_CUBLAS int cublasGetVersion_v2(Handle*, int* version) {
  return answer("cublasGetVersion", [&] {
    if (!version) return Status::invalid_value;
    *version = library_version;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasGetProperty(int which, int* value) {
  return library_property(which, value);
}
INFLIGHT_CUBLAS std::size_t cublasGetCudartVersion() { return inflight::cuda::cuda_version; }
INFLIGHT_CUBLAS const char* cublasGetStatusName(int status) { return status_name(status); }
INFLIGHT_CUBLAS const char* cublasGetStatusString(int status) { return status_text(status); }

INFLIGHT_CUBLAS int cublasLoggerConfigure(int on, int to_output, int to_error, const char* path) {
  log().configure(on, to_output, to_error, path);
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasSetLoggerCallback(Callback callback) {
  log().callback = callback;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasGetLoggerCallback(Callback* place) {
  if (!place) return int(Status::invalid_value);
  *place = log().callback;
  return int(Status::success);
}
INFLIGHT_CUBLAS void cublasXerbla(const char* routine, int parameter) {
  std::fprintf(stderr, " ** On entry to %s parameter number %d had an illegal value\n", routine,
               parameter);
}
