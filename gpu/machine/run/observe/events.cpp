// Builds the events of a launch from the machine's state.
#include "gpu/machine/run/observe/events.hpp"

#include <utility>

#include "gpu/machine/link/source.hpp"
#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {
namespace {

using check::Topic;

check::Extents extents(const Dim3& d) { return {d.x, d.y, d.z}; }

check::Act act_of(const ptx::Instruction& in) {
  const Facts& of = facts(in.opcode);
  check::Act act;
  if (of.memory == MemoryRole::load) act.kind = check::Act::Kind::reads;
  if (of.memory == MemoryRole::store) act.kind = check::Act::Kind::writes;
  act.by_warp = of.control == Control::meet;
  act.uses_map = of.family == Family::tensor_copy;
  return act;
}

check::Instruction describe(const check::Kernel& kernel, std::uint32_t number) {
  const auto& program = *static_cast<const Grid*>(kernel.context)->launch->kernel->program;
  check::Instruction out;
  const Place found = instruction_of(program, number);
  if (!found.instruction) return out;
  const ptx::Instruction& in = *found.instruction;
  out.text = in.name;
  out.family = static_cast<std::uint32_t>(family_of(in));
  out.act = act_of(in);
  out.ptx_line = in.line;
  out.module = found.module->name;
  out.function = found.function->name;
  bool own = true;
  for (const SourceLine& each : source_of(found)) {
    const check::SourceLine line{each.path, each.line, each.column};
    if (std::exchange(own, false))
      out.file = line.file, out.line = line.line, out.column = line.column;
    else
      out.inlined_at.push_back(line);
  }
  return out;
}

}  // namespace

LaunchEvents::LaunchEvents(Grid& grid, check::Listener& to)
    : Observation(to, grid.topics, grid.launch->id), grid_(grid) {
  const Launch& launch = *grid.launch;
  kernel_.launch = launch.id;
  kernel_.name = launch.kernel->name;
  kernel_.device = grid.device;
  kernel_.stream = launch.stream;
  kernel_.grid = extents(launch.grid);
  kernel_.block = extents(launch.block);
  kernel_.cluster = extents(launch.cluster);
  kernel_.static_shared = grid.static_shared;
  kernel_.dynamic_shared = launch.dynamic_shared;
  kernel_.cooperative = launch.cooperative;
  if (grid.workspace) kernel_.grid_barrier = grid.workspace + Grid::workspace_barrier;
  kernel_.may_copy_tensors = grid.may_copy_tensors;
  const LaunchOrigin& origin = launch.origin;
  kernel_.origin = {origin.parent, origin.after, origin.tail};
  kernel_.families = family_names();
  kernel_.describe = &describe;
  kernel_.variable = &variable_at;
  kernel_.all_pass_behind = &all_pass_behind;
  kernel_.has_left = &has_left;
  kernel_.fidelities = &fidelities;
  kernel_.context = &grid;
  to.kernel_begin({&kernel_});
}

namespace {

check::HostCode host_code_of(const Grid& grid) {
  if (const Compiled* const made = grid.compiled_now())
    return {"",
            made->instructions,
            made->handled,
            made->entry_count,
            made->code_bytes,
            made->microseconds};
  const Compiled* const made = grid.awaited ? grid.awaited->load() : nullptr;
  if (made) return {made->why_not};
  return {grid.awaited ? "it has not run for long enough" : std::string_view(grid.why_interpreted)};
}

}  // namespace

LaunchEvents::~LaunchEvents() {
  for (const auto& counts : counts_) counts->report(listener(), kernel_);
  const check::HostCode host_code = host_code_of(grid_);
  const bool asked = grid_.options->compile != Compile::never;
  listener().kernel_end({&kernel_, !grid_.outcome().ok(), asked ? &host_code : nullptr});
}

Counts* LaunchEvents::new_counts() const {
  if (!wants(Topic::counts)) return nullptr;
  auto counts = std::make_unique<Counts>();
  const std::lock_guard lock(mutex_);
  return counts_.emplace_back(std::move(counts)).get();
}

void LaunchEvents::block_begin(const Block& block) const {
  if (block.counts) ++block.counts->sums.blocks;
  if (!wants(Topic::blocks)) return;
  check::BlockBegin event;
  event.kernel = &kernel_;
  event.block = block.linear;
  event.cluster = block.cluster->blocks.front()->linear;
  event.rank = static_cast<std::uint16_t>(block.rank);
  event.threads = block.threads;
  event.shared_bytes = block.shared_end - reserved_shared;
  listener().block_begin(event);
}

void LaunchEvents::block_end(const Block& block) const {
  if (wants(Topic::blocks)) listener().block_end({&kernel_, block.linear});
}

void LaunchEvents::diverged(const Warp& w, std::uint32_t taken) const {
  if (Counts* const counts = w.block->counts) ++counts->sums.divergent_branches;
  if (wants(Topic::branches)) listener().diverged({who(w, w.mask), taken});
}
void LaunchEvents::reconverged(const Warp& w) const {
  if (wants(Topic::branches)) listener().reconverged({who(w, w.mask)});
}
void LaunchEvents::exited(const Warp& w, std::uint32_t mask) const {
  if (wants(Topic::blocks)) listener().thread_exit({who(w, mask)});
}

void LaunchEvents::heap(const Warp& w, const Op* op, int lane, check::Allocation::Step step,
                        std::uint64_t address, std::uint64_t bytes) const {
  if (!wants(Topic::allocations)) return;
  check::Allocation event;
  event.step = step;
  event.kind = check::Allocation::Kind::heap;
  event.device = kernel_.device;
  event.address = address, event.bytes = bytes;
  event.who = who(w, 1u << lane, op);
  listener().allocation(event);
}

void LaunchEvents::child_launched(const Warp& w, const Op* op, int lane,
                                  std::uint64_t child) const {
  listener().child_launched({who(w, 1u << lane, op), child});
}

void LaunchEvents::report_mbarrier(check::MbarrierOp& event, async::mbarrier::Word after,
                                   const async::mbarrier::Step& step) const {
  const async::mbarrier::State state = async::mbarrier::decode(after);
  event.done = step.completed;
  event.violation = step.violation;
  event.phase_parity = state.parity;
  event.expected = state.expected;
  event.pending = state.pending;
  event.tx_count = state.tx_count;
  listener().mbarrier(event);
}

}  // namespace inflight::machine
