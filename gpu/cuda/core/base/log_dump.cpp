// The error log, as programs read it.
#include "gpu/cuda/core/base/log_dump.hpp"

#include <cstring>
#include <fstream>

namespace inflight::cuda {
namespace {

constexpr std::size_t largest_dump = 25600;  // bytes, as cuda.h says

// The first message for an iterator that may be null.
std::uint32_t begin_of(const unsigned* iterator) { return iterator ? *iterator : 0; }

}  // namespace

Status listen_to_logs(Logs::Callback callback, void* data, void** handle) {
  if (!callback) return Status::invalid_value;
  void* made = Logs::get().listen(callback, data);
  if (handle) *handle = made;
  return Status::success;
}

Status end_of_logs(unsigned* iterator, unsigned flags) {
  if (!iterator || flags) return Status::invalid_value;
  *iterator = Logs::get().end();
  return Status::success;
}

Status dump_logs_to_file(unsigned* iterator, const char* path, unsigned flags) {
  if (!path || flags) return Status::invalid_value;
  Logs& logs = Logs::get();
  const std::uint32_t end = logs.end();
  std::ofstream file(path, std::ios::app);
  file << logs.text(begin_of(iterator), largest_dump);
  file.close();
  if (!file) return Status::invalid_value;
  if (iterator) *iterator = end;
  return Status::success;
}

Status dump_logs_to_memory(unsigned* iterator, char* buffer, std::size_t* size, unsigned flags) {
  if (!buffer || !size || *size == 0 || flags) return Status::invalid_value;
  Logs& logs = Logs::get();
  const std::uint32_t end = logs.end();
  const std::uint32_t begin = begin_of(iterator);
  const std::string text = logs.text(begin, *size - 1);
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  if (text.empty() && begin < end) return Status::invalid_value;
  if (iterator) *iterator = end;
  return Status::success;
}

}  // namespace inflight::cuda
