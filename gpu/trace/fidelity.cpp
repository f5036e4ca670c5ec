// Adds up executed instructions by fidelity.
#include "gpu/trace/fidelity.hpp"

namespace inflight::trace {

FidelityTally::Numbers FidelityTally::numbers_of(const check::Kernel& kernel) {
  struct Walk {
    FidelityTally& tally;
    const check::Kernel& kernel;
    Numbers numbers;
  } walk{*this, kernel, {}};
  if (!kernel.fidelities) return {};
  kernel.fidelities(
      kernel, &walk, [](void* to, std::uint32_t instruction, const check::Fidelity& fidelity) {
        if (fidelity.kind == Kind::exact) return;
        Walk& w = *static_cast<Walk*>(to);
        std::string text(w.kernel.describe(w.kernel, instruction).text);
        w.numbers[instruction] =
            &w.tally.rows[{fidelity.kind, std::move(text), std::string(fidelity.reason)}];
      });
  return std::move(walk.numbers);
}

FidelityTally::Executed FidelityTally::of(Kind kind) const {
  if (kind == Kind::exact) return exact;
  Executed sum;
  for (const auto& [key, executed] : rows) {
    if (std::get<Kind>(key) != kind) continue;
    sum.warps += executed.warps;
    sum.threads += executed.threads;
  }
  return sum;
}

FidelityTally::Executed FidelityTally::all() const {
  Executed sum = exact;
  for (const auto& [key, executed] : rows) {
    sum.warps += executed.warps;
    sum.threads += executed.threads;
  }
  return sum;
}

std::string_view name_of(check::Fidelity::Kind kind) {
  constexpr std::string_view names[] = {"exact", "within an error", "by a model", "of this device",
                                        "not supported"};
  static_assert(std::size(names) == check::fidelity_kind_count);
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace inflight::trace
