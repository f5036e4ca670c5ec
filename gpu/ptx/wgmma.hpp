// Checks the forms of wgmma.mma_async.
#pragma once
#include <span>
#include <string_view>

#include "gpu/ptx/module.hpp"

namespace inflight::ptx {

// Returns why this wgmma.mma_async, dense or sparse, is invalid. Empty if it is valid.
std::string_view wgmma_mistake(const Instruction& in, std::span<const Operand> operands);

}  // namespace inflight::ptx
