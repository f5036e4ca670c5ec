// Parses the command line of ptxas.
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
  unsigned registers = 0;  // limit per thread; 0: no limit
};

// Accepts every option, known or not. Of the options for code generation, only the register limit
// has an effect. An error is a sentence without its final period.
tl::expected<PtxasOptions, std::string> read_ptxas_options(const std::vector<std::string>& words);

}  // namespace inflight::compilers
