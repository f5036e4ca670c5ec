// How closely each instruction of a kernel follows the chip, for listeners, by instruction number.
#include <set>
#include <vector>

#include "gpu/machine/instruction/fidelity.hpp"
#include "gpu/machine/run/observe/events.hpp"

namespace inflight::machine {
namespace {

// By instruction of a function: does it end the kernel as unsupported?
std::vector<bool> refused_in(const Code& code) {
  std::vector<bool> refused(code.function->body.size());
  for (const Op& op : code.ops)
    if (op.is(Op::refuses)) refused[op.instruction] = true;
  return refused;
}

constexpr check::Fidelity unsupported{check::Fidelity::Kind::unsupported, "not supported"};

}  // namespace

void fidelities(const check::Kernel& kernel, void* to, check::Kernel::FidelityHook hook) {
  const Grid& grid = *static_cast<const Grid*>(kernel.context);
  std::vector<const Code*> queue{grid.entry};
  std::set<const Code*> seen{grid.entry};
  while (!queue.empty()) {
    const Code& code = *queue.back();
    queue.pop_back();
    const std::vector<bool> refused = refused_in(code);
    for (std::uint32_t i = 0; i < refused.size(); ++i)
      hook(to, code.first_number + i,
           refused[i]
               ? unsupported
               : fidelity_of(*code.function, code.function->body[i], grid.limits->architecture));
    for (const CallSite& call : code.calls)
      if (call.code && seen.insert(call.code).second) queue.push_back(call.code);
  }
}

}  // namespace inflight::machine
