// Finds libcuda.so.1 and looks up its entry points.
#include "gpu/cuda/runtime/driver_library.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace inflight::cuda {
namespace {

// cudaDriverEntryPointQueryResult, and cuGetProcAddress's results.
enum QueryResult { found = 0, not_found = 1 };

struct EntryPoint {
  void* address = nullptr;
  int query = not_found;
};

// The driver library that the program has loaded, else the one beside this library.
void* driver_library() {
  if (void* loaded = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) return loaded;
  Dl_info self{};
  if (!dladdr(reinterpret_cast<void*>(&driver_library), &self) || !self.dli_fname) return nullptr;
  const auto beside = std::filesystem::path(self.dli_fname).replace_filename("libcuda.so.1");
  return dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Looks up the name for the flags and the version in libcuda.so.1.
EntryPoint driver_symbol(const std::string& name, int version, std::uint64_t flags) {
  static void* library = driver_library();
  using Lookup = int (*)(const char*, void**, int, std::uint64_t, int*);
  using Init = int (*)(unsigned);
  // As on a GPU, the lookup initialises the driver but makes no context.
  static auto init = library ? reinterpret_cast<Init>(dlsym(library, "cuInit")) : nullptr;
  if (init) init(0);
  static auto lookup =
      library ? reinterpret_cast<Lookup>(dlsym(library, "cuGetProcAddress_v2")) : nullptr;
  EntryPoint result;
  if (lookup) lookup(name.c_str(), &result.address, version, flags, &result.query);
  return result;
}

}  // namespace

Status find_driver_entry_point(const char* name, void** place, unsigned version,
                               unsigned long long flags, bool per_thread, int* result) {
  constexpr unsigned long long per_thread_flag = 2;
  if (!name || !place || flags > per_thread_flag) return Status::invalid_value;
  const auto [address, query] =
      driver_symbol(name, int(version), per_thread ? per_thread_flag : flags);
  *place = address;
  if (result) *result = query;
  return address || result ? Status::success : Status::not_found;
}

}  // namespace inflight::cuda
