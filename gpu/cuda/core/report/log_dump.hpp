// What both APIs do with the error log. Iterators are numbers of messages; they may be missing.
#pragma once
#include "gpu/cuda/core/report/logs.hpp"

namespace inflight::cuda {

Status listen_to_logs(Logs::Callback callback, void* data, void** handle);
// Where the next message will be.
Status end_of_logs(unsigned* iterator, unsigned flags);
// The messages from an iterator on, which goes to their end. Appended to the file.
Status dump_logs_to_file(unsigned* iterator, const char* path, unsigned flags);
Status dump_logs_to_memory(unsigned* iterator, char* buffer, std::size_t* size, unsigned flags);

}  // namespace inflight::cuda
