// System calls of Linux on x86-64.
#include "gpu/loader/host.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace inflight::loader {
namespace {

long call(long number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
          std::uint64_t d = 0, std::uint64_t e = 0, std::uint64_t f = 0) {
  long result;
  register std::uint64_t r10 asm("r10") = d;
  register std::uint64_t r8 asm("r8") = e;
  register std::uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <class T>
std::uint64_t word(T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

constexpr std::uint64_t this_folder = static_cast<std::uint64_t>(AT_FDCWD);
constexpr int no_file = -1;
constexpr long largest_error = 4095;
bool failed(long result) { return result < 0 && result >= -largest_error; }

constexpr int protection(Access access) {
  switch (access) {
    case Access::read:
      return PROT_READ;
    case Access::read_write:
      return PROT_READ | PROT_WRITE;
    case Access::read_execute:
      return PROT_READ | PROT_EXEC;
    case Access::read_write_execute:
      return PROT_READ | PROT_WRITE | PROT_EXEC;
  }
  return PROT_NONE;
}

}  // namespace

MappedFile::MappedFile(const char* path) {
  const long file = call(SYS_openat, this_folder, word(path), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return;
  struct stat status {};
  if (!failed(call(SYS_fstat, static_cast<std::uint64_t>(file), word(&status))) &&
      S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const long at =
        call(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE, static_cast<std::uint64_t>(file));
    if (!failed(at)) bytes_ = {reinterpret_cast<const std::byte*>(at), size};
  }
  call(SYS_close, static_cast<std::uint64_t>(file));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) call(SYS_munmap, word(bytes_.data()), bytes_.size());
}

bool file_exists(const char* path) {
  return call(SYS_faccessat, this_folder, word(path), F_OK) == 0;
}

bool current_folder(char* to, std::size_t bytes) {
  return !failed(call(SYS_getcwd, word(to), bytes));
}

// Linux before 4.17 treats the address only as a hint.
bool map_pages(std::uint64_t address, std::uint64_t bytes) {
  const long at =
      call(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, static_cast<std::uint64_t>(no_file));
  if (failed(at)) return false;
  if (static_cast<std::uint64_t>(at) == address) return true;
  unmap_pages(static_cast<std::uint64_t>(at), bytes);
  return false;
}

void unmap_pages(std::uint64_t address, std::uint64_t bytes) { call(SYS_munmap, address, bytes); }

bool protect_pages(std::uint64_t address, std::uint64_t bytes, Access access) {
  return !failed(
      call(SYS_mprotect, address, bytes, static_cast<std::uint64_t>(protection(access))));
}

long start_program(const char* path, char* const* arguments, char* const* environment) {
  return call(SYS_execve, word(path), word(arguments), word(environment));
}

long start_program_at(int folder, const char* path, char* const* arguments,
                      char* const* environment, int flags) {
  return call(SYS_execveat, static_cast<std::uint64_t>(folder), word(path), word(arguments),
              word(environment), static_cast<std::uint64_t>(flags));
}

long file_status(const char* path, struct stat* to) { return call(SYS_stat, word(path), word(to)); }

long file_access(const char* path, int mode) {
  return call(SYS_access, word(path), static_cast<std::uint64_t>(mode));
}

namespace {

// Whether a terminal may obey the byte: a control character, or the second byte in UTF-8 of one
// from U+0080 to U+009F, or the third of one that changes the direction of text.
bool obeyed(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t back) {
    return at < back ? 0u : static_cast<unsigned char>(text[at - back]);
  };
  const unsigned last = byte(0);
  if (last < 0x20 || last == 0x7f) return true;
  if (byte(1) == 0xc2) return last < 0xa0;
  if (byte(2) != 0xe2) return false;
  return (byte(1) == 0x80 && (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae))) ||
         (byte(1) == 0x81 && last >= 0xa6 && last <= 0xa9);
}

}  // namespace

void report(std::initializer_list<std::string_view> parts) {
  char line[2048];
  std::size_t used = 0;
  const auto add = [&](std::string_view part) {
    const std::size_t bytes = std::min(part.size(), sizeof line - 1 - used);
    for (std::size_t i = 0; i < bytes; ++i) line[used + i] = obeyed(part, i) ? '?' : part[i];
    used += bytes;
  };
  add("inflight: ");
  for (std::string_view part : parts) add(part);
  line[used++] = '\n';
  call(SYS_write, STDERR_FILENO, word(line), used);
}

void end_process(int status) {
  for (;;) call(SYS_exit_group, static_cast<std::uint64_t>(status));
}

}  // namespace inflight::loader
