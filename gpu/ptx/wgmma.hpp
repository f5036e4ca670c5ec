// Which forms of wgmma.mma_async there are.
#pragma once
#include <span>
#include <string_view>

#include "gpu/ptx/module.hpp"

namespace inflight::ptx {

// Why there is no such wgmma.mma_async, sparse or not; empty if there is.
std::string_view wgmma_mistake(const Instruction& in, std::span<const Operand> operands);

}  // namespace inflight::ptx
