// The lines, each said once.
#include "gpu/machine/run/advice.hpp"

#include <fmt/format.h>

#include "gpu/check/names.hpp"
#include "gpu/machine/report/report.hpp"

namespace inflight::machine {

void advise(Grid& grid, async::Violation violation, std::uint64_t instruction) {
  const auto& advise_with = grid.options->advise;
  if (!advise_with || !grid.first_time(instruction, static_cast<unsigned>(violation))) return;
  const Kernel& kernel = *grid.launch->kernel;
  const std::string place = fmt::format("kernel {}, {}", check::readable(kernel.name),
                                        to_text(instruction_of(*kernel.program, instruction)));
  const std::string what =
      violation == async::Violation::source_modified
          ? "the source of this copy was written while the copy was in flight, so the result "
            "depends on which of the two comes first; write there once a wait has shown that the "
            "copy has read it"
          : fmt::format("what it does to its mbarrier breaks a rule and changes nothing: {}",
                        async::sentence(violation));
  advise_with(place + std::string(async::name(violation)), place + ": " + what + ".");
}

}  // namespace inflight::machine
