// The table of forms.
#include "gpu/machine/compile/forms.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/machine/compile/emit.hpp"

namespace inflight::machine::compile {
namespace {

constexpr std::size_t opcodes = static_cast<std::size_t>(ptx::Opcode::count_);
using ByOpcode = std::array<std::vector<Form>, opcodes>;

const ByOpcode& all() {
  // Never destroyed, since a helper thread may compile when the process ends.
  static const ByOpcode& forms = *[] {
    auto& by = *new ByOpcode;
    for (const auto& part :
         {integer_forms(), real_forms(), compare_forms(), move_forms(), memory_forms()})
      for (const Form& form : part) by[static_cast<std::size_t>(form.opcode)].push_back(form);
    return &by;
  }();
  return forms;
}

}  // namespace

const Form* find_form(const Site& site) {
  for (const Form& form : all()[static_cast<std::size_t>(site.in.opcode)])
    if (form.takes(site)) return &form;
  return nullptr;
}

bool is_value(const Site& site, Ref ref, const ptx::Operand& operand, unsigned bytes) {
  if (ref == no_ref) return false;
  if (static_cast<Base>(ref & 3) == Base::frame) return is_result(site, ref, operand, bytes);
  if (static_cast<Base>(ref & 3) == Base::warp) return bytes == 4;
  return true;
}

bool is_result(const Site& site, Ref ref, const ptx::Operand& operand, unsigned bytes) {
  if (operand.kind != ptx::Operand::Kind::reg || operand.second != ptx::none) return false;
  const ptx::Type type = site.code.function->registers[operand.index].type;
  return type != ptx::Type::pred && site.code.slots[operand.index] == ref &&
         std::max(2u, ptx::size_of(type)) == bytes;
}

bool is_predicate(const Site& site, Ref ref, const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::reg && operand.second == ptx::none &&
         site.code.function->registers[operand.index].type == ptx::Type::pred &&
         site.code.slots[operand.index] == ref;
}

}  // namespace inflight::machine::compile
