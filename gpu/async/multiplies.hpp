// A warpgroup's multiplications in flight: wgmma.mma_async and its groups (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions").
//
//   issue       a warp's part of its next multiplication; it belongs to no group yet
//   commit      the warp's uncommitted multiplications become its newest group
//   wait_group  returns once at most its `n` newest groups may still be in flight
//   move        a register gets the value of another one while a multiplication may use either
//
// A multiplication is one operation of four warps, each of which issues its part. It begins when
// all four have issued, so a wait needs all four. A wait by one warp completes it for all four, as
// on the GPU, where one thread may then release the input bytes for all. The multiplication reads
// shared memory, a warp's fragments of A and the accumulators when it executes, and writes the
// accumulators at the same time. Multiplications execute in order.
//
// Compilers put moves between a multiplication and its wait. The assembler removes them by giving
// both registers one place. So a move of an accumulator in flight waits until the accumulator has
// its new value. A move into a register that a multiplication has still to read does not change the
// value that the multiplication reads.
//
// Not thread-safe. Allocates nothing in the steady state.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gpu/async/order.hpp"
#include "gpu/async/pool.hpp"

namespace inflight::async {

inline constexpr std::uint32_t warps_of_group = 4;

// The 32 lanes of a 32-bit register. A register is identified by its place: its offset in bytes
// from the start of its warp's registers.
using RegisterLanes = std::array<std::uint32_t, 32>;
using RegisterPlace = std::uint32_t;

struct Multiplication;
using Multiply = void (*)(const Multiplication&);

// One wgmma.mma_async as a warp executes it.
struct MultiplyIssue {
  std::uint64_t tag = 0;       // an instruction, set by the caller
  const void* what = nullptr;  // set by the caller, for `multiply`
  void* context = nullptr;
  Multiply multiply = nullptr;     // executes it, once all warps have issued
  std::uint64_t a = 0, b = 0;      // descriptors, if the instruction has them
  std::byte* registers = nullptr;  // start of the warp's registers
  bool accumulates = true;
  std::uint32_t shape = 0;  // set by the caller: equal for equal layouts of the result
  // The registers that it writes, and the others that it reads. Must stay valid until it executes.
  std::span<const RegisterPlace> accumulators, fragments;
};

struct Multiplication {
  struct Part {
    bool issued = false, accumulates = true;
    std::byte* registers = nullptr;
    bool kept = false;                       // a move has changed its fragments since
    std::array<RegisterLanes, 5> fragments;  // their old values, if kept
  };
  std::uint64_t id = 0;  // a count over the warpgroup, from 0
  MultiplyIssue issue;   // from the first warp; see `parts` for .registers and .accumulates
  std::array<Part, warps_of_group> parts;
  // The multiplication before (goes_on) or after it (is_followed) executes at the same time with
  // the same accumulators. Nothing reads the accumulators in between.
  bool goes_on = false, is_followed = false;

  RegisterLanes& accumulator(std::uint32_t warp, std::size_t i) const {
    return at(warp, issue.accumulators[i]);
  }
  const RegisterLanes& fragment(std::uint32_t warp, std::size_t i) const {
    return parts[warp].kept ? parts[warp].fragments[i] : at(warp, issue.fragments[i]);
  }

 private:
  RegisterLanes& at(std::uint32_t warp, RegisterPlace place) const {
    return *reinterpret_cast<RegisterLanes*>(parts[warp].registers + place);
  }
};

class Multiplies {
 public:
  explicit Multiplies(const Order& order);
  // Returns to the initial state. Drops multiplications in flight.
  void reset(const Order& order);

  // Returns the id of the multiplication that the issue is a part of.
  std::uint64_t issue(std::uint32_t warp, const MultiplyIssue&);
  // Returns the next multiplication of this warp if another warp has issued it already, else null.
  const Multiplication* next(std::uint32_t warp) const;
  void commit(std::uint32_t warp);
  // Returns the id of the oldest multiplication that may still be in flight after a wait.
  std::uint64_t due(std::uint32_t warp, std::uint32_t newest_allowed) const;
  // Have all warps issued what a wait would complete? wait_group() requires it.
  bool can_wait(std::uint32_t warp, std::uint32_t newest_allowed) const;
  void wait_group(std::uint32_t warp, std::uint32_t newest_allowed);
  // The same for everything that this warp has issued, committed or not.
  bool can_finish(std::uint32_t warp) const { return whole() >= issued_[warp]; }
  void finish(std::uint32_t warp) { complete(issued_[warp]); }
  // Returns a mask of the warps that have issued fewer multiplications than this one.
  std::uint32_t missing(std::uint32_t warp) const;

  // Sets `to` to the value of `from` or, if that is null, to `value`, in the lanes of `mask`.
  struct Move {
    std::uint32_t mask = 0;
    std::byte* registers = nullptr;
    RegisterPlace to = 0;
    const RegisterPlace* from = nullptr;
    const RegisterLanes* value = nullptr;
  };
  // Returns false if no multiplication in flight delays the move. The caller then does it.
  bool move(std::uint32_t warp, const Move&);

  // Called between steps of the program. In a shuffled order a multiplication may execute.
  void advance();

  // Return a multiplication in flight that gives this register of this warp its value (the newest),
  // or that reads it without writing it (the oldest). Null if there is none.
  const Multiplication* writer(std::uint32_t warp, RegisterPlace place) const;
  const Multiplication* reader(std::uint32_t warp, RegisterPlace place) const;
  bool idle() const { return in_flight_.empty(); }
  std::uint64_t issued(std::uint32_t warp) const { return issued_[warp]; }
  std::uint64_t completed() const { return completed_; }

 private:
  struct Pending {  // a move
    std::uint32_t warp, mask;
    std::byte* registers;
    RegisterPlace to, from;
    bool known;              // `value` is valid; the move only waits for its turn
    std::uint64_t needs;     // the multiplications that must execute before it
    std::uint64_t position;  // multiplications that its warp issued before it
    RegisterLanes value;
  };
  std::uint64_t whole() const;  // the multiplications issued by all four warps
  void complete(std::uint64_t end);
  bool next_goes_on(std::uint64_t end) const;
  void perform(Pending& move);
  void keep_fragments(std::uint32_t warp, RegisterPlace place, std::uint64_t before);
  std::uint64_t& pending_until(std::uint32_t warp, RegisterPlace place);

  Order order_;
  Pool<Multiplication, 1> multiplications_;
  std::deque<Multiplication*> in_flight_;  // oldest first
  std::vector<Pending> moves_;             // in the order of the program
  std::uint64_t completed_ = 0;
  std::array<std::uint64_t, warps_of_group> issued_{};
  // By warp: the multiplications issued at each of its last commits, and at the commit before
  // those.
  std::array<std::deque<std::uint64_t>, warps_of_group> groups_;
  std::array<std::uint64_t, warps_of_group> older_groups_{};
  // By warp and register: the multiplications that must execute before the register has its value.
  std::array<std::vector<std::uint64_t>, warps_of_group> known_at_;
};

}  // namespace inflight::async
