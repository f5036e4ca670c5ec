// A memfd whose size is sealed. Whoever gets its descriptor asks the system who made it, under
// which name, and whether the seals are there, because another process may pass any file instead.
#include "gpu/host/shared_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace inflight::host {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

tl::unexpected<std::string> no(std::string why) { return tl::unexpected(std::move(why)); }
tl::unexpected<std::string> system_error(const char* what) {
  return no(std::string(what) + ": " + std::strerror(errno));
}

constexpr std::string_view memory = "/memfd:";

std::string link_of(int fd) {
  char text[256];
  const ssize_t length = readlink(path_of(fd).c_str(), text, sizeof text);
  return {text, length < 0 ? 0 : std::size_t(length)};
}

// What a descriptor of any kind tells.
tl::expected<SharedFile, std::string> look_at(int fd, std::string_view name) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return system_error("is not open");
  const std::string link = link_of(fd);
  std::string_view text = link;
  if (!S_ISREG(facts.st_mode) || !text.starts_with(memory))
    return no("is not memory that a process of this software GPU shares");
  text.remove_prefix(memory.size());
  if (!text.starts_with(name)) return no("is not '" + std::string(name) + "' of this software GPU");
  if (facts.st_uid != geteuid())
    return no("belongs to another user (" + std::to_string(facts.st_uid) + ")");
  return SharedFile{std::string(text), std::uint64_t(facts.st_size), facts.st_dev, facts.st_ino};
}

}  // namespace

bool may_write(std::uint64_t bytes) {
  rlimit most{};
  return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
         bytes <= most.rlim_cur;
}

OwnDescriptor make_shared_file(std::string_view name, std::uint64_t bytes) {
  const std::string text(name);
  OwnDescriptor file = OwnDescriptor::take(
      may_write(bytes) ? memfd_create(text.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1);
  const bool made =
      ftruncate(file.fd(), off_t(bytes)) == 0 && fcntl(file.fd(), F_ADD_SEALS, size_seals) == 0;
  return made ? std::move(file) : OwnDescriptor();
}

bool has_shared_name(int fd, std::string_view name) {
  const std::string link = link_of(fd);
  return link.starts_with(memory) && std::string_view(link).substr(memory.size()).starts_with(name);
}

tl::expected<SharedFile, std::string> shared_file(int fd, std::string_view name) {
  auto file = look_at(fd, name);
  if (!file) return file;
  struct statfs where {};
  const int seals = fcntl(fd, F_GET_SEALS), how = fcntl(fd, F_GETFL);
  if (seals < 0 || how < 0 || fstatfs(fd, &where) != 0) return system_error("cannot be examined");
  // Pages of hugetlbfs may be missing when they are touched.
  if ((seals & size_seals) != size_seals || where.f_type == HUGETLBFS_MAGIC)
    return no("can change its size, so it was not made by this software GPU");
  if ((how & O_ACCMODE) != O_RDWR || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
    return no("cannot be written");
  return file;
}

tl::expected<OwnDescriptor, std::string> reopen_shared_file(int fd, std::string_view name) {
  const auto given = look_at(fd, name);
  if (!given) return no(given.error());
  OwnDescriptor file = OwnDescriptor::take(open(path_of(fd).c_str(), O_RDWR | O_CLOEXEC));
  if (!file.owns()) return system_error("cannot be opened");
  const auto opened = shared_file(file.fd(), name);
  if (!opened) return no(opened.error());
  if (opened->system != given->system || opened->inode != given->inode)
    return no("was replaced while it was opened");
  return file;
}

}  // namespace inflight::host
