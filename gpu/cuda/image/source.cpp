// Copying out of memory and files of unknown size.
#include "gpu/cuda/image/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace inflight::cuda {
namespace {

constexpr std::uint64_t piece = 1 << 20;  // copied at once, so that a false size costs little
constexpr std::uint64_t largest_total = 1ull << 30;  // of one source

// What process_vm_readv does, where a sandbox forbids that call.
ssize_t read_through_file(std::uintptr_t from, void* to, std::size_t bytes) {
  static const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  return memory < 0 ? -1 : pread(memory, to, bytes, static_cast<off_t>(from));
}

ssize_t read_memory(std::uintptr_t from, void* to, std::size_t bytes) {
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  const ssize_t made = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  const bool forbidden = made < 0 && (errno == EPERM || errno == ENOSYS);
  return forbidden ? read_through_file(from, to, bytes) : made;
}

}  // namespace

std::optional<Bytes> CopyingSource::take(std::uint64_t at, std::uint64_t bytes) {
  if (at > size() || bytes > size() - at || bytes > largest_total - total_) return std::nullopt;
  std::string made;
  while (made.size() < bytes) {
    const std::uint64_t before = made.size(), more = std::min(piece, bytes - before);
    made.resize(before + more);
    if (copy(at + before, made.data() + before, more) != more) return std::nullopt;
  }
  total_ += bytes;
  return bytes_of(taken_.emplace_back(std::move(made)));
}

std::uint64_t ProcessMemory::copy(std::uint64_t at, void* to, std::uint64_t bytes) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t made =
        read_memory(start_ + at + done, static_cast<char*>(to) + done, bytes - done);
    if (made <= 0) break;
    done += static_cast<std::uint64_t>(made);
  }
  return done;
}

std::optional<std::string> ProcessMemory::text(std::uint64_t most) {
  // A piece ends where a page may end, so that the last one is read to its end.
  constexpr std::uint64_t step = 4096;
  std::string made;
  while (made.size() < most) {
    const std::uint64_t before = made.size(), more = step - (start_ + before) % step;
    made.resize(before + more);
    if (copy(before, made.data() + before, more) != more) return std::nullopt;
    const auto end = made.find('\0', before);
    if (end == made.npos) continue;
    made.resize(end);
    return made;
  }
  return std::nullopt;
}

tl::expected<File, std::string> File::open(const std::string& path) {
  const auto failed = [] {
    return tl::unexpected("cannot be read: " + std::string(std::strerror(errno)));
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed();
  struct stat status {};
  File file(descriptor, 0);
  if (fstat(descriptor, &status) != 0) return failed();
  if (S_ISDIR(status.st_mode)) return tl::unexpected(std::string("is a folder"));
  if (!S_ISREG(status.st_mode)) return tl::unexpected(std::string("is no regular file"));
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

File::File(File&& other) noexcept
    : CopyingSource(std::move(other)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::uint64_t File::copy(std::uint64_t at, void* to, std::uint64_t bytes) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t made = pread(descriptor_, static_cast<char*>(to) + done, bytes - done,
                               static_cast<off_t>(at + done));
    if (made <= 0) break;
    done += static_cast<std::uint64_t>(made);
  }
  return done;
}

tl::expected<std::string, std::string> File::all() {
  std::string made(size_, '\0');
  made.resize(copy(0, made.data(), size_));
  if (made.size() != size_) return tl::unexpected(std::string("cannot be read to its end"));
  return made;
}

}  // namespace inflight::cuda
