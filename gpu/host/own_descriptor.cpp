// A file's device and inode tell whether a number still names it: no other file has both while this
// one exists.
#include "gpu/host/own_descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace inflight::host {
namespace {

// The least number to ask for. Programs that close descriptors up to some number of their own
// choice, and those that use select(), stay below it.
constexpr rlim_t high = 1024;

int least_number() {
  rlimit most{};
  if (getrlimit(RLIMIT_NOFILE, &most) != 0) return 0;
  return int(most.rlim_cur / 2 < high ? most.rlim_cur / 2 : high);
}

}  // namespace

OwnDescriptor OwnDescriptor::take(int fd) {
  OwnDescriptor own;
  struct stat facts {};
  if (fd < 0 || fstat(fd, &facts) != 0) return own;
  if (const int moved = fcntl(fd, F_DUPFD_CLOEXEC, least_number()); moved >= 0) {
    close(fd);
    fd = moved;
  }
  own.number_ = fd;
  own.system_ = facts.st_dev;
  own.inode_ = facts.st_ino;
  return own;
}

OwnDescriptor::OwnDescriptor(OwnDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), system_(other.system_), inode_(other.inode_) {}

OwnDescriptor& OwnDescriptor::operator=(OwnDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(system_, other.system_);
  std::swap(inode_, other.inode_);
  return *this;
}

OwnDescriptor::~OwnDescriptor() {
  if (const int mine = fd(); mine >= 0) close(mine);
}

int OwnDescriptor::fd() const {
  struct stat now {};
  const bool same =
      number_ >= 0 && fstat(number_, &now) == 0 && now.st_dev == system_ && now.st_ino == inode_;
  return same ? number_ : -1;
}

}  // namespace inflight::host
