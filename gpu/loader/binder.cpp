// Loads our runtime with the program's own dlmopen, and fills the islands' slots.
#include "gpu/loader/binder.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "gpu/loader/exported.hpp"
#include "gpu/loader/host.hpp"
#include "gpu/loader/jump.hpp"
#include "gpu/loader/redirect.hpp"

// An unbound island jumps here, as in a call of its function, with two more words on the stack: the
// address of the Islands, and the index. Saves and restores all registers that may hold arguments.
asm(R"(
  .text
  .p2align 4
  .type inflight_loader_unbound, @function
inflight_loader_unbound:
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  sub $136, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov 200(%rsp), %rdi
  mov 208(%rsp), %rsi
  call inflight_loader_bind
  mov %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $136, %rsp
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  add $16, %rsp
  jmp *%r11
  .size inflight_loader_unbound, . - inflight_loader_unbound
)");

extern "C" __attribute__((visibility("hidden"))) void inflight_loader_unbound();

namespace inflight::loader {
namespace {

const char* library_folder = "";
link_map* program = nullptr;

struct Runtime {
  unsigned major;
  const char* library;
  std::atomic<void*> handle;
};
Runtime runtimes[] = {{13, "libcudart.so.13", nullptr}, {12, "libcudart.so.12", nullptr}};

Runtime* runtime_of(unsigned major) {
  for (Runtime& each : runtimes) {
    if (each.major == major) return &each;
  }
  return nullptr;
}

struct DynamicLoading {
  void* (*open)(Lmid_t, const char*, int) = nullptr;
  void* (*symbol)(void*, const char*) = nullptr;
  char* (*error)() = nullptr;
};

// They are in the C library, or in libdl before glibc 2.34.
DynamicLoading dynamic_loading() {
  DynamicLoading result;
  for (const link_map* each = program; each && !(result.open && result.symbol);
       each = each->l_next) {
    const std::string_view path = each->l_name;
    if (path.find("/libc.so.") == path.npos && path.find("/libdl.so.") == path.npos) continue;
    const auto find = [&](auto& function, const char* name) {
      using Function = std::remove_reference_t<decltype(function)>;
      if (!function) function = reinterpret_cast<Function>(exported(*each, name));
    };
    find(result.open, "dlmopen");
    find(result.symbol, "dlsym");
    find(result.error, "dlerror");
  }
  return result;
}

[[noreturn]] void give_up(const char* library, std::string_view why) {
  report({"the program's CUDA runtime cannot be replaced by '", library, "': ", why,
          ". Rebuild or reinstall Inflight."});
  end_process(127);
}

// Loads the runtime into the program's own namespace, so that all objects share it. Concurrent
// calls get the same handle.
void* load(Runtime& runtime, const DynamicLoading& dynamic) {
  if (void* handle = runtime.handle.load(std::memory_order_acquire)) return handle;
  char path[page_bytes];
  if (!library_path(runtime.library, path, sizeof path))
    give_up(runtime.library, "its path is too long");
  void* handle = dynamic.open(LM_ID_BASE, path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* why = dynamic.error ? dynamic.error() : nullptr;
    give_up(path, why ? why : "it cannot be loaded");
  }
  runtime.handle.store(handle, std::memory_order_release);
  return handle;
}

// A function of our runtime: where it has a thread's word for the copy that was called, as the
// distance from the thread pointer; 0 for functions that do not ask.
constexpr const char* mark_name = "inflight_runtime_mark";
constexpr int not_supported = 801;
int refused() { return not_supported; }

// Where an island is to jump: to its function, by way of its part that tells the runtime which copy
// of it was called, if the function asks for that.
std::uint64_t target(Islands& islands, std::uint64_t index) {
  Runtime* runtime = runtime_of(islands.major);
  const DynamicLoading dynamic = dynamic_loading();
  if (!runtime || !dynamic.open || !dynamic.symbol)
    give_up("libcudart.so", "the C library has no dlmopen");
  void* handle = load(*runtime, dynamic);
  const char* name = islands.names[index];
  if (void* function = dynamic.symbol(handle, name)) {
    using Mark = std::int64_t (*)(const char*);
    const auto mark = reinterpret_cast<Mark>(dynamic.symbol(handle, mark_name));
    const std::int64_t place = mark ? mark(name) : 0;
    const auto address = reinterpret_cast<std::uint64_t>(function);
    if (place == 0) return address;
    std::atomic_ref(islands.mark)
        .store(static_cast<std::uint64_t>(place), std::memory_order_relaxed);
    std::atomic_ref(islands.targets[index]).store(address, std::memory_order_relaxed);
    return island_address(islands, index) + marking_offset;
  }
  report({name,
          " is not supported by the software GPU and returns \"not supported\" (801): it is not "
          "among the functions of ",
          runtime->library, " that this build knows"});
  return reinterpret_cast<std::uint64_t>(&refused);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) std::uint64_t inflight_loader_bind(
    Islands* islands, std::uint64_t index) {
  const std::uint64_t function = target(*islands, index);
  std::atomic_ref(islands->slots[index]).store(function, std::memory_order_release);
  return function;
}

void set_library_folder(const char* folder) { library_folder = folder; }
void set_program(link_map* map) { program = map; }
std::uint64_t binder_address() { return reinterpret_cast<std::uint64_t>(&inflight_loader_unbound); }

bool library_path(std::string_view name, char* to, std::size_t bytes) {
  const std::size_t folder = std::strlen(library_folder);
  if (folder + name.size() + 2 > bytes) return false;
  std::memcpy(to, library_folder, folder);
  to[folder] = '/';
  std::memcpy(to + folder + 1, name.data(), name.size());
  to[folder + 1 + name.size()] = 0;
  return true;
}

bool serves(unsigned major) {
  const Runtime* runtime = runtime_of(major);
  char path[page_bytes];
  return runtime && library_path(runtime->library, path, sizeof path) && file_exists(path);
}

}  // namespace inflight::loader
