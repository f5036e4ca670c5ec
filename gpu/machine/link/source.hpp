// The source lines of an instruction, from its .loc directives.
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
      function;  // symbol of the inlined function that contains it; empty: none is named
};
// The instruction's own line, then the calls that inlining replaced, innermost first. Empty without
// -lineinfo.
std::vector<SourceLine> source_of(const Place& at);

}  // namespace inflight::machine
