// Where in the program's source an instruction stands, by its .loc directives.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/machine/link/numbering.hpp"

namespace inflight::machine {

struct SourceLine {
  std::string_view path;  // empty: the module names no such file
  std::uint32_t line = 0, column = 0;
  std::string_view
      function;  // the inlined one that it stands in, as the symbol is; empty: none is named
};
// The instruction's own line, then the calls that inlining replaced, from the innermost on. Empty
// without -lineinfo.
std::vector<SourceLine> source_of(const Place& at);

}  // namespace inflight::machine
