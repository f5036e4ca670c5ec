// A forward analysis: what may have been read and written since the last barrier.
#include "gpu/machine/decode/phases.hpp"

#include <array>
#include <cstdint>

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;

// What may have happened since the last barrier or phase: bits.
using State = unsigned;
constexpr State shared_read = 1, shared_written = 2, global_read = 4, global_written = 8;
constexpr State accesses = shared_read | shared_written | global_read | global_written;
// A barrier has released the block's warps. Global memory counts from then on: how far apart warps
// start, and blocks, is left to chance on a chip too.
constexpr State released = 16;

// Does it let a block's warps go on together?
bool releases(const ptx::Instruction& in) {
  if (in.guarded) return false;
  if (in.opcode == Opcode::barrier_cluster_wait) return true;
  if (in.opcode != Opcode::bar && in.opcode != Opcode::barrier) return false;
  return !in.mods.has(Mod::warp) && !in.mods.has(Mod::arrive);
}

struct Access {
  State reads = 0, writes = 0;
};

Access access_of(const ptx::Instruction& in) {
  const auto in_space = [&](State shared, State global) -> State {
    switch (in.space()) {
      case Space::generic:
        return shared | global;
      case Space::shared:
      case Space::shared_cta:
      case Space::shared_cluster:
        return shared;
      case Space::global:
        return global;
      default:
        return 0;
    }
  };
  switch (in.opcode) {
    case Opcode::ld:
      return {in.mods.has(Mod::nc) ? 0 : in_space(shared_read, global_read), 0};
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
      return {0, in_space(shared_written, global_written)};
    case Opcode::ldmatrix:
      return {shared_read, 0};
    case Opcode::stmatrix:
      return {0, shared_written};
    default:
      return {};
  }
}

// Instructions that lie between a read and a write at least, for all other warps to have read.
constexpr std::int64_t apart = 8;

// The walk through a basic block.
class Walk {
 public:
  explicit Walk(State before) : state_(before) {}
  State state() const { return state_; }

  // Passes instruction `i`; does it begin a phase?
  bool pass(const ptx::Instruction& in, std::int64_t i) {
    if (releases(in)) return forget(released), false;
    if (in.opcode == Opcode::call) return forget(accesses | released), false;
    Access access = access_of(in);
    if (!(state_ & released)) {
      access.reads &= shared_read;
      access.writes &= shared_written;
    }
    // The bits of a space's reads and writes are neighbours.
    const bool begins = long_ago(access.reads << 1 | access.writes >> 1, i);
    if (begins) forget(state_ & released);
    const State done = access.reads | access.writes;
    for (unsigned bit = 0; bit < first_.size(); ++bit)
      if (done & ~state_ & 1u << bit) first_[bit] = i;
    state_ |= done;
    return begins;
  }

 private:
  void forget(State now) {
    state_ = now;
    first_.fill(before_this_block);
  }
  bool long_ago(State what, std::int64_t i) const {
    for (unsigned bit = 0; bit < first_.size(); ++bit)
      if (state_ & what & 1u << bit && i - first_[bit] >= apart) return true;
    return false;
  }
  static constexpr std::int64_t before_this_block = -apart;
  State state_;
  // Of each access in the state, the first instruction that made it.
  std::array<std::int64_t, 4> first_ = {before_this_block, before_this_block, before_this_block,
                                        before_this_block};
};

}  // namespace

std::vector<bool> phase_begins(const ptx::Function& function, const Flow& flow) {
  std::vector<State> before(flow.blocks.size(), 0);
  if (!function.entry && !flow.order.empty()) before[flow.order.front()] = accesses | released;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t id : flow.order) {
      Walk walk(before[id]);
      for (std::uint32_t i = flow.blocks[id].first; i < flow.blocks[id].last; ++i)
        walk.pass(function.body[i], i);
      for (const std::uint32_t next : flow.blocks[id].successors) {
        changed |= (walk.state() & ~before[next]) != 0;
        before[next] |= walk.state();
      }
    }
  }
  std::vector<bool> result(function.body.size(), false);
  for (const std::uint32_t id : flow.order) {
    Walk walk(before[id]);
    for (std::uint32_t i = flow.blocks[id].first; i < flow.blocks[id].last; ++i)
      result[i] = walk.pass(function.body[i], i);
  }
  return result;
}

}  // namespace inflight::machine
