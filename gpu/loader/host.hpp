// System calls for the audit module, which is loaded before any C library and uses none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "gpu/cuda/image/bytes.hpp"

struct stat;

namespace inflight::loader {

// Maps a file for reading. bytes() is empty if that fails.
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
// Writes the working directory and a NUL to `to`. False if it does not fit.
bool current_folder(char* to, std::size_t bytes);

inline constexpr std::uint64_t page_bytes = 4096;
enum class Access { read, read_write, read_execute, read_write_execute };
// Maps zeroed pages at exactly that address. False if that fails.
bool map_pages(std::uint64_t address, std::uint64_t bytes);
void unmap_pages(std::uint64_t address, std::uint64_t bytes);
bool protect_pages(std::uint64_t address, std::uint64_t bytes, Access access);

// These return only on failure, with the negated error number.
long start_program(const char* path, char* const* arguments, char* const* environment);
long start_program_at(int folder, const char* path, char* const* arguments,
                      char* const* environment, int flags);

// stat() and access(). The result is 0 or the negated error number.
long file_status(const char* path, struct stat* to);
long file_access(const char* path, int mode);

// Writes a line to standard error: "inflight: " and the parts.
void report(std::initializer_list<std::string_view> parts);
[[noreturn]] void end_process(int status);

}  // namespace inflight::loader
