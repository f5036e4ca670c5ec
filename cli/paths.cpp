// Finds the libraries and programs.
#include "cli/paths.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace inflight::cli {
namespace fs = std::filesystem;

std::string executable_folder() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : self.parent_path().string();
}

tl::expected<std::string, std::string> library_folder() {
  // An installation keeps them in lib/inflight, apart from the system's own libcuda.so.1.
  for (const char* place : {"../lib/inflight", "../lib"}) {
    fs::path folder = (fs::path(executable_folder()) / place).lexically_normal();
    std::error_code error;
    if (fs::exists(folder / "libcudart.so.13", error)) return folder.string();
  }
  return tl::unexpected("libcudart.so.13 is missing beside this command (looked in " +
                        (fs::path(executable_folder()) / "../lib").lexically_normal().string() +
                        "): build it with 'make build' or reinstall it");
}

std::string headers_prefix() {
  const fs::path prefix = (fs::path(executable_folder()) / "..").lexically_normal();
  std::error_code error;
  const bool installed = fs::exists(prefix / "share/cmake/inflight/inflight-config.cmake", error);
  return installed ? (prefix / "").parent_path().string() : std::string();
}

std::string list_with(const char* variable, const std::string& entry, const char* separator) {
  const char* set = std::getenv(variable);
  std::string others = set ? separator + std::string(set) + separator : separator;
  const std::string own = separator + entry + separator;
  for (std::size_t at; (at = others.find(own)) != std::string::npos;)
    others.erase(at, own.size() - 1);
  return others.size() <= 2 ? entry : entry + others.substr(0, others.size() - 1);
}

std::string nvcc_flags_with(std::initializer_list<std::string_view> flags) {
  const char* set = std::getenv("NVCC_APPEND_FLAGS");
  std::string result = set ? set : "";
  for (const std::string_view flag : flags) {
    if ((' ' + result + ' ').find(' ' + std::string(flag) + ' ') != std::string::npos) continue;
    if (!result.empty()) result += ' ';
    result += flag;
  }
  return result;
}

std::string audit_with(const std::string& libraries) {
  std::string result = libraries + "/" + audit_module;
  const char* set = std::getenv("LD_AUDIT");
  std::istringstream entries(set ? set : "");
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.empty() && fs::path(entry).filename() != audit_module) result += ":" + entry;
  }
  return result;
}

std::string tools_folder() {
  return (fs::path(executable_folder()) / "../libexec/inflight/tools").lexically_normal().string();
}

std::string assembler() {
  return (fs::path(executable_folder()) / "../libexec/inflight/ptxas").lexically_normal().string();
}

namespace {
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}
}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_file(name) ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (is_file(candidate)) return candidate.string();
  }
  return {};
}

}  // namespace inflight::cli
