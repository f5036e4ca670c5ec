// A handle names a process and its descriptor, which is opened through /proc. The file's inode
// shows whether it is still the same file. The handle comes from another process and may name any
// file of any process, so nothing is opened for writing before all of it is checked.
#include "gpu/cuda/core/sharing/handle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "gpu/bytes/range.hpp"
#include "gpu/host/shared_file.hpp"

namespace inflight::cuda {
namespace {

using host::OwnDescriptor;
using Opened = tl::expected<OwnDescriptor, std::string>;  // an error is a sentence's predicate

std::string_view file_name(SharingHandle::Kind kind) {
  switch (kind) {
    case SharingHandle::Kind::event:
      return host::event_file;
    case SharingHandle::Kind::physical:
      return host::physical_memory_file;
    default:
      return host::device_memory_file;
  }
}

constexpr const char* gone =
    "has ended or has freed the memory, or is in another container, whose processes are not "
    "visible here";

tl::unexpected<std::string> cannot_enter() {
  const bool denied = errno == EACCES || errno == EPERM;
  return tl::unexpected<std::string>(
      denied ? "may not be accessed by this one (it is another user's, or may not be traced)"
             : gone);
}

// Whether the process whose folder in /proc this is has our real and effective user, and this
// number. A thread's folder shows its process's number.
bool is_our_user(int folder, int process) {
  const OwnDescriptor file =
      OwnDescriptor::take(openat(folder, "status", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 4096> text{};
  if (file.fd() < 0 || pread(file.fd(), text.data(), text.size() - 1, 0) <= 0) return false;
  const auto behind = [&](const char* word) {
    const char* const found = std::strstr(text.data(), word);
    return found ? found + std::strlen(word) : "";
  };
  int number = 0;
  unsigned real = 0, effective = 0;
  return std::sscanf(behind("\nTgid:"), "%d", &number) == 1 && number == process &&
         std::sscanf(behind("\nUid:"), "%u %u", &real, &effective) == 2 && real == getuid() &&
         effective == geteuid();
}

// The handle's file, open only as a name.
Opened find_file(const SharingHandle& handle) {
  const std::string folder = fmt::format("/proc/{}", handle.process);
  // While the folder is open, its number cannot come to mean another process.
  const OwnDescriptor process =
      OwnDescriptor::take(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (process.fd() < 0) return cannot_enter();
  if (!is_our_user(process.fd(), handle.process))
    return tl::unexpected<std::string>("belongs to another user, or has just ended");
  const std::string name = fmt::format("fd/{}", handle.file);
  OwnDescriptor file = OwnDescriptor::take(openat(process.fd(), name.c_str(), O_PATH | O_CLOEXEC));
  if (file.fd() < 0) return cannot_enter();
  return file;
}

Result<OwnDescriptor> checked(const SharingHandle& handle, SharingHandle::Kind kind, Opened found) {
  const auto refused = [&](const std::string& why) {
    report_once(fmt::format("shared by {}.{}", handle.process, handle.file),
                fmt::format("what process {} shares cannot be opened: {}.", handle.process, why));
    return fail(Status::map_failed);
  };
  if (!found) return refused("it " + found.error());
  auto file = host::reopen_shared_file(found->fd(), file_name(kind));
  if (!file) return refused("the file " + file.error());
  const auto there = host::shared_file(file->fd(), file_name(kind));
  if (!there || there->system != handle.system || there->inode != handle.inode)
    return refused(std::string("it ") + gone);
  if (kind == SharingHandle::Kind::event) return std::move(*file);
  const auto bytes = ByteRange::of(handle.offset, handle.bytes);
  if (!bytes || bytes->empty() || bytes->end() > there->bytes) return fail(Status::invalid_value);
  return std::move(*file);
}

bool is_handle(const SharingHandle& handle, SharingHandle::Kind kind) {
  return handle.mark == SharingHandle::right_mark && handle.kind == kind;
}

}  // namespace

Result<SharingHandle> sharing_handle(SharingHandle::Kind kind, int file, int device) {
  struct stat facts {};
  if (fstat(file, &facts) != 0) return fail(Status::invalid_value);
  SharingHandle handle;
  handle.kind = kind;
  handle.process = getpid();
  handle.file = file;
  handle.device = device;
  handle.system = facts.st_dev;
  handle.inode = facts.st_ino;
  return handle;
}

Result<OwnDescriptor> open_shared(const SharingHandle& handle, SharingHandle::Kind kind) {
  if (!is_handle(handle, kind)) return fail(Status::invalid_value);
  if (handle.process == getpid()) return fail(Status::invalid_context);
  return checked(handle, kind, find_file(handle));
}

Result<OwnDescriptor> open_own(const SharingHandle& handle, SharingHandle::Kind kind) {
  if (!is_handle(handle, kind) || handle.process != getpid()) return fail(Status::invalid_value);
  return checked(handle, kind, OwnDescriptor::take(fcntl(handle.file, F_DUPFD_CLOEXEC, 0)));
}

Status lost_descriptor() {
  report_once("lost descriptor",
              "the program has closed a file descriptor that it did not open, and the software GPU "
              "needed it: close only descriptors that your program opened itself.");
  return Status::operating_system;
}

}  // namespace inflight::cuda
