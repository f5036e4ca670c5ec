// The registers that a warp's multiplications may still hold, as far as the warp knows, and those
// written since its last wgmma.fence, for reports to listeners. It does not depend on when
// multiplications happen, so findings do not either.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/async/multiplies.hpp"

namespace inflight::machine {

class HeldRegisters {
 public:
  static constexpr std::uint32_t nobody = ~0u;
  struct Hold {
    std::uint64_t end = 0;  // 1 + the id of the multiplication that holds it
    std::uint32_t instruction = nobody;
    std::uint32_t shape = 0;  // async::MultiplyIssue::shape
  };

  void issued(std::uint64_t id, std::uint32_t instruction, std::uint32_t shape,
              std::span<const async::RegisterPlace> accumulators,
              std::span<const async::RegisterPlace> fragments);
  // The warp knows that multiplications with ids below `complete` are complete.
  void waited(std::uint64_t complete) { complete_ = std::max(complete_, complete); }
  void fenced() { ++fences_, fresh_fence_ = true; }
  // `in_place`: the write is there in the program too, because no compiler moves it over a fence.
  void written(async::RegisterPlace place, std::uint32_t instruction, bool in_place) {
    Register& r = at(place);
    r.written_after = fences_, r.written_by = instruction, r.written_in_place = in_place;
  }
  // There was no fence yet, and no multiplication.
  bool begins_unfenced() const { return fences_ == 0 && !issued_any_; }
  // A move gives the register another value, in order with the multiplications.
  void moved(async::RegisterPlace place) { at(place) = {}; }

  // The multiplication that may still write or read the register; null: none.
  const Hold* writer(async::RegisterPlace place) { return open(at(place).writer); }
  const Hold* reader(async::RegisterPlace place) { return open(at(place).reader); }
  // The instruction that has written the register since the last fence, or nobody. Compilers move
  // arithmetic from before a fence to after it. Such a write counts only if there was no fence at
  // all since the previous multiplication.
  std::uint32_t unfenced(async::RegisterPlace place) {
    const Register& r = at(place);
    const bool counts = r.written_in_place || !fresh_fence_;
    return counts && r.written_after == fences_ ? r.written_by : nobody;
  }

 private:
  struct Register {
    Hold writer, reader;
    std::uint32_t written_after = nobody, written_by = nobody;  // fences before it; instruction
    bool written_in_place = false;
  };
  Register& at(async::RegisterPlace place);
  const Hold* open(const Hold& hold) const { return hold.end > complete_ ? &hold : nullptr; }

  std::vector<Register> registers_;
  std::uint64_t complete_ = 0;
  std::uint32_t fences_ = 0;
  bool fresh_fence_ = false, issued_any_ = false;
};

}  // namespace inflight::machine
