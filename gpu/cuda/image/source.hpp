// Sources of an image's bytes, read piece by piece. A read past the end fails without a fault.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/host/input_file.hpp"

namespace inflight::cuda {

class Source {
 public:
  virtual ~Source() = default;
  // The maximum number of bytes.
  virtual std::uint64_t size() const = 0;
  // The bytes [at, at + bytes), valid as long as the source. Nothing if some are missing.
  virtual std::optional<Bytes> take(std::uint64_t at, std::uint64_t bytes) = 0;
};

// A source of bytes in memory, which it does not copy.
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

// A source that copies the bytes that are taken, up to a limit.
class CopyingSource : public Source {
 public:
  std::optional<Bytes> take(std::uint64_t at, std::uint64_t bytes) override;

 protected:
  // Copies up to `bytes` bytes and returns how many it copied.
  virtual std::uint64_t copy(std::uint64_t at, void* to, std::uint64_t bytes) = 0;

 private:
  std::deque<std::string> taken_;
  std::uint64_t total_ = 0;
};

// This process's memory from an address on, for pointers that programs pass without a length. The
// host's kernel copies the bytes or says which pages are mapped, so that an unreadable address is
// an error and raises no signal.
class ProcessMemory : public CopyingSource {
 public:
  explicit ProcessMemory(const void* start) : start_(reinterpret_cast<std::uintptr_t>(start)) {}
  std::uint64_t size() const override { return ~start_; }
  // The bytes before the first NUL. Nothing if the readable bytes, or `most` bytes, have none.
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
  // An error is the rest of a sentence whose subject is the path.
  static tl::expected<File, std::string> open(const std::string& path);
  std::uint64_t size() const override { return file_.size(); }
  // The whole file, of at most largest_file bytes.
  tl::expected<std::string, std::string> all() const;
  // Programs linked in the usual way are smaller: their code reaches all of them in 31 bits.
  static constexpr std::uint64_t largest_file = 2ull << 30;

 protected:
  std::uint64_t copy(std::uint64_t at, void* to, std::uint64_t bytes) override;

 private:
  explicit File(host::InputFile file) : file_(std::move(file)) {}
  host::InputFile file_;
};

}  // namespace inflight::cuda
