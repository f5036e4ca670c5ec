// A forward dataflow analysis of the reads and writes since the last barrier.
#include "gpu/machine/instruction/phases.hpp"

#include <array>
#include <cstdint>

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Space;

// Bits for what may have happened since the last barrier or phase.
using State = unsigned;
constexpr State shared_read = 1, shared_written = 2, global_read = 4, global_written = 8;
constexpr State accesses = shared_read | shared_written | global_read | global_written;
// A barrier has released the block's warps. Global memory counts only from then on: on a chip too,
// it is left to chance how far apart warps and blocks start.
constexpr State released = 16;

// Whether the instruction releases a block's warps together.
bool releases(const Instruction& in) {
  using Step = BarrierUse::Step;
  const auto* barrier = in.as<BarrierUse>();
  return barrier && !in.guard && barrier->of != BarrierUse::Of::warp &&
         barrier->step != Step::arrive;
}

struct Access {
  State reads = 0, writes = 0;
};

State in_space(const Instruction& in, const MemoryOperand& m, State shared, State global) {
  if (ptx::is_shared(m.space) || in.family == Family::matrix) return shared;
  if (m.space == Space::generic) return shared | global;
  return m.space == Space::global ? global : 0;
}

Access access_of(const Instruction& in) {
  Access access;
  for (const MemoryOperand& m : in.memory) switch (m.role) {
      case MemoryOperand::Role::load:
        if (!in.text->mods.has(Mod::nc)) access.reads |= in_space(in, m, shared_read, global_read);
        break;
      case MemoryOperand::Role::store:
      case MemoryOperand::Role::atomic:
      case MemoryOperand::Role::reduction:
        access.writes |= in_space(in, m, shared_written, global_written);
        break;
      default:
        break;
    }
  return access;
}

// The least distance, in instructions, from a read to a write that begins a phase: by then, all
// other warps on a chip have read.
constexpr std::int64_t apart = 8;

// Walks through a basic block.
class Walk {
 public:
  explicit Walk(State before) : state_(before) {}
  State state() const { return state_; }

  // Passes instruction `i`. Returns whether it begins a phase.
  bool pass(const Instruction& in, std::int64_t i) {
    if (releases(in)) return forget(released), false;
    if (in.control == Control::call) return forget(accesses | released), false;
    Access access = access_of(in);
    if (!(state_ & released)) {
      access.reads &= shared_read;
      access.writes &= shared_written;
    }
    // The shifts turn the read bit of a space into its write bit, and the reverse.
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
  // For each access bit of the state, the first instruction that set it.
  std::array<std::int64_t, 4> first_ = {before_this_block, before_this_block, before_this_block,
                                        before_this_block};
};

}  // namespace

void find_phases(Function& function) {
  const Flow& flow = function.flow;
  std::vector<State> before(flow.blocks.size(), 0);
  if (!function.text->entry && !flow.order.empty())
    before[flow.order.front()] = accesses | released;
  std::vector<std::uint32_t> open(flow.order.rbegin(), flow.order.rend());  // the next at the back
  std::vector<bool> is_open(flow.blocks.size(), false);
  for (const std::uint32_t id : open) is_open[id] = true;
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    is_open[id] = false;
    Walk walk(before[id]);
    for (std::uint32_t i = flow.blocks[id].first; i < flow.blocks[id].last; ++i)
      walk.pass(function.body[i], i);
    for (const std::uint32_t next : flow.blocks[id].successors) {
      if ((walk.state() & ~before[next]) == 0) continue;
      before[next] |= walk.state();
      if (!is_open[next]) is_open[next] = true, open.push_back(next);
    }
  }
  function.begins_phase.assign(function.body.size(), false);
  for (const std::uint32_t id : flow.order) {
    Walk walk(before[id]);
    for (std::uint32_t i = flow.blocks[id].first; i < flow.blocks[id].last; ++i)
      function.begins_phase[i] = walk.pass(function.body[i], i);
  }
}

}  // namespace inflight::machine
