// Asks what a path names before it reads, and how large it is before it allocates.
#include "gpu/host/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace inflight::host {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

// /dev/null, which people name where a file is needed and they have none.
bool is_null_device(const struct stat& facts) {
  return S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(1, 3);
}

// Empty for a regular file.
std::string why_not(mode_t mode) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return "is a folder";
  const char* const kind = S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
  return std::string("is not a regular file but ") + kind +
         ": save what it yields in a file, and name that one";
}

std::string cannot_be_read() { return std::string("cannot be read: ") + std::strerror(errno); }

}  // namespace

tl::expected<InputFile, std::string> InputFile::open(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (number < 0 && errno == ENXIO) return tl::unexpected(why_not(S_IFSOCK));
  if (number < 0) return tl::unexpected(cannot_be_read());
  OwnDescriptor file = OwnDescriptor::take(number);
  struct stat facts {};
  if (fstat(file.fd(), &facts) != 0) return tl::unexpected(cannot_be_read());
  if (is_null_device(facts)) return InputFile(std::move(file), 0);
  if (std::string why = why_not(facts.st_mode); !why.empty()) return tl::unexpected(std::move(why));
  return InputFile(std::move(file), std::uint64_t(facts.st_size));
}

std::uint64_t InputFile::read(std::uint64_t at, void* to, std::uint64_t bytes) const {
  const int number = fd();
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t made =
        pread(number, static_cast<char*>(to) + done, bytes - done, off_t(at + done));
    if (made < 0 && errno == EINTR) continue;
    if (made <= 0) break;
    done += std::uint64_t(made);
  }
  return done;
}

tl::expected<std::string, std::string> InputFile::all(std::uint64_t most) const {
  if (size_ > most)
    return tl::unexpected("has " + std::to_string(size_ / mebibyte) + " MiB; at most " +
                          std::to_string(most / mebibyte) + " MiB can be read");
  std::string made(size_, '\0');
  if (read(0, made.data(), size_) != size_)
    return tl::unexpected(std::string("cannot be read to its end"));
  return made;
}

tl::expected<std::string, std::string> read_file(const std::string& path, std::uint64_t most) {
  const auto file = InputFile::open(path);
  return file ? file->all(most) : tl::unexpected(file.error());
}

}  // namespace inflight::host
