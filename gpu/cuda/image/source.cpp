// Copies bytes from memory and files of unknown size.
#include "gpu/cuda/image/source.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace inflight::cuda {
namespace {

constexpr std::uint64_t piece = 1 << 20;  // bytes per copy, so that a false size costs little
constexpr std::uint64_t largest_total = 1ull << 30;  // of one source

// Replaces process_vm_readv if a sandbox forbids that call. After a fork, a kept descriptor would
// show the parent's memory.
ssize_t read_through_file(std::uintptr_t from, void* to, std::size_t bytes) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return -1;
  const ssize_t made = pread(memory, to, bytes, static_cast<off_t>(from));
  close(memory);
  return made;
}

ssize_t read_memory(std::uintptr_t from, void* to, std::size_t bytes) {
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  const ssize_t made = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  const bool forbidden = made < 0 && (errno == EPERM || errno == ENOSYS);
  return forbidden ? read_through_file(from, to, bytes) : made;
}

constexpr std::size_t page = 4096;

// The bytes from an address on that can be read in place, as found by one call of the host's
// kernel. 0 if a sandbox forbids the call.
std::size_t readable(std::uintptr_t from) {
  constexpr std::size_t pages = 64;
  char bytes[pages];
  iovec of_each[pages];
  const std::uintptr_t first = from / page * page;
  of_each[0] = {reinterpret_cast<void*>(from), 1};
  for (std::size_t i = 1; i < pages; ++i)
    of_each[i] = {reinterpret_cast<void*>(first + i * page), 1};
  const iovec all{bytes, pages};
  const ssize_t made = process_vm_readv(getpid(), &all, 1, of_each, pages, 0);
  return made <= 0 ? 0 : first + static_cast<std::size_t>(made) * page - from;
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
  const char* const begin = reinterpret_cast<const char*>(start_);
  for (std::uint64_t known = 0; known < most;) {
    const std::uint64_t more = std::min<std::uint64_t>(readable(start_ + known), most - known);
    if (more == 0) return known == 0 ? copied_text(most) : std::nullopt;
    const void* const end = std::memchr(begin + known, 0, more);
    if (end) return std::string(begin, static_cast<const char*>(end));
    known += more;
  }
  return std::nullopt;
}

std::optional<std::string> ProcessMemory::copied_text(std::uint64_t most) {
  // Each piece ends at a page's end, so that the last readable page is read completely.
  std::string made;
  while (made.size() < most) {
    const std::uint64_t before = made.size(), more = page - (start_ + before) % page;
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
  auto file = host::InputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return File(std::move(*file));
}

std::uint64_t File::copy(std::uint64_t at, void* to, std::uint64_t bytes) {
  return file_.read(at, to, bytes);
}

tl::expected<std::string, std::string> File::all() const { return file_.all(largest_file); }

}  // namespace inflight::cuda
