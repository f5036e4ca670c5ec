// Reports the places that tcgen05.ld, st, mma and cp access, when they are issued.
#pragma once
#include "gpu/machine/families/tcgen05_operands.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// `lane`, `column`: where the warp's access begins.
void report_tensor_access(Warp& warp, const Op* op, const TensorMemoryUse& use, std::uint32_t lane,
                          std::uint32_t column, bool writes);
// `lane`: the thread that issues it.
void report_tensor_multiply(Warp& warp, const Op* op, int lane, const async::TensorOperation& o,
                            const InstructionDescriptor& of);
void report_tensor_copy(Warp& warp, const Op* op, int lane, const async::TensorOperation& o,
                        const BlockOperand& from);

}  // namespace inflight::machine
