// A handle names a process and its descriptor, which is opened through /proc. The file's inode
// shows whether it is still the same file.
#include "gpu/cuda/core/sharing/handle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gpu/cuda/core/core.hpp"

namespace inflight::cuda {

Result<SharingHandle> sharing_handle(SharingHandle::Kind kind, int file, const Device& device) {
  struct stat facts {};
  if (fstat(file, &facts) != 0) return fail(Status::invalid_value);
  SharingHandle handle;
  handle.kind = kind;
  handle.process = getpid();
  handle.file = file;
  handle.device = device.index;
  handle.system = facts.st_dev;
  handle.inode = facts.st_ino;
  return handle;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<Descriptor> open_shared(const SharingHandle& handle, SharingHandle::Kind kind) {
  if (handle.mark != SharingHandle::right_mark || handle.kind != kind)
    return fail(Status::invalid_value);
  if (handle.process == getpid()) return fail(Status::invalid_context);
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat facts {};
  const int error = file.number() < 0 || fstat(file.number(), &facts) != 0 ? errno : 0;
  const bool same = !error && facts.st_dev == handle.system && facts.st_ino == handle.inode;
  if (same) return file;
  report_once(path, fmt::format("memory shared by process {} cannot be opened: {}", handle.process,
                                error == EACCES || error == EPERM
                                    ? "the system does not allow this process to access that one "
                                      "(another user's, or one that may not be traced)."
                                    : "it has ended or has freed the memory, or is in another "
                                      "container, whose processes are not visible here."));
  return fail(Status::map_failed);
}

int visible_ordinal(int index) {
  Core& core = Core::get();
  for (int i = 0; i < core.device_count(); ++i)
    if (core.device(i).index == index) return i;
  return current_device().ordinal;
}

}  // namespace inflight::cuda
