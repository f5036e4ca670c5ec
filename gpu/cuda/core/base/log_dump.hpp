// Operations on the error log, for both APIs. An iterator is a message's number, and may be null.
#pragma once
#include "gpu/cuda/core/base/logs.hpp"

namespace inflight::cuda {

Status listen_to_logs(Logs::Callback callback, void* data, void** handle);
// Stores the number that the next message will have.
Status end_of_logs(unsigned* iterator, unsigned flags);
// Writes the messages from an iterator on, and moves the iterator to their end. A file is appended
// to.
Status dump_logs_to_file(unsigned* iterator, const char* path, unsigned flags);
Status dump_logs_to_memory(unsigned* iterator, char* buffer, std::size_t* size, unsigned flags);

}  // namespace inflight::cuda
