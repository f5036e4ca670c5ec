// Files that users name for reading. Opening and reading one never waits, whatever the path names.
#pragma once
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "gpu/host/own_descriptor.hpp"

namespace inflight::host {

// A regular file, or /dev/null, which is empty. Every error is the rest of a sentence whose subject
// is the path.
class InputFile {
 public:
  // An error for folders, pipes, devices and sockets, whose end nobody knows.
  static tl::expected<InputFile, std::string> open(const std::string& path);
  std::uint64_t size() const { return size_; }  // when it was opened
  // Copies up to `bytes` bytes from byte `at` on, and returns how many it copied.
  std::uint64_t read(std::uint64_t at, void* to, std::uint64_t bytes) const;
  // The whole file, which may have `most` bytes.
  tl::expected<std::string, std::string> all(std::uint64_t most) const;
  int fd() const { return file_.fd(); }  // or -1, as OwnDescriptor::fd()

 private:
  InputFile(OwnDescriptor file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  OwnDescriptor file_;
  std::uint64_t size_;
};

// Opens a file and reads all of it.
tl::expected<std::string, std::string> read_file(const std::string& path, std::uint64_t most);

}  // namespace inflight::host
