// One decoded instruction: a handler and the places of its operands. 64 bytes, one cache line.
#pragma once
#include <atomic>
#include <cstdint>

namespace inflight::machine {

struct Instruction;
struct Warp;
struct Op;

// Executes one op for the warp's active lanes and returns the next op to execute. Null ends the
// warp's slice; the warp holds the reason.
using Handler = const Op* (*)(Warp&, const Op*);

// The place of an operand's lanes: an offset, a multiple of 4 bytes, from one of the warp's four
// bases, which the two low bits select. An operand N bytes wide is an array of 32 lanes of N bytes.
// A predicate is one 32-bit word with a bit a lane.
using Ref = std::uint32_t;
enum class Base : std::uint32_t {
  frame,      // the function's registers
  constants,  // immediates, repeated in 32 lanes, one copy a function
  block,      // values that all threads of the block share (%ctaid, %ntid...)
  warp,       // values of this warp's lanes (%tid, %laneid...)
};
constexpr Ref make_ref(Base base, std::uint32_t offset) { return offset | std::uint32_t(base); }
inline constexpr Ref no_ref = 0xffffffff;

struct alignas(64) Op {
  Handler run = nullptr;    // what the loop calls: the instruction, or a wrapper around it
  Handler inner = nullptr;  // what a wrapper (guard, observer) calls
  Ref d = no_ref, a = no_ref, b = no_ref, c = no_ref;
  union {
    std::int64_t imm = 0;  // an address offset, an immediate, a static local offset...
    const void* pointer;
  };
  union {
    const Op* target = nullptr;  // branches: the branch target
    const Instruction* what;     // others: the instruction that this was decoded from
  };
  Ref guard = no_ref;                  // @p: the predicate
  std::uint32_t extra = 0;             // index in Code::extra of the first further operand
  std::uint32_t instruction : 27 = 0;  // index in Function::body of the instruction
  std::uint32_t marks : 5 = 0;         // see below
  std::uint8_t flags = 0;              // see below
  std::uint8_t count = 0;    // vector elements, list length, ...: only its family reads it
  std::uint16_t detail = 0;  // only its family reads it

  static constexpr std::uint8_t guard_negated = 1;
  static constexpr std::uint8_t negate_a = 2;  // predicate operands written `!p`
  static constexpr std::uint8_t negate_b = 4;
  static constexpr std::uint8_t negate_c = 8;
  static constexpr std::uint8_t address_64 = 16;  // a memory operand's register is 64 bits wide
  static constexpr std::uint8_t strong =
      32;  // volatile, relaxed, acquire...: may be a poll, see Warp::poll
  // A second address: its register is d, its offset `extra`.
  static constexpr std::uint8_t second_address_64 = 64;

  // Marks: what an op is, whichever handler executes it.
  static constexpr std::uint32_t begins = 1;    // the first op of its instruction
  static constexpr std::uint32_t reports = 2;   // it only reports to a listener
  static constexpr std::uint32_t wraps = 4;     // it reports, and Op::inner executes
  static constexpr std::uint32_t diverts = 8;   // a branch or jump, or it may end the turn
  static constexpr std::uint32_t refuses = 16;  // the instruction is not supported
  bool is(std::uint32_t mark) const { return (marks & mark) != 0; }

  // `run`, also while another engine puts its own handler there.
  Handler handler() const {
    return std::atomic_ref(const_cast<Handler&>(run)).load(std::memory_order_acquire);
  }
};
static_assert(sizeof(Op) == 64);

}  // namespace inflight::machine
