// Advice lines, each reported once.
#include "gpu/machine/run/advice.hpp"

#include <fmt/format.h>

#include "gpu/check/names.hpp"
#include "gpu/machine/report/report.hpp"

namespace inflight::machine {

namespace {

constexpr unsigned by_name = ~0u;  // unlike any violation's number

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
  report_advice(
      grid, instruction, async::name(violation),
      violation == async::Violation::source_modified
          ? "the source of this copy was written while the copy was in flight, so the result "
            "depends on which of the two comes first; write there only after a wait has shown "
            "that the copy has read it"
          : fmt::format("its operation on the mbarrier breaks a rule and has no effect: {}",
                        async::sentence(violation)));
}

void advise(Grid& grid, std::uint64_t instruction, std::string_view name, std::string_view what) {
  if (grid.options->advise && grid.first_time(instruction, by_name))
    report_advice(grid, instruction, name, what);
}

}  // namespace inflight::machine
