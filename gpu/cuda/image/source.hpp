// Where an image's bytes come from, piece by piece: nothing is read before it is known to be there.
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
  // How many bytes there are at most.
  virtual std::uint64_t size() const = 0;
  // [at, at + bytes), valid as long as the source; nothing where they are not all there.
  virtual std::optional<Bytes> take(std::uint64_t at, std::uint64_t bytes) = 0;
};

// Bytes that lie where they are.
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

// A source that copies what is taken, and refuses to copy without end.
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

// This process's memory from an address on, which the program gave without a length. The kernel
// copies, so that an address that cannot be read is an answer and no signal.
class ProcessMemory : public CopyingSource {
 public:
  explicit ProcessMemory(const void* start) : start_(reinterpret_cast<std::uintptr_t>(start)) {}
  std::uint64_t size() const override { return ~start_; }
  // The bytes up to the first NUL; nothing where what can be read, or `most` bytes, end before it.
  std::optional<std::string> text(std::uint64_t most);

 protected:
  std::uint64_t copy(std::uint64_t at, void* to, std::uint64_t bytes) override;

 private:
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
