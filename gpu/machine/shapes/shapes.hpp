// Which registers of a kernel hold the same value in all lanes of a warp, or values in equal steps,
// and where lanes may be apart.
//
// What is said of a register holds whenever an instruction reads or writes it, for the lanes that
// execute the instruction and no others: they may have other values, since registers share slots.
// It holds under these conditions, which the user of the analysis must watch:
// - Every instruction so far that is marked `checked` has passed its check.
// - No split of the warp has overtaken another (Warp::next_fair), and turns do not count
//   instructions, which would let splits meet anywhere.
// - No register has undefined bits, which a warp follows through variants of its registers.
// - Lanes that load from one address with one instruction get one value. An interpreter that reads
//   it lane by lane, while another block stores to it, may give them two. Of weak loads, of which
//   the analysis says it, that is a race, and a result that a chip may give too.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/shapes/shape.hpp"

namespace inflight::machine {

// How the threads of a block lie in its warps.
enum class BlockRows : std::uint8_t {
  line,    // one row
  warps,   // rows of whole warps
  halves,  // rows of whole halves of a warp
  any,
};
BlockRows block_rows(std::uint32_t x, std::uint32_t y, std::uint32_t z);

struct Shapes {
  std::vector<Shape> registers;  // by register
  // By instruction: some lanes may execute it while others, which will not only end, are elsewhere.
  std::vector<bool> apart;
  // By instruction: its result has its shape only if none of its affine operands wraps: as a number
  // of the operand's type, signed or not, each lane's value is its base plus its steps.
  std::vector<bool> checked;
};

// Finds the shapes of a function, which must be a kernel: of other functions nothing is known.
Shapes find_shapes(const Function& function, BlockRows rows);

// In words: "uniform", "affine, 4 a lane", "half-uniform", "lanes".
std::string to_text(const Shape& shape);

}  // namespace inflight::machine
