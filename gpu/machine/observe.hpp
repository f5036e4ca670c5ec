// Telling a launch's listener what happens. Only code decoded for a listener has the ops that tell
// of single instructions; other code pays nothing.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "gpu/async/copy_groups.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/machine/block.hpp"
#include "gpu/machine/lowering.hpp"

namespace inflight::machine {

// Emits the op that tells of a straight run of instructions, which all execute if the first does:
// body[first] and those after it, up to `last`, that have no guard of their own and come before one
// after which lanes may be missing. The index behind the run.
std::uint32_t emit_run(Lowering& lo, std::uint32_t first, std::uint32_t last);
// Of a load, store, atomic or reduction, whose other ops follow: emits the op that tells which
// addresses it touches.
void emit_access(Lowering& lo);

// The events of one launch. Made and ended with it.
class Observation {
 public:
  Observation(Grid& grid, check::Listener& listener);
  ~Observation();
  Observation(const Observation&) = delete;

  check::Listener& listener() const { return listener_; }
  // Whether the listener looks at the addresses of accesses.
  bool wants_addresses() const { return wants_addresses_; }
  void block_begin(const Block& block) const;
  void block_end(const Block& block) const;
  void diverged(const Warp& w, std::uint32_t taken) const;
  void reconverged(const Warp& w) const;
  void exited(const Warp& w, std::uint32_t mask) const;
  void barrier(const Block& block, std::uint32_t id, check::Barrier::Step step, const Warp* w,
               std::uint32_t expected, std::uint32_t arrived) const;
  // Passes on what a team's copies do.
  std::unique_ptr<async::CopyObserver> watch(const Warp& w) const;
  check::Who who(const Warp& w, std::uint32_t mask,
                 std::uint32_t instruction = check::nothing) const;

 private:
  Grid& grid_;
  check::Listener& listener_;
  const bool wants_addresses_;
  check::Kernel kernel_;
};

// The families that instructions are counted by, and an instruction's index among them.
std::span<const std::string_view> instruction_families();
std::uint32_t family_of(const ptx::Instruction& in);

}  // namespace inflight::machine
