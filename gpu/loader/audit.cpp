// The audit module, libinflight_audit.so, which `inflight run` puts into LD_AUDIT. The dynamic
// loader calls it for every library search and every object, in the program and in its child
// processes (rtld-audit(7)). It redirects searches for CUDA libraries, and calls of a static CUDA
// runtime, to our libraries. Child processes load it even if they are started with a different
// environment.
#include <link.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "gpu/loader/binder.hpp"
#include "gpu/loader/device_files.hpp"
#include "gpu/loader/execution.hpp"
#include "gpu/loader/exported.hpp"
#include "gpu/loader/host.hpp"
#include "gpu/loader/machine_code.hpp"
#include "gpu/loader/needed_names.hpp"
#include "gpu/loader/redirect.hpp"
#include "gpu/loader/stand_ins.hpp"
#include "gpu/loader/static_runtime.hpp"

namespace inflight::loader {
namespace {

constexpr std::string_view module_name = "/libinflight_audit.so";

char own_folder[page_bytes];
char found_path[page_bytes];  // result of the last search; the dynamic loader copies it
char requested_path[requested_path_bytes];  // path searched for; empty for a bare file name
std::string_view program_name = "the program";
Islands* all_islands = nullptr;  // guarded by the lock of the dynamic loader

// The cookie of an object: its link_map, with the lowest bit set if it is one of our libraries.
constexpr std::uintptr_t ours = 1;

bool is_program(const link_map& object) { return !object.l_prev; }
std::string_view name_of(const link_map& object) {
  return *object.l_name ? std::string_view(object.l_name) : program_name;
}

// Libraries that 'make demo' does not build and a program may need.
constexpr std::string_view of_whole_builds[] = {"libcuda.so.1", "libcudart.so.12",
                                                "libcudart.so.13"};
bool reported_lacking[std::size(of_whole_builds)];

void report_lacking(std::string_view library) {
  for (std::size_t i = 0; i < std::size(of_whole_builds); ++i) {
    if (library != of_whole_builds[i] || reported_lacking[i]) continue;
    reported_lacking[i] = true;
    report({"this build of the software GPU has no ", library,
            ", which 'make demo' leaves out: 'make build' adds it."});
  }
}

constexpr std::string_view advice =
    "build it with NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment ('inflight env' prints "
    "that), or with CMAKE_CUDA_RUNTIME_LIBRARY=Shared.";

void report_irreplaceable(const link_map& object, const StaticRuntime& runtime) {
  const std::string_view name = name_of(object);
  if (runtime.empty()) {
    report({"'", name,
            "' contains NVIDIA's static CUDA runtime, stripped and of an unknown release, so its "
            "calls cannot be redirected to the software GPU: do not strip it, or ",
            advice});
  } else if (runtime.major() == 12) {
    report_lacking("libcudart.so.12");
  } else {
    report({"'", name,
            "' contains the static runtime of CUDA 11 or older, which the software GPU does not "
            "replace: build it with CUDA 12 or 13."});
  }
}

void replace(const link_map& object, const ElfView& elf, const StaticRuntime& runtime) {
  const Redirected made = redirect({elf, object.l_addr, &object}, runtime, binder_address());
  if (made.islands) {
    made.islands->next = all_islands;
    all_islands = made.islands;
  } else {
    report({"the static CUDA runtime in '", name_of(object), "' cannot be replaced, because ",
            made.failure, ": ", advice});
  }
}

void examine(const link_map& object, const ElfView& elf) {
  const bool device_code = elf.has_section(".nv_fatbin") || elf.has_section(".nvFatBinSegment");
  // An object contains the runtime only if it has device code or imports dlopen to load a driver.
  if (!device_code && !imports(elf, "dlopen")) return;
  const StaticRuntime runtime(elf);
  if (!runtime.empty() && serves(runtime.major())) return replace(object, elf, runtime);
  // For libraries, the driver reports this on first use, because most are never used.
  const bool elsewhere = runtime.empty() && imports(elf, "__cudaRegisterFatBinary");
  if (is_program(object) && device_code && !elsewhere) report_irreplaceable(object, runtime);
}

bool is_c_library(std::string_view path) { return path.find("/libc.so.") != path.npos; }

bool lies_in(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

void keep_requested_path(std::string_view name) {
  const bool fits = name.find('/') != name.npos && name.size() < sizeof requested_path;
  if (fits) std::memcpy(requested_path, name.data(), name.size());
  requested_path[fits ? name.size() : 0] = 0;
}

// Passes the path of the last search to the library of ours that it found.
void pass_requested_path(const link_map& object) {
  if (void* to = exported(object, requested_path_name))
    std::memcpy(to, requested_path, std::strlen(requested_path) + 1);
}

// Stores the path of our library of that name in found_path. False if there is none.
bool find_ours(std::string_view name) {
  return library_path(name, found_path, sizeof found_path) && file_exists(found_path);
}

// True if our library takes the place of the file `path` of one that runs as it is where it has
// PTX: the file has none, or the loader tries the last folders and has found no file.
bool serves_instead_of(const char* path, unsigned flag) {
  if (!std::strchr(path, '/')) return false;
  if (!file_exists(path)) return flag == LA_SER_DEFAULT;
  return lacks_ptx(MappedFile(path).bytes());
}
// find_ours() in the folder of such libraries.
bool find_ours_without_ptx(std::string_view name) {
  char path[128];
  if (folder_without_ptx.size() + name.size() > sizeof path) return false;
  std::memcpy(path, folder_without_ptx.data(), folder_without_ptx.size());
  std::memcpy(path + folder_without_ptx.size(), name.data(), name.size());
  return find_ours({path, folder_without_ptx.size() + name.size()});
}

// Processes a new object and returns its cookie.
std::uintptr_t process_object(const link_map& object) {
  const auto cookie = reinterpret_cast<std::uintptr_t>(&object);
  if (lies_in(object.l_name, own_folder)) {
    pass_requested_path(object);
    return cookie | ours;
  }
  restore_needed_names(object, [](const char* name) { return find_ours(name); });
  const MappedFile file(*object.l_name ? object.l_name : "/proc/self/exe");
  if (const auto elf = ElfView::of(file.bytes())) examine(object, *elf);
  return cookie;
}

// Finds the folder of this module from the value of LD_AUDIT.
void find_folder(std::string_view paths) {
  const std::size_t name = paths.find(module_name);
  if (name == paths.npos) return;
  const std::size_t before = paths.rfind(':', name);
  const std::size_t start = before == paths.npos ? 0 : before + 1;
  std::size_t used = 0;
  if (paths[start] != '/') {
    if (!current_folder(own_folder, sizeof own_folder)) return;
    used = std::strlen(own_folder);
    own_folder[used++] = '/';
  }
  if (used + (name - start) + 1 > sizeof own_folder) return;
  std::memcpy(own_folder + used, paths.data() + start, name - start);
  own_folder[used + name - start] = 0;
}

__attribute__((constructor)) void start(int, char** arguments, char** environment) {
  if (arguments && *arguments) program_name = *arguments;
  keep_inherited_variables(environment);
  keep_device_count(environment);
  for (; environment && *environment; ++environment) {
    constexpr std::string_view variable = "LD_AUDIT=";
    std::string_view text = *environment;
    if (!text.starts_with(variable)) continue;
    text.remove_prefix(variable.size());
    find_folder(text);
  }
  set_library_folder(own_folder);
}

}  // namespace
}  // namespace inflight::loader

using namespace inflight::loader;
#define INFLIGHT_AUDIT extern "C" __attribute__((visibility("default")))

INFLIGHT_AUDIT unsigned la_version(unsigned version) { return *own_folder ? version : 0; }

INFLIGHT_AUDIT unsigned la_objopen(link_map* object, Lmid_t space, std::uintptr_t* cookie) {
  if (space == LM_ID_BASE && is_program(*object)) set_program(object);
  if (space == LM_ID_BASE && is_c_library(object->l_name)) {
    pass_variables_to_children(*object);
    show_device_files(*object);
  }
  *cookie = process_object(*object);
  return 0;
}

// Searches by our own libraries are for NVIDIA's libraries and are not redirected.
INFLIGHT_AUDIT char* la_objsearch(const char* name, std::uintptr_t* cookie, unsigned flag) {
  char file[256];
  if (flag == LA_SER_ORIG) keep_requested_path(name);
  const bool redirected =
      flag == LA_SER_ORIG && !(*cookie & ours) && stand_in_name(name, file, sizeof file);
  if (redirected && find_ours(file)) return found_path;
  if (redirected) report_lacking(file);
  if (!(*cookie & ours) && name_without_ptx(name, file, sizeof file) &&
      serves_instead_of(name, flag) && find_ours_without_ptx(file))
    return found_path;
  return const_cast<char*>(name);
}

INFLIGHT_AUDIT unsigned la_objclose(std::uintptr_t* cookie) {
  const auto* object = reinterpret_cast<const void*>(*cookie & ~ours);
  for (Islands** each = &all_islands; *each; each = &(*each)->next) {
    Islands* islands = *each;
    if (islands->object != object) continue;
    *each = islands->next;
    release(islands);
    break;
  }
  return 0;
}
