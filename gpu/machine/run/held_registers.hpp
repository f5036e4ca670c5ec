// Which registers a warp's multiplications may hold, as far as the warp knows, and which it has
// written since its last wgmma.fence: what is reported to listeners. Apart from when
// multiplications happen, so that findings do not depend on it.
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
    std::uint64_t end = 0;  // the id of the multiplication that holds it, and one
    std::uint32_t instruction = nobody;
  };

  void issued(std::uint64_t id, std::uint32_t instruction,
              std::span<const async::RegisterPlace> accumulators,
              std::span<const async::RegisterPlace> fragments);
  // The warp knows that those before `complete` are complete.
  void waited(std::uint64_t complete) { complete_ = std::max(complete_, complete); }
  void fenced() { ++fences_, fresh_fence_ = true; }
  // `in_place`: the program has it there as well, since no compiler moves it over a fence.
  void written(async::RegisterPlace place, std::uint32_t instruction, bool in_place) {
    Register& r = at(place);
    r.written_after = fences_, r.written_by = instruction, r.written_in_place = in_place;
  }
  // A move gives it another value, in its turn.
  void moved(async::RegisterPlace place) { at(place) = {}; }

  // Null: none that may be in flight.
  const Hold* writer(async::RegisterPlace place) { return open(at(place).writer); }
  const Hold* reader(async::RegisterPlace place) { return open(at(place).reader); }
  // Who has written it since the last fence. Compilers put arithmetic behind a fence that the
  // program has in front of it, which counts only where there was no fence at all since the
  // multiplication before.
  std::uint32_t unfenced(async::RegisterPlace place) {
    const Register& r = at(place);
    const bool counts = r.written_in_place || !fresh_fence_;
    return counts && r.written_after == fences_ ? r.written_by : nobody;
  }

 private:
  struct Register {
    Hold writer, reader;
    std::uint32_t written_after = nobody, written_by = nobody;  // how many fences; an instruction
    bool written_in_place = false;
  };
  Register& at(async::RegisterPlace place);
  const Hold* open(const Hold& hold) const { return hold.end > complete_ ? &hold : nullptr; }

  std::vector<Register> registers_;
  std::uint64_t complete_ = 0;
  std::uint32_t fences_ = 0;
  bool fresh_fence_ = false;
};

}  // namespace inflight::machine
