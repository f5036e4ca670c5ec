// A file descriptor of this library's own, in a process whose program may close it or put another
// file under its number.
#pragma once
#include <cstdint>

namespace inflight::host {

// Remembers which file it opened. Programs close all descriptors above 2 (before they become a
// daemon, for example), and the system then gives the number to the next file that they open.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  // Owns the file that is open as `fd`, under a high number if the system allows one, where
  // programs seldom look. Afterwards `fd` is closed or is fd(). A negative `fd` owns nothing.
  static OwnDescriptor take(int fd);
  OwnDescriptor(OwnDescriptor&&) noexcept;
  OwnDescriptor& operator=(OwnDescriptor&&) noexcept;
  ~OwnDescriptor();

  // The descriptor, or -1 if it owns nothing or the number is no longer that of its file. Ask each
  // time: between two calls the program may have closed it. Costs one system call (fstat).
  int fd() const;
  bool owns() const { return number_ >= 0; }  // at take(), whatever the program did since

 private:
  int number_ = -1;
  std::uint64_t system_ = 0, inode_ = 0;
};

}  // namespace inflight::host
