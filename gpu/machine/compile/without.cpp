// In builds without asmjit, kernels are interpreted.
#include "gpu/machine/compile/compile.hpp"

namespace inflight::machine::compile {

std::string unavailable() { return "this build has no assembler for it"; }

const Compiled& compiled(const Code&, BlockRows, bool) {
  static const Compiled none = [] {
    Compiled made;
    made.why_not = unavailable();
    return made;
  }();
  return none;
}

void request(const Code&, BlockRows) {}

}  // namespace inflight::machine::compile
