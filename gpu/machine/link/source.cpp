// Follows a location through inlined functions.
#include "gpu/machine/link/source.hpp"

#include <algorithm>

namespace inflight::machine {
namespace {

constexpr std::size_t deepest = 64;  // the chain could be a ring in a damaged module

std::string_view path_of(const ptx::Module& module, std::uint32_t file) {
  const auto found = std::find_if(module.files.begin(), module.files.end(),
                                  [&](const ptx::File& f) { return f.index == file; });
  return found == module.files.end() ? std::string_view{} : found->path;
}

}  // namespace

std::vector<SourceLine> source_of(const Place& at) {
  std::vector<SourceLine> lines;
  const auto& locations = at.function->locations;
  for (std::uint32_t i = at.instruction->location; i < locations.size() && lines.size() < deepest;
       i = locations[i].inlined_at) {
    const ptx::Location& l = locations[i];
    if (l.line == 0) continue;  // code that the compiler made of several lines
    lines.push_back({path_of(*at.module, l.file), l.line, l.column, l.function});
  }
  return lines;
}

}  // namespace inflight::machine
