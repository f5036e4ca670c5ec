// Runtime API: the error log.
#include "gpu/cuda/core/base/log_dump.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int cudaLogsRegisterCallback(Logs::Callback callback, void* data, void** handle) {
  return query([&] { return listen_to_logs(callback, data, handle); });
}

INFLIGHT_API int cudaLogsUnregisterCallback(void* handle) {
  return query([&] { return Logs::get().stop_listening(handle); });
}

INFLIGHT_API int cudaLogsCurrent(unsigned* iterator, unsigned flags) {
  return query([&] { return end_of_logs(iterator, flags); });
}

INFLIGHT_API int cudaLogsDumpToFile(unsigned* iterator, const char* path, unsigned flags) {
  return query([&] { return dump_logs_to_file(iterator, path, flags); });
}

INFLIGHT_API int cudaLogsDumpToMemory(unsigned* iterator, char* buffer, std::size_t* size,
                                      unsigned flags) {
  return query([&] { return dump_logs_to_memory(iterator, buffer, size, flags); });
}
