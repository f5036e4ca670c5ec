// Advice lines, each reported once.
#include "gpu/machine/run/advice.hpp"

#include <fmt/format.h>

#include "gpu/check/names.hpp"
#include "gpu/machine/report/report.hpp"

namespace inflight::machine {

namespace {

constexpr unsigned by_name = ~0u;  // unlike any violation's number

// What follows from a broken rule, before its sentence.
std::string_view effect_of(async::Violation rule, ptx::Opcode opcode) {
  using ptx::Opcode;
  if (rule == async::Violation::source_modified) return {};
  if (rule == async::Violation::source_size)
    return "it breaks a rule, so what it copies is undefined: ";
  const bool asks = opcode == Opcode::mbarrier_test_wait || opcode == Opcode::mbarrier_try_wait ||
                    opcode == Opcode::mbarrier_pending_count;
  return asks ? "it breaks a rule, so its result is undefined: "
              : "its operation on the mbarrier breaks a rule and has no effect: ";
}

void report_advice(Grid& grid, std::uint64_t instruction, std::string_view name,
                   std::string_view what) {
  const Kernel& kernel = *grid.launch->kernel;
  const std::string place = fmt::format("kernel {}, {}", check::readable(kernel.name),
                                        to_text(instruction_of(*kernel.program, instruction)));
  grid.options->advise(place + std::string(name), fmt::format("{}: {}.", place, what));
}

}  // namespace

void advise(Grid& grid, async::Violation violation, std::uint64_t instruction) {
  if (!grid.options->advise || !grid.first_time(instruction, static_cast<unsigned>(violation)))
    return;
  const Place place = instruction_of(*grid.launch->kernel->program, instruction);
  const auto opcode = place.instruction ? place.instruction->opcode : ptx::Opcode::unknown;
  report_advice(grid, instruction, async::name(violation),
                fmt::format("{}{}", effect_of(violation, opcode), async::sentence(violation)));
}

void advise(Grid& grid, std::uint64_t instruction, std::string_view name, std::string_view what) {
  if (grid.options->advise && grid.first_time(instruction, by_name))
    report_advice(grid, instruction, name, what);
}

}  // namespace inflight::machine
