// Files by system calls, whose errors say why something failed.
#include "gpu/host/output_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace inflight::host {
namespace {

// While an object of this class lives, a write past RLIMIT_FSIZE sends this thread no SIGXFSZ,
// which would end the process.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t waiting;
    waited_before_ = sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const timespec at_once{};
    if (!waited_before_)
      while (sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool waited_before_;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // Returns 0 or errno: some systems report only here that bytes could not be kept.
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_;
};

// The file that a path names at the end of its symbolic links.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

// Makes a file with a new name that begins with `path`, and changes `path` to that name.
int make_beside(std::string& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::uint32_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = std::uint32_t(attempt);
    char ending[16];
    std::snprintf(ending, sizeof ending, ".tmp-%08x", number);
    const std::string name = path + ending;
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return path = name, fd;
    if (errno != EEXIST) break;
  }
  return -1;
}

// Asks for the room before it changes the first byte. Returns 0 or errno.
int write_in_place(const std::string& path, std::string_view text) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  struct stat facts {};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) return errno;
  const NoSizeSignal quiet;
  const auto size = static_cast<off_t>(text.size());
  if (S_ISREG(facts.st_mode) && size > facts.st_size) {
    const int error = posix_fallocate(file.get(), 0, size);
    if (error == ENOSPC || error == EFBIG || error == EDQUOT) {
      if (ftruncate(file.get(), facts.st_size) != 0) return errno;
      return error;
    }
  }
  if (const int error = write_all(file.get(), text, S_ISREG(facts.st_mode) ? 0 : -1)) return error;
  if (S_ISREG(facts.st_mode) && ftruncate(file.get(), size) != 0) return errno;
  return file.close();
}

// Writes a new file and renames it. `retry` is set if the folder, not the disk, is the obstacle.
int write_beside(const std::string& path, std::string_view text, const struct stat* old,
                 bool& retry) {
  std::string name = path;
  Descriptor file(make_beside(name));
  if (file.get() < 0) {
    retry = errno == EACCES || errno == EPERM || errno == EROFS || errno == ENAMETOOLONG;
    return errno;
  }
  int error = write_all(file.get(), text);
  if (!error && old && fchmod(file.get(), old->st_mode & 07777) != 0) error = errno;
  const int closed = file.close();
  if (!error) error = closed;
  if (!error && rename(name.c_str(), path.c_str()) != 0) {
    error = errno;
    retry = error == EBUSY || error == EPERM || error == EACCES;
  }
  if (error) unlink(name.c_str());
  return error;
}

}  // namespace

int write_all(int fd, std::string_view bytes, std::int64_t at) {
  const NoSizeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t wrote =
        at < 0 ? write(fd, bytes.data(), bytes.size()) : pwrite(fd, bytes.data(), bytes.size(), at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    if (wrote == 0) return EIO;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    if (at >= 0) at += wrote;
  }
  return 0;
}

tl::expected<void, std::string> replace_file(const std::string& path, std::string_view text) {
  const std::string name = resolved(path);
  struct stat old {
  }, link{};
  const bool exists = stat(name.c_str(), &old) == 0;
  // A symbolic link to nothing: opening it makes the file that it names.
  const bool dangling = !exists && lstat(name.c_str(), &link) == 0;
  // A new file would be this user's.
  const bool foreign = exists && (old.st_uid != geteuid() || old.st_gid != getegid());
  bool in_place = dangling || foreign || (exists && !S_ISREG(old.st_mode));
  int error = exists && access(name.c_str(), W_OK) != 0 ? errno : 0;
  if (!error && !in_place) error = write_beside(name, text, exists ? &old : nullptr, in_place);
  if (in_place) error = write_in_place(name, text);
  if (!error) return {};
  return tl::unexpected(std::strerror(error) + std::string(exists && S_ISREG(old.st_mode)
                                                               ? "; the file that was there is kept"
                                                               : ""));
}

}  // namespace inflight::host
