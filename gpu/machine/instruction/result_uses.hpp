// Whether a thread's path depends on the result of a wait that may fail, such as test_wait.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Whether the code after `instruction`, which tests for completion, depends on the result. False if
// nothing reads it, or if each branch on it leads a thread that got false to where one that got
// true goes, with no other wait between. True in doubt.
bool uses_result(const Function& function, std::uint32_t instruction);

}  // namespace inflight::machine
