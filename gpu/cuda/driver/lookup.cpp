// Driver API: entry points by name.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "gpu/cuda/driver/entry.hpp"
#include "gpu/cuda/exports/stub.hpp"
#include "gpu/cuda/image/machine_code.hpp"

namespace inflight::cuda::driver {
namespace {

// CUdriverProcAddressQueryResult.
enum class Query : int { found = 0, no_symbol = 1, version_too_low = 2 };
constexpr unsigned long long per_thread_stream = 2;

constexpr int most_versions = 4;
struct Versions {
  std::string_view name;
  std::array<int, most_versions> since;  // 0: there is none
};
constexpr Versions versions[] = {
#define INFLIGHT_VERSIONS(name, ...) {#name, {__VA_ARGS__}},
#include "gpu/cuda/exports/versions.def"
#undef INFLIGHT_VERSIONS
};

void* entry_point(const std::string& name) {
  std::span calls(driver_calls, driver_calls_count);
  auto at = std::ranges::lower_bound(
      calls, name, {}, [](const ExportedCall& c) { return std::string_view(c.name); });
  return at != calls.end() && at->name == name ? at->address : nullptr;
}

std::string suffixed(std::string_view name, int version) {
  std::string result(name);
  return version > 1 ? result + "_v" + std::to_string(version) : result;
}

struct Found {
  void* address = nullptr;
  Query query = Query::no_symbol;
};

// The newest form of `name` that exists in `cuda_version`.
int form_of(std::string_view name, int cuda_version) {
  auto row = std::ranges::find(versions, name, &Versions::name);
  if (row == std::end(versions)) {
    for (int form = most_versions; form > 1; --form) {
      if (entry_point(suffixed(name, form))) return form;
    }
    return 1;
  }
  int form = 0;
  for (int since : row->since) form += since != 0 && since <= cuda_version;
  return form;
}

// Whether the driver is too old to have the function (--driver).
bool is_too_new(std::string_view name) {
  const auto row = std::ranges::find(versions, name, &Versions::name);
  return row != std::end(versions) && row->since[0] > settings().driver_version;
}

// Whether a name is of one form of a function, such as NAME_v2. A driver of CUDA 13.0 finds only
// NAME.
bool is_of_one_form(std::string_view name) {
  if (name.ends_with("_ptsz") || name.ends_with("_ptds")) return true;
  const std::size_t last = name.find_last_not_of("0123456789");
  return last + 1 < name.size() && name.substr(0, last + 1).ends_with("_v");
}

Found find(std::string_view name, int cuda_version, bool per_thread) {
  if (is_of_one_form(name) || is_too_new(name)) return {};
  int form = form_of(name, cuda_version);
  if (form == 0) return {nullptr, Query::version_too_low};
  std::string full = suffixed(name, form);
  for (const char* ending : {"_ptsz", "_ptds"}) {
    void* address = per_thread ? entry_point(full + ending) : nullptr;
    if (address) return {address, Query::found};
  }
  void* address = entry_point(full);
  return {address, address ? Query::found : Query::no_symbol};
}

Status look_up(const char* name, void** to, int cuda_version, unsigned long long flags,
               int* query) {
  if (!name || !to || flags > per_thread_stream) return Status::invalid_value;
  Found found = find(name, cuda_version, flags == per_thread_stream);
  *to = found.address;
  if (query) *query = int(found.query);
  return found.address ? Status::success : Status::not_found;
}

// The undocumented table that only NVIDIA's own runtime requests. Its compilers, linkers and
// libraries request others. All but cuFFT work without them.
constexpr std::array<std::uint8_t, 16> runtime_table{
    0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

// NVIDIA's libraries that do not run, by the beginning of the file's name.
constexpr std::string_view cufft = "libcufft";
constexpr std::string_view closed_libraries[] = {
    cufft, "libcudnn", "libnpp", "libnccl", "libnvjpeg", "libcutensor", "libnvinfer",
};
constexpr std::string_view closed =
    "is one of NVIDIA's closed libraries that need machine code or undocumented tables of NVIDIA's "
    "driver, which the software GPU has not: use a library that comes as source or PTX";
#define INFLIGHT_SHARED_RUNTIME                                      \
  "NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment or with " \
  "CMake's CUDA_RUNTIME_LIBRARY=Shared"
constexpr std::string_view run_it =
    "contains NVIDIA's own CUDA runtime, which runs only on NVIDIA's driver; run the program with "
    "'inflight run', which replaces that runtime, or build it "
    "with " INFLIGHT_SHARED_RUNTIME;
constexpr std::string_view stripped =
    "contains NVIDIA's own CUDA runtime, stripped and of an unknown release, so its calls cannot "
    "be redirected to the software GPU: build it from source, unstripped or "
    "with " INFLIGHT_SHARED_RUNTIME;
#undef INFLIGHT_SHARED_RUNTIME

// The message for users of NVIDIA's own runtime. The loader's audit module replaces that runtime
// where it can.
std::string advice_on_runtimes() {
  constexpr std::string_view module = "libinflight_audit.so";
  const std::string_view modules = std::getenv("LD_AUDIT") ? std::getenv("LD_AUDIT") : "";
  const std::size_t at = modules.find(module);
  if (at == modules.npos) return std::string(run_it);
  const std::size_t colon = modules.rfind(':', at);
  const std::size_t begin = colon == modules.npos ? 0 : colon + 1;
  const std::string file(modules.substr(begin, at + module.size() - begin));
  if (access(file.c_str(), R_OK) == 0) return std::string(stripped);
  return fmt::format(
      "contains NVIDIA's own CUDA runtime, which {} replaces; this installation of the software "
      "GPU lacks that file: reinstall or rebuild it",
      file);
}

Status refuse_table(const void** table, const void* id, void* from) {
  if (table) *table = nullptr;
  const std::string caller = object_of(from);
  const std::string_view file = std::string_view(caller).substr(caller.rfind('/') + 1);
  const bool of_runtime = id && std::memcmp(id, runtime_table.data(), runtime_table.size()) == 0;
  if (!of_runtime && !file.starts_with(cufft)) return Status::not_supported;
  const bool is_closed = std::ranges::any_of(
      closed_libraries, [&](std::string_view name) { return file.starts_with(name); });
  report_once("cuGetExportTable of " + caller,
              fmt::format("{} {}", caller, is_closed ? std::string(closed) : advice_on_runtimes()));
  return Status::not_supported;
}

}  // namespace

INFLIGHT_CU_BARE(cuGetProcAddress,
                 (const char* name, void** to, int cuda_version, unsigned long long flags),
                 { return look_up(name, to, cuda_version, flags, nullptr); })
// If there is a place for the query's result, a missing entry point is no error.
INFLIGHT_CU_PAIR(INFLIGHT_CU_ENTRY, nothing, cuGetProcAddress_v2, cuGetProcAddress_v2_ptsz,
                 (const char* name, void** to, int cuda_version, unsigned long long flags,
                  int* query),
                 {
                   if (second && flags == 0) flags = per_thread_stream;
                   Status status = look_up(name, to, cuda_version, flags, query);
                   return query && status == Status::not_found ? Status::success : status;
                 })
extern "C" __attribute__((visibility("default"))) int cuGetExportTable(const void** table,
                                                                       const void* id) {
  void* const from = __builtin_return_address(0);
  return enter(Needs::nothing, "cuGetExportTable", [&] { return refuse_table(table, id, from); });
}

}  // namespace inflight::cuda::driver
