// Parses the file names of CUDA libraries: with a soname version, a full version or none, or with
// the hash before ".so" that wheels add.
#include "gpu/loader/stand_ins.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace inflight::loader {
namespace {

struct Library {
  std::string_view name;
  std::string_view version;  // used if the name has none
  bool of_driver = false;    // its files have the driver's version, its soname always `version`
};
constexpr Library libraries[] = {
    {"libcuda", "1", true}, {"libcudart", "13"}, {"libcublas", "13"},
    {"libcublasLt", "13"},  {"libcufft", "12"},  {"libnvJitLink", "13"},
    {"libnvrtc", "13"},     {"libcupti", "13"},  {"libnvidia-ml", "1", true}};
constexpr Library libraries_without_ptx[] = {{"libcurand", "10"}};

bool all_of(std::string_view text, bool (*test)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), test);
}
bool digit(char c) { return c >= '0' && c <= '9'; }
bool hexadecimal(char c) { return digit(c) || (c >= 'a' && c <= 'f'); }

// Removes and returns the text before the first `mark`, or all of it.
std::string_view take(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part(text.data(), end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

const Library* find(std::span<const Library> among, std::string_view stem) {
  for (const Library& each : among) {
    if (stem == each.name) return &each;
    std::string_view hash = stem;
    if (!hash.starts_with(each.name)) continue;
    hash.remove_prefix(each.name.size());
    if (!hash.starts_with('-')) continue;
    hash.remove_prefix(1);
    if (all_of(hash, hexadecimal)) return &each;
  }
  return nullptr;
}

bool name_of(std::span<const Library> among, std::string_view path, char* to, std::size_t bytes) {
  if (const std::size_t slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  const Library* library = find(among, take(path, '.'));
  if (!library || take(path, '.') != "so") return false;
  const std::string_view asked = take(path, '.');
  if (!asked.empty() && !all_of(asked, digit)) return false;
  const bool given = asked.empty() || library->of_driver;
  const std::string_view version = given ? library->version : asked;
  const std::string_view parts[] = {library->name, ".so.", version};
  std::size_t used = 0;
  for (std::string_view part : parts) {
    if (part.size() >= bytes - used) return false;
    std::memcpy(to + used, part.data(), part.size());
    used += part.size();
  }
  to[used] = 0;
  return true;
}

}  // namespace

bool stand_in_name(std::string_view path, char* to, std::size_t bytes) {
  return name_of(libraries, path, to, bytes);
}
bool name_without_ptx(std::string_view path, char* to, std::size_t bytes) {
  return name_of(libraries_without_ptx, path, to, bytes);
}

}  // namespace inflight::loader
