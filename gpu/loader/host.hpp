// What the audit module asks of the kernel. It is loaded before any C library and stands without
// one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "gpu/cuda/image/bytes.hpp"

namespace inflight::loader {

// A file's bytes, mapped to be read; none if it cannot be.
class MappedFile {
 public:
  explicit MappedFile(const char* path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  cuda::Bytes bytes() const { return bytes_; }

 private:
  cuda::Bytes bytes_;
};

bool file_exists(const char* path);
// This process's folder, with its NUL; false if it does not fit.
bool current_folder(char* to, std::size_t bytes);

inline constexpr std::uint64_t page_bytes = 4096;
enum class Access { read, read_write, read_execute, read_write_execute };
// Fresh zeroed pages at exactly that address, or false.
bool map_pages(std::uint64_t address, std::uint64_t bytes);
void unmap_pages(std::uint64_t address, std::uint64_t bytes);
bool protect_pages(std::uint64_t address, std::uint64_t bytes, Access access);

// Only where they fail do they return: the number of the error, below 0.
long start_program(const char* path, char* const* arguments, char* const* environment);
long start_program_at(int folder, const char* path, char* const* arguments,
                      char* const* environment, int flags);

// A line on standard error: "inflight: " and the parts.
void report(std::initializer_list<std::string_view> parts);
[[noreturn]] void end_process(int status);

}  // namespace inflight::loader
