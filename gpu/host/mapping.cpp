// Reads the process's list of mappings.
#include "gpu/host/mapping.hpp"

#include <cstdio>
#include <fstream>

namespace inflight::host {
namespace {

// The words for a mapping by its name in the list, which is a path or such as "[heap]".
std::string words_for(const std::string& name) {
  if (name == "[heap]") return "in the host's heap";
  if (name == "[stack]") return "on the host's stack";
  if (name.empty() || name.front() != '/')
    return "in memory that the host has mapped, such as a large malloc or the stack of a thread";
  return "in the code or data of " + name.substr(name.rfind('/') + 1);
}

}  // namespace

std::string place_of(std::uint64_t address) {
  std::ifstream list("/proc/self/maps");
  // A variable that begins as zero lies behind its file's data, in a mapping without a name.
  std::string last_file;
  std::uint64_t last_end = 0;
  for (std::string line; std::getline(list, line);) {
    unsigned long low = 0, high = 0;
    char access = 0;
    int name_at = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %c%*s %*s %*s %*s %n", &low, &high, &access, &name_at) <
        3)
      continue;
    std::string name = name_at ? line.substr(static_cast<std::size_t>(name_at)) : std::string();
    if (name.empty() && low == last_end) name = last_file;
    if (address >= low && address < high) return access == 'r' ? words_for(name) : std::string();
    last_end = high;
    last_file = name.starts_with('/') ? name : std::string();
  }
  return {};
}

}  // namespace inflight::host
