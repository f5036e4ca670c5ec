// Moves between widths, from which the decoder composes other instructions.
#pragma once
#include "gpu/machine/code/op.hpp"
#include "gpu/ptx/types.hpp"

namespace inflight::machine {

struct MoveHandlers {
  Handler copy[5] = {};           // by log2 of the width in bytes, 1 to 16: d = a
  Handler narrow[4][4] = {};      // [from][to]: the low bytes
  Handler extend[2][4][4] = {};   // [signed][from][to]
  Handler pack2[5] = {};          // [width of a part]: d = {a, b}
  Handler pack4[5] = {};          // parts in Code::extra
  Handler unpack[5] = {};         // [width of a part]: d = part `detail` of a, Op::count parts
  Handler offset[2] = {};         // 32 and 64 bits: d = a + imm
  Handler local_address[2] = {};  // 32 and 64 bits: d = frame's local base + imm
  Handler special[2] = {};        // 32 and 64 bits: d = read_special(detail); costs imm
};

}  // namespace inflight::machine
