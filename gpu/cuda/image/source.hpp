// Sources of an image's bytes, read piece by piece. A read past the end fails and does not fault.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "gpu/cuda/image/bytes.hpp"

namespace inflight::cuda {

class Source {
 public:
  virtual ~Source() = default;
  // The most bytes that there can be.
  virtual std::uint64_t size() const = 0;
  // [at, at + bytes), valid as long as the source; nothing if they are not all there.
  virtual std::optional<Bytes> take(std::uint64_t at, std::uint64_t bytes) = 0;
};

// Bytes in memory, which are not copied.
class Buffer : public Source {
 public:
  explicit Buffer(Bytes bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  std::optional<Bytes> take(std::uint64_t at, std::uint64_t bytes) override {
    return slice(bytes_, at, bytes);
  }

 private:
  Bytes bytes_;
};

// A source that copies what is taken, up to a limit.
class CopyingSource : public Source {
 public:
  std::optional<Bytes> take(std::uint64_t at, std::uint64_t bytes) override;

 protected:
  // Copies up to `bytes` bytes; how many it could.
  virtual std::uint64_t copy(std::uint64_t at, void* to, std::uint64_t bytes) = 0;

 private:
  std::deque<std::string> taken_;
  std::uint64_t total_ = 0;
};

// This process's memory from an address on, for pointers that programs pass without a length. The
// host's kernel copies, or says which pages are there, so that an unreadable address is an error
// and no signal.
class ProcessMemory : public CopyingSource {
 public:
  explicit ProcessMemory(const void* start) : start_(reinterpret_cast<std::uintptr_t>(start)) {}
  std::uint64_t size() const override { return ~start_; }
  // The bytes up to the first NUL; nothing if the readable bytes, or `most` bytes, end before it.
  std::optional<std::string> text(std::uint64_t most);

 protected:
  std::uint64_t copy(std::uint64_t at, void* to, std::uint64_t bytes) override;

 private:
  std::optional<std::string> copied_text(std::uint64_t most);

  std::uintptr_t start_;
};

// A regular file.
class File : public CopyingSource {
 public:
  // An error is the rest of a sentence that begins with the path.
  static tl::expected<File, std::string> open(const std::string& path);
  File(File&& other) noexcept;
  ~File() override;
  std::uint64_t size() const override { return size_; }
  // All of it.
  tl::expected<std::string, std::string> all();

 protected:
  std::uint64_t copy(std::uint64_t at, void* to, std::uint64_t bytes) override;

 private:
  File(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_;
  std::uint64_t size_;
};

}  // namespace inflight::cuda
