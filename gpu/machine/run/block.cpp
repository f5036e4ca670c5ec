// Runs a block: its warps take turns until all threads have exited.
#include "gpu/machine/run/block.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/machine/children/parent.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/tensor_memory.hpp"
#include "gpu/machine/run/undefined_registers.hpp"
#include "gpu/machine/run/values.hpp"
#include "gpu/machine/run/warpgroup.hpp"
#include "gpu/machine/run/worker.hpp"

namespace inflight::machine {
namespace {

constexpr std::int32_t slice_ops = 16384;
constexpr std::int32_t short_slice_ops = 512;   // while warps only wait for time to pass
constexpr std::uint32_t longest_in_step = 128;  // rounds
constexpr std::uint32_t shared_alignment = 1024;
// Besides the bits of Polls. A thread that sleeps between two polls does not poll the time.
constexpr std::uint8_t slept = 4;
// After so many rounds of exchanges, turns vary. Programs whose threads wait for each other have
// long gone on.
constexpr std::uint32_t many_exchanges = 64;

std::uint32_t lanes_below(std::uint32_t count) {
  return count >= 32 ? all_lanes : (1u << count) - 1;
}

std::uint64_t slices(const Block& block) {
  std::uint64_t sum = 0;
  for (const auto& w : block.warps) sum += w->slice;
  return sum;
}

}  // namespace

Block::Block() = default;
Block::~Block() = default;

void Block::start(const Dim3& at) {
  const Launch& launch = *grid->launch;
  index = at;
  linear = (std::uint64_t{at.z} * launch.grid.y + at.y) * launch.grid.x + at.x;
  threads = alive_threads = static_cast<std::uint32_t>(launch.block.count());
  barriers.fill({});
  reads = {};
  ended = left = launched_dependents = held = false;
  exchanges = 0;
  clock.start(grid->begin);
  warm_until = grid->begin;
  in_step = grid->entry->makes_mbarriers && threads > lanes ? longest_in_step : 0;
  if (shared_end != grid->shared_end || !shared) {
    shared_end = grid->shared_end;
    shared_storage.resize(shared_end + shared_alignment);
    const auto at = reinterpret_cast<std::uintptr_t>(shared_storage.data());
    shared = shared_storage.data() + (shared_alignment - at % shared_alignment) % shared_alignment;
  }
  reserved_end = grid->reserved_end;
  std::memset(shared + reserved_shared, 0, shared_end - reserved_shared);
  if (reserved_end) std::memset(shared, 0, reserved_end);

  const std::uint32_t count = (threads + lanes - 1) / lanes;
  const bool is_new = warps.empty();
  for (std::uint32_t i = 0; is_new && i < count; ++i) {
    auto w = std::make_unique<Warp>();
    w->block = this;
    w->index = i;
    w->root = std::make_unique<Frame>();
    w->root->code = grid->entry;
    w->root->registers.resize(grid->entry->frame_bytes);
    if (counts) w->root->counts = counts->of(*grid->entry);
    w->ensure_local(grid->entry->local_bytes);
    fill_warp_values(*w);
    warps.push_back(std::move(w));
  }
  if (const Turns& asked = grid->options->turns; new_in_grid || asked.kind == Turns::Kind::random)
    turns.start(asked, linear, warps.size());
  turns.vary_no_more();
  fill_block_values(*this, new_in_grid);
  new_in_grid = false;
  start_warpgroups(*this);
  if (tensor_memory) tensor_memory->start();
  saw_no_cluster = 0;
  const Compiled* const made = linear < grid->compiled_blocks ? grid->compiled_now() : nullptr;
  for (auto& w : warps) {
    forget_undefined(*w, *w->root);
    w->compiled = made;
    if (made) [[unlikely]]
      w->make_homes();
    w->base[2] = reinterpret_cast<char*>(values.data());
    w->base[3] = reinterpret_cast<char*>(w->values.data());
    w->alive = lanes_below(threads - w->first_thread());
    w->slice = 0;
    w->counted = 0;
    w->in_host_code = false;
    w->phases = turns.phases_in_step();
    w->repeats = 0;
    w->granted = 0;
    w->cluster_arrived = w->cluster_phase = 0;
    w->waiting = 0;
    if (grid->entry->dynamic_stack) w->root->begin(w->alive);
    w->parked.clear();
    w->parked.emplace_back(grid->entry->ops.data(), w->root.get(), w->alive);  // as in Warp::park
    w->frame = nullptr;
  }
  if (grid->observation) grid->observation->block_begin(*this);
}

struct Block::Round {
  bool live = false, ran = false;            // a warp is still alive after it; a warp has run
  bool spinning = true, progressed = false;  // all warps that ran polled; one made progress
  bool exchanging = true;                    // all warps that ran polled or exchanged values
  bool exchanged = false;                    // one exchanged values
  bool moved = false;                        // one made progress in another way
  std::uint8_t polls = 0;
};

// Gives one warp a turn. False: the grid has stopped.
template <class Run>
bool Block::take_turn(Warp& w, Worker& worker, Round& r, Run run) {
  if (w.done()) return true;
  const bool can = w.parked.size() == 1 ? w.parked[0].wait == Wait::nothing : w.runnable();
  if (!can) {
    r.live = true;
    return true;
  }
  r.ran = true;
  w.worker = &worker;
  run(w);
  if (grid->stop.load(std::memory_order_relaxed)) return false;
  clock.pass(w.used());
  r.live |= !w.done();
  r.spinning &= w.polled != 0;
  r.polls |= w.polled;
  r.exchanging &= w.polled != 0 || w.exchanged;
  r.exchanged |= w.exchanged;
  r.moved |= w.progressed;
  r.progressed |= w.progressed || w.exchanged;
  w.progressed = w.exchanged = false;
  return true;
}

void Block::take_turns(Worker& worker, Round& round) {
  const std::int32_t ops = clock.jumps() ? short_slice_ops : slice_ops;
  Round r;
  if (in_step == 0 && !turns.counted()) [[likely]] {
    for (auto& w : warps)
      if (!take_turn(*w, worker, r, [ops](Warp& each) { each.run(ops); })) return;
    round = r;
    return;
  }
  const bool step = in_step != 0;
  turns.next_round();
  for (std::size_t i = 0; i < warps.size(); ++i) {
    const bool goes_on = take_turn(*warps[turns.warp(i)], worker, r, [&](Warp& w) {
      if (step)
        w.run_instructions(1, false);
      else
        w.run_instructions(turns.instructions(), true);
    });
    if (!goes_on) return;
  }
  if (step && in_step) --in_step;
  round = r;
}

void Block::pass_time(const Round& round, Worker& worker) {
  if (round.spinning && !round.progressed)
    clock.waited(round.polls, grid->limits->clock_khz, worker.awake);
  else
    clock.worked();
}

// Warps that only exchange values may repeat one pattern for ever, if each turn ends at the same
// place. Turns no longer vary once something else happens, or few of them exchange anything.
void Block::break_pattern(const Round& round) {
  if (round.moved || !(round.exchanging || turns.varies()))
    exchanges = 0;
  else if (round.exchanged)
    exchanges = std::min(exchanges + 1, many_exchanges);
  else if (turns.varies())
    --exchanges;
  if (exchanges == many_exchanges && !turns.varies())
    turns.vary(linear ^ slices(*this) << 32, warps.size());  // not twice in the same way
  else if (exchanges == 0)
    turns.vary_no_more();
}

Block::State Block::run(Worker& worker, std::uint32_t rounds) {
  progressed = only_polled = polled_time = false;
  for (std::uint32_t n = 0; n < rounds; ++n) {
    advance_block(*this);
    if (clock.due()) wake_sleepers();
    if (held) [[unlikely]]
      try_release();
    Round round;
    take_turns(worker, round);
    if (grid->stop.load(std::memory_order_relaxed)) return State::done;
    if (grid->heat) [[unlikely]]
      warm();
    progressed |= round.progressed;
    if (!round.live) {
      flush_block(*this);
      ended = true;
      if (grid->dependents && !launched_dependents) grid->launch_dependents(false);
      if (grid->observation) grid->observation->block_end(*this);
      if (grid->parent) grid->parent->block_ended(linear);
      return State::done;
    }
    if (round.ran) {
      pass_time(round, worker);
      break_pattern(round);
      only_polled = round.spinning && !progressed;
      polled_time |= (round.polls & Polls::time) != 0;
      if (round.spinning) return State::spinning;
    } else if (clock.wake() != Clock::never) {
      clock.reach(clock.wake());
    } else if (!flush_thread_copies(*this)) {
      if (held) return State::spinning;
      only_polled = !progressed;
      return State::stuck;
    }
  }
  return State::spinning;
}

// What its clock has passed since, unless it jumped. Blocks that run long tell it themselves, for
// others the worker does at their end.
void Block::warm() {
  constexpr std::uint64_t much = std::uint64_t{1} << 18;
  warmth += std::min<std::uint64_t>(clock.now() - warm_until, warps.size() * slice_ops);
  warm_until = clock.now();
  if (warmth >= much) grid->warm(std::exchange(warmth, 0));
}

// Wakes the threads that wait for earlier grids, once those are complete.
void Block::try_release() {
  if (grid->waits_for_grids()) return;
  held = false;
  for (auto& w : warps) w->wake(Wait::grids, Warp::any_detail);
}

const Op* Block::sleep(Warp& w, const Op* op, std::uint64_t nanoseconds) {
  const std::uint64_t until =
      clock.now() + w.used() + cycles(nanoseconds, grid->limits->clock_khz) + 1;
  clock.sleep_until(until);
  w.polled |= slept;
  return w.park(op, Wait::sleep, until);
}

void Block::wake_sleepers() {
  clock.clear_sleepers();
  for (auto& w : warps)
    for (Split& s : w->parked) {
      if (s.wait != Wait::sleep) continue;
      if (s.detail > clock.now()) {
        clock.sleep_until(s.detail);
        continue;
      }
      if (grid->observation) grid->observation->wait_ended(*w, s);
      s.wait = Wait::nothing, ++s.pc;
    }
}

bool Block::can_run() const {
  return std::any_of(warps.begin(), warps.end(), [](const auto& w) { return w->runnable(); });
}

void Block::lanes_exited(Warp& warp, std::uint32_t mask) {
  if (grid->observation) {
    grid->observation->exited(warp, mask);
    check_ended(warp);
  }
  flush_threads(warp, mask);
  cluster->threads_exited(warp, mask);
  threads_exited(warp, mask);
}

}  // namespace inflight::machine
