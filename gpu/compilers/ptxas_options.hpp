// The command line of ptxas.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inflight::compilers {

struct PtxasOptions {
  enum class Action { assemble, version, help };
  Action action = Action::assemble;
  std::string input;
  std::string output = "elf.o";
  unsigned registers = 0;  // the most that a thread may use; 0: no limit
};

// Every option is taken, known or not: of those for code generation only the limit on registers
// changes anything. An error is a sentence without its stop.
tl::expected<PtxasOptions, std::string> read_ptxas_options(const std::vector<std::string>& words);

}  // namespace inflight::compilers
