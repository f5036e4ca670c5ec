// Whether a thread's path depends on the result of a wait that may fail, such as test_wait.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

enum class ResultUse : std::uint8_t {
  // Nothing reads it, or each branch on it leads a thread that got false to where one that got true
  // goes, with no other wait between.
  none,
  // A thread that got false may go where one that got true goes, if other values let it: a count
  // of polls, another wait's result, the other lanes' votes.
  doubtful,
  decisive,
};

// How the code after `instruction`, which tests for completion, uses the result. Decisive where
// that is not known.
ResultUse use_of_result(const Function& function, std::uint32_t instruction);

}  // namespace inflight::machine
