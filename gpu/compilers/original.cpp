// Finds NVIDIA's own library behind a stand-in. The dynamic loader would return the stand-in for
// its name, so this searches the folders that the loader would have searched.
#include "gpu/compilers/original.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/loader/stand_ins.hpp"

extern "C" {
// Written by gpu/loader/audit.cpp. Its presence also identifies a stand-in.
[[gnu::visibility(
    "default")]] char inflight_requested_path[inflight::loader::requested_path_bytes] = {};
}

namespace inflight::compilers {
namespace {

namespace fs = std::filesystem;

// The folders of libraries in wheels, below site-packages, for CUDA 13 and CUDA 12.
constexpr std::string_view wheel_folders[] = {"nvidia/cu13/lib", "nvidia/cu12/lib",
                                              "nvidia/cuda_nvrtc/lib", "nvidia/nvjitlink/lib"};
constexpr std::string_view toolkit_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib"};

class Folders {
 public:
  void add(const fs::path& folder) {
    std::error_code error;
    const std::string name = fs::absolute(folder, error).lexically_normal().string();
    if (!error && seen_.insert(name).second) list_.push_back(name);
  }
  void add_wheels(const fs::path& site_packages) {
    for (std::string_view folder : wheel_folders) add(site_packages / folder);
  }
  void add_toolkit(const fs::path& root) {
    for (std::string_view folder : toolkit_folders) add(root / folder);
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
  std::unordered_set<std::string> seen_;
};

// The file names of all loaded objects. That of the program itself is empty.
std::vector<std::string> loaded_objects() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

// Adds the loader's search path for an object: RPATH, LD_LIBRARY_PATH, RUNPATH and system folders.
void add_search_path(const std::string& object, Folders& folders) {
  void* handle = dlopen(object.empty() ? nullptr : object.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return;
  Dl_serinfo size{};
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0 && size.dls_size >= sizeof size) {
    std::vector<std::max_align_t> room(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* path = reinterpret_cast<Dl_serinfo*>(room.data());
    path->dls_size = size.dls_size;
    path->dls_cnt = size.dls_cnt;
    if (dlinfo(handle, RTLD_DI_SERINFO, path) == 0) {
      for (unsigned i = 0; i < path->dls_cnt; ++i) folders.add(path->dls_serpath[i].dls_name);
    }
  }
  dlclose(handle);
}

void add_sibling_wheels(const std::string& object, Folders& folders) {
  for (std::string_view part : {"/site-packages/", "/dist-packages/"}) {
    const auto at = object.rfind(part);
    if (at != object.npos) folders.add_wheels(object.substr(0, at + part.size()));
  }
}

void add_environment(const fs::path& prefix, Folders& folders) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) {
    if (entry.path().filename().string().starts_with("python"))
      folders.add_wheels(entry.path() / "site-packages");
  }
}

// The environment of the running Python, from the name it was started with. /proc/self/exe would
// not do: in a virtual environment the program is a symbolic link, which it resolves.
fs::path running_prefix() {
  std::ifstream file("/proc/self/cmdline");
  std::string program;
  std::getline(file, program, '\0');
  if (program.find('/') == program.npos) {
    const char* path = std::getenv("PATH");
    std::istringstream list(path ? path : "");
    std::error_code error;
    for (std::string folder; std::getline(list, folder, ':');) {
      if (fs::exists(fs::path(folder) / program, error)) return fs::path(folder).parent_path();
    }
    return {};
  }
  return fs::path(program).parent_path().parent_path();
}

// Adds the folders of the ldconfig configuration.
void add_configured(Folders& folders) {
  std::vector<fs::path> files{"/etc/ld.so.conf"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/etc/ld.so.conf.d", error))
    files.push_back(entry.path());
  std::sort(files.begin() + 1, files.end());
  for (const fs::path& file : files) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("/")) folders.add(line);
    }
  }
}

bool is_own(const std::string& path) {
  Dl_info self{};
  std::error_code error;
  return dladdr(reinterpret_cast<void*>(&library_folders), &self) != 0 && self.dli_fname &&
         fs::equivalent(path, self.dli_fname, error);
}

}  // namespace

std::vector<std::string> library_folders() {
  Folders folders;
  const auto objects = loaded_objects();
  for (const std::string& object : objects) add_search_path(object, folders);
  for (const std::string& object : objects) add_sibling_wheels(object, folders);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* prefix = std::getenv(variable)) {
      add_environment(prefix, folders);
      folders.add_toolkit(prefix);
    }
  }
  add_environment(running_prefix(), folders);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) folders.add_toolkit(root);
  }
  add_configured(folders);
  folders.add_toolkit("/usr/local/cuda");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    if (entry.path().filename().string().starts_with("cuda-")) folders.add_toolkit(entry.path());
  }
  return folders.take();
}

void Original::load() {
  const auto folders = library_folders();
  searched_ = folders.size();
  if (*inflight_requested_path && open(inflight_requested_path)) return;
  for (const std::string& folder : folders) {
    if (open(fs::path(folder) / soname_)) return;
  }
}

// For a path requested before, the dynamic loader returns the object of that request, which may be
// a stand-in. So this uses an unusual spelling of the path.
bool Original::open(const fs::path& path) {
  std::error_code error;
  // The dynamic loader would wait for a FIFO.
  if (!fs::is_regular_file(path, error) || is_own(path)) return false;
  const std::string spelling = (path.parent_path() / "." / path.filename()).string();
  void* handle = dlopen(spelling.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  if (!dlsym(handle, loader::requested_path_name.data())) {
    handle_ = handle;
    path_ = path;
    return true;
  }
  dlclose(handle);
  return false;
}

bool Original::found() {
  std::call_once(once_, [this] { load(); });
  return handle_ != nullptr;
}

void* Original::find(const char* name) {
  if (!found()) {
    cuda::report_once(soname_,
                      fmt::format("{} needs NVIDIA's own {}, which is in none of the {} folders of "
                                  "this program's library search path: pip install {}, or put "
                                  "its folder into LD_LIBRARY_PATH",
                                  name, soname_, searched_, wheel_));
    return nullptr;
  }
  void* function = dlsym(handle_, name);
  if (!function)
    cuda::report_once(name, fmt::format("{} has no {}: a newer one is needed", path_, name));
  return function;
}

}  // namespace inflight::compilers
