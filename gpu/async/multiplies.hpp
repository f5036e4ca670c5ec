// Multiplications in flight of a warpgroup: wgmma.mma_async and its groups (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions").
//
//   issue       a warp's part of its next multiplication; it belongs to no group yet
//   commit      the warp's uncommitted multiplications become its newest group
//   wait_group  returns once at most its `n` newest groups may still be in flight
//   move        a register takes the value of another one, while a multiplication may hold either
//
// A multiplication is one operation of four warps, each of which issues its part. It begins when
// all four have, so a wait needs them; and a wait by one warp completes it for all four, as on the
// chip, where one thread may free for all the bytes that it read. What it reads (shared memory, a
// warp's fragments of A, accumulators) it reads when it happens, and in that moment it writes the
// accumulators. Multiplications happen in order.
//
// Compilers put moves between a multiplication and its wait which the assembler removes, giving
// both registers one place. So a move of an accumulator in flight gives the value that will be
// there: it happens when that is known. A move into a register that is still to be read leaves that
// multiplication the value that it was issued with.
//
// Used by one host thread at a time. In the steady state nothing is allocated.
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

// The 32 lanes of a register of 32 bits. A register goes by its place: bytes behind the start of
// its warp's.
using RegisterLanes = std::array<std::uint32_t, 32>;
using RegisterPlace = std::uint32_t;

struct Multiplication;
using Multiply = void (*)(const Multiplication&);

// One wgmma.mma_async as a warp executes it.
struct MultiplyIssue {
  std::uint64_t tag = 0;       // the caller's: an instruction
  const void* what = nullptr;  // likewise, for `multiply`
  void* context = nullptr;
  Multiply multiply = nullptr;     // does it, once it is whole
  std::uint64_t a = 0, b = 0;      // descriptors, as far as the instruction has them
  std::byte* registers = nullptr;  // where the warp's begin
  bool accumulates = true;
  std::uint32_t shape = 0;  // of what it gives: the caller's, the same for the same layout
  // The registers that it writes, and those that it reads besides. Where it is done, they hold.
  std::span<const RegisterPlace> accumulators, fragments;
};

struct Multiplication {
  struct Part {
    bool issued = false, accumulates = true;
    std::byte* registers = nullptr;
    bool kept = false;                       // its fragments have changed since:
    std::array<RegisterLanes, 5> fragments;  // what they were
  };
  std::uint64_t id = 0;  // counts the warpgroup's, from 0
  MultiplyIssue issue;   // as the first warp gave it; .registers and .accumulates are the parts'
  std::array<Part, warps_of_group> parts;
  // The one before it, or behind it, happens in the same moment and has the same accumulators:
  // between the two nobody sees them.
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
  // As if new. Multiplications still in flight are forgotten.
  void reset(const Order& order);

  // The id of the multiplication that this is a part of.
  std::uint64_t issue(std::uint32_t warp, const MultiplyIssue&);
  // The next one of this warp, if another warp has issued it already.
  const Multiplication* next(std::uint32_t warp) const;
  void commit(std::uint32_t warp);
  // The id of the oldest that may be in flight behind a wait.
  std::uint64_t due(std::uint32_t warp, std::uint32_t newest_allowed) const;
  // Have all warps issued what a wait would complete? Only then wait; until then try again.
  bool can_wait(std::uint32_t warp, std::uint32_t newest_allowed) const;
  void wait_group(std::uint32_t warp, std::uint32_t newest_allowed);
  // The same for all that this warp has issued, committed or not.
  bool can_finish(std::uint32_t warp) const { return whole() >= issued_[warp]; }
  void finish(std::uint32_t warp) { complete(issued_[warp]); }
  // Warps that have not issued what this one has.
  std::uint32_t missing(std::uint32_t warp) const;

  // For lanes of `mask`: `to` takes the value of `from` or, where that is null, `value`. False:
  // nothing in flight holds either, and it is the caller's to do.
  struct Move {
    std::uint32_t mask = 0;
    std::byte* registers = nullptr;
    RegisterPlace to = 0;
    const RegisterPlace* from = nullptr;
    const RegisterLanes* value = nullptr;
  };
  bool move(std::uint32_t warp, const Move&);

  // A moment passes: in a shuffled order a multiplication may happen.
  void advance();

  // Of this warp: is a multiplication in flight that writes this register, or reads it besides? The
  // oldest such; null: there is none.
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
    bool known;              // the value is: it only waits for its turn
    std::uint64_t needs;     // so many multiplications have happened then
    std::uint64_t position;  // so many of its warp were issued before it
    RegisterLanes value;
  };
  std::uint64_t whole() const;  // so many have been issued by all warps
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
  // By warp: how many it had issued at each of its last commits, and at the one before those.
  std::array<std::deque<std::uint64_t>, warps_of_group> groups_;
  std::array<std::uint64_t, warps_of_group> older_groups_{};
  // By warp and register: the register has its value when so many multiplications have happened.
  std::array<std::vector<std::uint64_t>, warps_of_group> known_at_;
};

}  // namespace inflight::async
