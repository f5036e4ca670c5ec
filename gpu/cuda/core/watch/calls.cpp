// The replacement functions, and the table slots through which objects call them.
#include "gpu/cuda/core/watch/calls.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/watch/objects.hpp"
#include "gpu/cuda/core/watch/pages.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/machine/memory/faults.hpp"

// Functions that are template arguments lose the attributes of their declarations.
#pragma GCC diagnostic ignored "-Wignored-attributes"

extern "C" {  // their forms under -D_FORTIFY_SOURCE
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
}

namespace inflight::cuda::watch {
namespace {

// The return address of the replaced call. Use it in the replacement function only.
#define INFLIGHT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void touch_parts(const iovec* parts, std::size_t count, bool write, const void* code) {
  for (std::size_t i = 0; parts && i < count; ++i)
    touched_by_call(parts[i].iov_base, parts[i].iov_len, write, code);
}

// A call whose parameters have a buffer followed by its size: `read`, `recvfrom`.
template <auto function, bool writes, class Signature = decltype(function)>
struct OnBuffer;
template <auto function, bool writes, class Result, class Buffer, class... More>
struct OnBuffer<function, writes, Result (*)(int, Buffer*, std::size_t, More...)> {
  static Result call(int file, Buffer* buffer, std::size_t bytes, More... more) {
    touched_by_call(buffer, bytes, writes, INFLIGHT_CALLER);
    return function(file, buffer, bytes, more...);
  }
};
template <auto function, bool writes, class Signature = decltype(function)>
struct OnParts;
template <auto function, bool writes, class Result, class... More>
struct OnParts<function, writes, Result (*)(int, const iovec*, int, More...)> {
  static Result call(int file, const iovec* parts, int count, More... more) {
    touch_parts(parts, std::size_t(count < 0 ? 0 : count), writes, INFLIGHT_CALLER);
    return function(file, parts, count, more...);
  }
};
template <auto function, bool writes, class Message>
ssize_t on_message(int socket, Message* message, int flags) {
  if (message) touch_parts(message->msg_iov, message->msg_iovlen, writes, INFLIGHT_CALLER);
  return function(socket, message, flags);
}
template <auto function>
std::size_t from_file(void* to, std::size_t size, std::size_t count, FILE* file) {
  touched_by_call(to, size * count, true, INFLIGHT_CALLER);
  return function(to, size, count, file);
}
template <auto function>
std::size_t to_file(const void* from, std::size_t size, std::size_t count, FILE* file) {
  touched_by_call(from, size * count, false, INFLIGHT_CALLER);
  return function(from, size, count, file);
}
std::size_t from_file_checked(void* to, std::size_t room, std::size_t size, std::size_t count,
                              FILE* file) {
  touched_by_call(to, size * count, true, INFLIGHT_CALLER);
  return __fread_chk(to, room, size, count, file);
}
int put_text(const char* text, FILE* file) {
  touched_by_call(text, std::strlen(text), false, INFLIGHT_CALLER);
  return std::fputs(text, file);
}
ssize_t random_bytes(void* to, std::size_t bytes, unsigned flags) {
  touched_by_call(to, bytes, true, INFLIGHT_CALLER);
  return getrandom(to, bytes, flags);
}

// If a touch raised one of these signals in a thread that blocks it, the process would end.
sigset_t without_ours(sigset_t set) {
  sigdelset(&set, SIGSEGV);
  sigdelset(&set, SIGTRAP);
  return set;
}
template <auto function>
int set_mask(int how, const sigset_t* next, sigset_t* before) {
  if (!next || how == SIG_UNBLOCK) return function(how, next, before);
  const sigset_t allowed = without_ours(*next);
  return function(how, &allowed, before);
}
int set_action(int signal, const struct sigaction* next, struct sigaction* before) {
  struct sigaction action {};
  if (next) action = *next, action.sa_mask = without_ours(next->sa_mask);
  const struct sigaction* const given = next ? &action : nullptr;
  if (signal == SIGSEGV && machine::replace_program_handler(given, before)) return 0;
  return sigaction(signal, given, before);
}
sighandler_t set_handler(int number, sighandler_t handler) {
  struct sigaction next {
  }, before{};
  next.sa_handler = handler;
  next.sa_flags = SA_RESTART;
  if (number == SIGSEGV && machine::replace_program_handler(&next, &before))
    return before.sa_handler;
  return signal(number, handler);
}

struct Row {
  std::string_view name;
  void* function;
};
template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Row rows[] = {
    {"read", address(OnBuffer<&::read, true>::call)},
    {"pread", address(OnBuffer<&::pread, true>::call)},
    {"pread64", address(OnBuffer<&::pread64, true>::call)},
    {"recv", address(OnBuffer<&::recv, true>::call)},
    {"recvfrom", address(OnBuffer<&::recvfrom, true>::call)},
    {"__read_chk", address(OnBuffer<&::__read_chk, true>::call)},
    {"__pread_chk", address(OnBuffer<&::__pread_chk, true>::call)},
    {"__pread64_chk", address(OnBuffer<&::__pread64_chk, true>::call)},
    {"__recv_chk", address(OnBuffer<&::__recv_chk, true>::call)},
    {"__recvfrom_chk", address(OnBuffer<&::__recvfrom_chk, true>::call)},
    {"write", address(OnBuffer<&::write, false>::call)},
    {"pwrite", address(OnBuffer<&::pwrite, false>::call)},
    {"pwrite64", address(OnBuffer<&::pwrite64, false>::call)},
    {"send", address(OnBuffer<&::send, false>::call)},
    {"sendto", address(OnBuffer<&::sendto, false>::call)},
    {"readv", address(OnParts<&::readv, true>::call)},
    {"preadv", address(OnParts<&::preadv, true>::call)},
    {"preadv64", address(OnParts<&::preadv64, true>::call)},
    {"writev", address(OnParts<&::writev, false>::call)},
    {"pwritev", address(OnParts<&::pwritev, false>::call)},
    {"pwritev64", address(OnParts<&::pwritev64, false>::call)},
    {"recvmsg", address(on_message<&::recvmsg, true, msghdr>)},
    {"sendmsg", address(on_message<&::sendmsg, false, const msghdr>)},
    {"fread", address(from_file<&::fread>)},
    {"fread_unlocked", address(from_file<&::fread_unlocked>)},
    {"__fread_chk", address(from_file_checked)},
    {"fwrite", address(to_file<&::fwrite>)},
    {"fwrite_unlocked", address(to_file<&::fwrite_unlocked>)},
    {"fputs", address(put_text)},
    {"getrandom", address(random_bytes)},
    {"sigprocmask", address(set_mask<&::sigprocmask>)},
    {"pthread_sigmask", address(set_mask<&::pthread_sigmask>)},
    {"sigaction", address(set_action)},
    {"signal", address(set_handler)},
};

const Row* row_of(std::string_view name) {
  for (const Row& each : rows)
    if (each.name == name) return &each;
  return nullptr;
}

struct Slots {
  std::uint64_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::uint64_t read_only = 0, read_only_end = 0;  // read-only after relocation

  void fill(const ElfW(Rela) * entries, std::uint64_t bytes) const {
    for (std::uint64_t i = 0; entries && i < bytes / sizeof *entries; ++i) {
      const std::uint64_t type = ELF64_R_TYPE(entries[i].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const Row* const row = row_of(names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name);
      if (row) set(base + entries[i].r_offset, row->function);
    }
  }
  void set(std::uint64_t slot, void* function) const {
    auto* const place = reinterpret_cast<void**>(slot);
    if (*place == function) return;
    void* const page = reinterpret_cast<void*>(slot / page_bytes * page_bytes);
    const bool closed = slot >= read_only && slot < read_only_end;
    if (closed && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(place, function, __ATOMIC_RELAXED);
    if (closed) mprotect(page, page_bytes, PROT_READ);
  }
};

void redirect(const dl_phdr_info& object) {
  Slots slots;
  slots.base = object.dlpi_addr;
  const ElfW(Dyn)* entries = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uint64_t at = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) entries = reinterpret_cast<const ElfW(Dyn)*>(at);
    if (segment.p_type != PT_GNU_RELRO) continue;
    slots.read_only = at / page_bytes * page_bytes;
    slots.read_only_end = (at + segment.p_memsz) / page_bytes * page_bytes;
  }
  const ElfW(Rela)* calls = nullptr, *others = nullptr;
  std::uint64_t call_bytes = 0, other_bytes = 0;
  for (; entries && entries->d_tag != DT_NULL; ++entries) {
    const std::uint64_t value = entries->d_un.d_val;
    if (entries->d_tag == DT_SYMTAB) slots.symbols = reinterpret_cast<const ElfW(Sym)*>(value);
    if (entries->d_tag == DT_STRTAB) slots.names = reinterpret_cast<const char*>(value);
    if (entries->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(value);
    if (entries->d_tag == DT_RELA) others = reinterpret_cast<const ElfW(Rela)*>(value);
    if (entries->d_tag == DT_PLTRELSZ) call_bytes = value;
    if (entries->d_tag == DT_RELASZ) other_bytes = value;
  }
  if (!slots.symbols || !slots.names) return;
  slots.fill(calls, call_bytes);
  slots.fill(others, other_bytes);
}

// The C library and the loader call their own functions directly. The vdso is no file.
bool is_left_alone(std::string_view path) {
  return is_own(path) || path.find("/libc.so.") != path.npos ||
         path.find("/ld-linux") != path.npos || path.starts_with("linux-vdso");
}

// Another thread may be loading an object, whose slots the loader still writes. It has a lock
// meanwhile, which this call takes. No lock of ours may be held, since functions of the object may
// come here.
void wait_for_loading() {
  if (void* const program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD)) dlclose(program);
}

}  // namespace

void prepare_calls() {
  static std::mutex mutex;
  static std::atomic<unsigned long long> seen{0};  // objects ever loaded
  machine::answer_first();
  unsigned long long now = 0;
  std::vector<std::uint64_t> loaded;
  each_object([&](const dl_phdr_info& info) { now = info.dlpi_adds; });
  if (now == seen) return;
  each_object([&](const dl_phdr_info& info) {
    now = info.dlpi_adds;
    loaded.push_back(info.dlpi_addr);
  });
  wait_for_loading();
  const std::lock_guard lock(mutex);
  each_object([&](const dl_phdr_info& info) {
    const bool complete = std::find(loaded.begin(), loaded.end(), info.dlpi_addr) != loaded.end();
    if (complete && !is_left_alone(info.dlpi_name)) redirect(info);
  });
  seen = now;
}

}  // namespace inflight::cuda::watch
