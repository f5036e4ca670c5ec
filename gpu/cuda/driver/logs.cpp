// Driver API: the error log.
#include "gpu/cuda/core/base/log_dump.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

INFLIGHT_CU_BARE(cuLogsRegisterCallback, (Logs::Callback callback, void* data, void** handle),
                 { return listen_to_logs(callback, data, handle); })
INFLIGHT_CU_BARE(cuLogsUnregisterCallback, (void* handle),
                 { return Logs::get().stop_listening(handle); })
INFLIGHT_CU_BARE(cuLogsCurrent, (unsigned* iterator, unsigned flags),
                 { return end_of_logs(iterator, flags); })
INFLIGHT_CU_BARE(cuLogsDumpToFile, (unsigned* iterator, const char* path, unsigned flags),
                 { return dump_logs_to_file(iterator, path, flags); })
INFLIGHT_CU_BARE(cuLogsDumpToMemory,
                 (unsigned* iterator, char* buffer, std::size_t* size, unsigned flags),
                 { return dump_logs_to_memory(iterator, buffer, size, flags); })

}  // namespace inflight::cuda::driver
