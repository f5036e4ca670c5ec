// /dev/null stands for the files of GPUs, where the system has none.
#include "gpu/loader/device_files.hpp"

#include <charconv>

#include "gpu/loader/host.hpp"
#include "gpu/loader/replacement.hpp"
#include "gpu/loader/variables.hpp"

namespace inflight::loader {

bool is_device_file(std::string_view path, unsigned devices) {
  constexpr std::string_view prefix = "/dev/nvidia";
  if (!path.starts_with(prefix)) return false;
  path.remove_prefix(prefix.size());
  if (path == "ctl") return devices > 0;
  unsigned ordinal = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), ordinal);
  const bool number = error == std::errc() && end == path.data() + path.size();
  return number && (path.size() == 1 || path.front() != '0') && ordinal < devices;
}

namespace {

unsigned device_count = 1;

// Calls ask(path), and if there is no such file, and it is a GPU's, ask("/dev/null").
template <class Ask>
int asked(const char* path, Ask ask) {
  const long found = ask(path);
  return as_c_result(found < 0 && path && is_device_file(path, device_count) ? ask("/dev/null")
                                                                             : found);
}

int stat_file(const char* path, struct stat* to) {
  return asked(path, [to](const char* each) { return file_status(each, to); });
}
int stat_file_of_version(int, const char* path, struct stat* to) { return stat_file(path, to); }
int access_file(const char* path, int mode) {
  return asked(path, [mode](const char* each) { return file_access(each, mode); });
}

}  // namespace

void keep_device_count(const char* const* environment) {
  for (; environment && *environment; ++environment) {
    std::string_view text = *environment;
    if (!text.starts_with(devices_variable) || text.size() == devices_variable.size() ||
        text[devices_variable.size()] != '=')
      continue;
    text.remove_prefix(devices_variable.size() + 1);
    std::from_chars(text.data(), text.data() + text.size(), device_count);
  }
}

void show_device_files(const link_map& c_library) {
  const Replacements replacements(c_library);
  replacements.replace("stat", stat_file);
  replacements.replace("__xstat",
                       stat_file_of_version);  // for programs built with glibc before 2.33
  replacements.replace("access", access_file);
}

}  // namespace inflight::loader
