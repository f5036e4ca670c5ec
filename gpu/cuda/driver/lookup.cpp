// Driver API: entry points by name.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
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

Found find(std::string_view name, int cuda_version, bool per_thread) {
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

// NVIDIA's libraries that request the driver's undocumented tables, and the messages for their
// users.
struct Caller {
  std::string_view part;  // of the file's name
  std::string_view text;  // empty: it works without the tables
};
constexpr std::string_view closed =
    "is one of NVIDIA's closed libraries, which carry machine code only and NVIDIA's own CUDA "
    "runtime; the software GPU cannot run them: use a library that comes as source or PTX";
constexpr Caller callers[] = {
    {"libnvrtc", ""},        {"libnvJitLink", ""},    {"libnvptxcompiler", ""},
    {"libnvvm", ""},         {"libcublas", closed},   {"libcudnn", closed},
    {"libcufft", closed},    {"libcurand", closed},   {"libcusolver", closed},
    {"libcusparse", closed}, {"libnpp", closed},      {"libnccl", closed},
    {"libnvjpeg", closed},   {"libcutensor", closed}, {"libnvinfer", closed},
};
#define INFLIGHT_SHARED_RUNTIME                                      \
  "NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment or with " \
  "CMake's CUDA_RUNTIME_LIBRARY=Shared"
constexpr std::string_view run_it =
    "contains NVIDIA's own CUDA runtime, which runs only on NVIDIA's driver; run the program with "
    "'inflight run', which replaces that runtime, or build it "
    "with " INFLIGHT_SHARED_RUNTIME;
constexpr std::string_view stripped =
    "requests tables that only NVIDIA's driver has; if it contains NVIDIA's own CUDA runtime, "
    "stripped and of an unknown release, its calls cannot be redirected to the software GPU: build "
    "it from source, unstripped or with " INFLIGHT_SHARED_RUNTIME
    "; if it contains a compiler, that works without them";
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

Status refuse_table(const void** table, void* from) {
  if (table) *table = nullptr;
  const std::string caller = object_of(from);
  const std::string_view file = std::string_view(caller).substr(caller.rfind('/') + 1);
  const auto known = std::ranges::find_if(
      callers, [&](const Caller& each) { return file.starts_with(each.part); });
  const std::string text =
      known == std::end(callers) ? advice_on_runtimes() : std::string(known->text);
  if (!text.empty()) report_once("cuGetExportTable", fmt::format("{} {}", caller, text));
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
// NVIDIA's own runtime needs undocumented tables, which only NVIDIA's driver has. Compilers and
// linkers request them too, but work without them.
extern "C" __attribute__((visibility("default"))) int cuGetExportTable(const void** table,
                                                                       const void*) {
  void* const from = __builtin_return_address(0);
  return enter(Needs::nothing, "cuGetExportTable", [&] { return refuse_table(table, from); });
}

}  // namespace inflight::cuda::driver
