// Finds the CPU's BLAS and its routines.
#include "gpu/blas/cpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::blas::cpu {
namespace {

// Debian and its derivatives give the BLAS that the administrator chose the first name. The others
// are well-known libraries.
constexpr const char* names[] = {"libblas.so.3", "libflexiblas.so.3", "libopenblas.so.0",
                                 "libblis.so.4", "libmkl_rt.so.2"};

struct Library {
  void* handle = nullptr;
  std::string path;
};

std::string path_of(void* handle) {
  Dl_info info{};
  void* const symbol = dlsym(handle, "dgemm_");
  return symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

Library open() {
  const std::string& chosen = cuda::settings().blas;
  const auto try_one = [](const std::string& name) -> Library {
    // The dynamic loader would wait for a FIFO.
    std::error_code error;
    if (name.find('/') != name.npos && !std::filesystem::is_regular_file(name, error)) return {};
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return {};
    Library library{handle, path_of(handle)};
    return library.path.empty() ? Library{} : library;
  };
  if (!chosen.empty()) {
    Library library = try_one(chosen);
    if (!library.handle)
      cuda::report_once("BLAS",
                        fmt::format("INFLIGHT_BLAS is '{}', which is not a shared library with a "
                                    "BLAS (no dgemm_): cuBLAS calls that need one fail.",
                                    chosen));
    return library;
  }
  for (const char* name : names)
    if (Library library = try_one(name); library.handle) return library;
  cuda::report_once(
      "BLAS",
      "cuBLAS calls need a BLAS library on the CPU, and none was found: install one (Debian: "
      "apt-get install libopenblas0-pthread), or set INFLIGHT_BLAS to its path.");
  return {};
}

const Library& library() {
  static const Library one = open();
  return one;
}

}  // namespace

bool found() { return library().handle != nullptr; }

Function find(char letter, std::string_view routine) {
  if (!found()) return nullptr;
  static std::once_flag warned;
  std::call_once(warned, [] {
    cuda::report_once(
        "BLAS is the CPU's",
        fmt::format(
            "cuBLAS products are computed by {}: their rounding is that library's, not a GPU's.",
            library().path));
  });
  static std::mutex mutex;
  static auto& functions = *new std::map<std::string, Function, std::less<>>;
  std::string name = fmt::format("{}{}_", letter, routine);
  const std::lock_guard lock(mutex);
  const auto [place, fresh] = functions.try_emplace(std::move(name));
  if (fresh)
    place->second = reinterpret_cast<Function>(dlsym(library().handle, place->first.c_str()));
  return place->second;
}

}  // namespace inflight::blas::cpu
