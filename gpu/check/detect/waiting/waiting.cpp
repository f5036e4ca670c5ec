// Detects wrong use of mbarriers, barriers and collectives, and threads that wait for ever.
#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "gpu/async/multiplies.hpp"
#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/waiting/grid_barriers.hpp"
#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

constexpr auto not_initialised = async::Violation::not_initialised;

// Whether the code belongs to the headers of cooperative groups or of this project's own tiles.
// Other groups of these headers name only lanes that exist, but for the barriers of sync.h.
bool is_of_tile(const CodePlace& place) {
  const auto is = [](const std::string& file) {
    return file.ends_with("/cooperative_groups.h") || file.ends_with("/inflight/tile.cuh") ||
           (file.find("/cooperative_groups/details/") != std::string::npos &&
            !file.ends_with("/sync.h"));
  };
  return is(place.file) || std::ranges::any_of(place.inlined_at, is, &CodeLine::file);
}

class Waiting : public Listener {
 public:
  explicit Waiting(const Session& session) : session_(session), words_(session) {}
  Topic topics() const override {
    return Topic::mbarriers | Topic::barriers | Topic::collectives | Topic::copies | Topic::fences |
           Topic::accesses | Topic::addresses | Topic::allocations | Topic::blocks | Topic::hangs |
           Topic::multiplies;
  }

  void mbarrier(const MbarrierOp& op) override {
    ClusterState* const state = find(op.who);
    if (!state) return;
    state->ordered = true;
    MbarrierHistory::Breaches breaches;
    MbarrierHistory& history = state->mbarrier(op.rank, op.address);
    const std::uint32_t warp = state->warp(op.who);
    history.note(op, warp, state->order, breaches);
    if (op.op == MbarrierOp::Op::init) initialised(*state, history);
    if (const auto polls = state->polls.find(warp); op.done && polls != state->polls.end())
      polls->second.go_on();
    const bool tests = op.op == MbarrierOp::Op::test_wait || op.op == MbarrierOp::Op::try_wait;
    if (tests && !op.done && op.violation == async::Violation::none && !fails_spuriously(op))
      history.tested(op, warp, state->learnt[warp]);
    if (op.op == MbarrierOp::Op::test_wait && !op.done && !fails_spuriously(op))
      state->polls[warp].saw(
          {op.who,
           {Space::shared, cluster_place(*state->kernel, op.who.block).first, op.rank, op.address},
           true,
           op.parity,
           8},
          written_.load(std::memory_order_relaxed));
    if (!breaches.empty()) add(*state, breaches, history, op.rank, op.who.block, op.address);
  }
  void copy_issued(const CopyIssued& copy) override {
    if (copy.mbarrier == nothing) return;
    ClusterState* const state = find(copy.who);
    if (!state) return;
    MbarrierHistory::Breaches breaches;
    MbarrierHistory& history = state->mbarrier(copy.mbarrier_rank, copy.mbarrier);
    history.copy_issued(copy, state->warp(copy.who), state->order, breaches);
    add(*state, breaches, history, copy.mbarrier_rank, copy.who.block, copy.mbarrier);
  }
  void barrier(const Barrier& event) override {
    ClusterState* const state = find(event.who);
    if (!state || event.kind == BarrierKind::grid) return;
    state->ordered |= event.given != 0;
    if (event.step != Barrier::Step::complete) ++state->learnt[state->warp(event.who)];
    BlockBarriers::Breaches breaches;
    const std::uint32_t warp = state->warp(event.who);
    if (event.kind == BarrierKind::cluster)
      state->barrier.note(event, warp, state->order, breaches);
    else
      barriers_of(*state, warp).note(event, warp, state->block_threads, state->order, breaches);
    for (const BarrierBreach& each : breaches) {
      if (each.what == BarrierBreach::What::others_ended &&
          !gone_past_.at(*state->kernel, each.who))
        continue;
      if (each.what == BarrierBreach::What::others_passed &&
          (state->found || may_be_copies(each.who, each.others.front().who)))
        continue;
      words_.add(each);
      state->found = true;
    }
  }
  void collective(const Collective& event) override {
    const Mask non_members = event.who.mask & ~event.members;
    if (non_members == 0 && event.kind == Collective::Kind::activemask) return;
    ClusterState* const state = find(event.who);
    if (!state) return;
    if (state->ordered) state->order.sync_lanes(state->warp(event.who));
    if (event.kind != Collective::Kind::sync && event.kind != Collective::Kind::activemask)
      ++state->learnt[state->warp(event.who)];
    const Mask never_there = event.members & ~state->lanes_of(event.who);
    if (never_there != 0 && non_members == 0 && is_tile_.at(event.who)) {
      words_.add_partial_tile(event.who, event.members, never_there);
      return;
    }
    BarrierBreach breach{BarrierBreach::What::left_out, event.who, {}, 0, 0, 0, event.members, 0};
    if (non_members != 0) {
      breach.who.mask = non_members;
    } else {
      breach.what = BarrierBreach::What::gone_past;
      breach.absent = event.members & ~event.who.mask & state->lanes_of(event.who);
      if (breach.absent == 0 || state->found || !gone_past_.at(*state->kernel, event.who)) return;
    }
    words_.add(breach);
    state->found = true;
  }
  // Strong accesses and atomics, which may release waiting threads or read what other threads
  // wrote.
  void accessed(const Access& access) override {
    const bool atomic =
        access.kind == Access::Kind::atomic || access.kind == Access::Kind::reduction;
    if (access.order == Order::weak && !atomic) return;
    ClusterState* const state = find(access.who);
    if (!state) return;
    const std::uint32_t warp = state->warp(access.who);
    if (access.kind != Access::Kind::store) ++state->learnt[warp];
    if (access.addresses) note(*state, warp, access);
    if (access.addresses && atomic) grid_barriers_.accessed(*state->kernel, access);
    if (!state->ordered) return;
    if (access.kind != Access::Kind::load) release(*state, warp);
    if (access.kind != Access::Kind::store) state->order.acquire(warp, state->memory);
  }
  void fenced(const Fence& fence) override {
    ClusterState* const state = find(fence.who);
    if (state && state->ordered) release(*state, state->warp(fence.who));
  }
  // A wgmma is one operation of four warps: each can know that the others have come as far.
  void multiply_issued(const MultiplyIssued& event) override {
    ClusterState* const state = find(event.who);
    if (!state || !state->ordered) return;
    const std::uint32_t warp = state->warp(event.who);
    state->order.step(warp);
    state->order.release(warp, state->multiplies[warpgroup(*state, warp)]);
  }
  void multiply_waited(const MultiplyWaited& event) override {
    ClusterState* const state = find(event.who);
    if (!state || !state->ordered) return;
    const std::uint32_t warp = state->warp(event.who);
    state->order.acquire(warp, state->multiplies[warpgroup(*state, warp)]);
  }
  void thread_exit(const ThreadExit& event) override {
    Last& last = last_found();
    if (!is(last, event.who)) {
      const Kernel* const kernel = session_.places.kernel(event.who.launch);
      if (!kernel) return;
      last = {clusters_.turn(), event.who.launch, event.who.block, known(*kernel, event.who.block)};
    }
    ClusterState* const state = last.state;
    if (!state) return;
    const std::uint32_t warp = state->warp(event.who);
    barriers_of(*state, warp).left(warp, event.who.mask);
    if (!state->ordered) return;
    state->order.step(warp);
    barriers_of(*state, warp).exited(warp, state->order);
    state->barrier.exited(warp, state->order);
  }
  void block_end(const BlockEnd& event) override {
    ClusterState* const state = known(*event.kernel, event.block);
    if (!state) return;
    const std::uint32_t rank = cluster_place(*event.kernel, event.block).rank;
    settle(*state, rank, event.block);
    if (state->held && state->held->block == event.block) report_held(*state);
    add_given_up(*state, rank, event.block);
    add_overrun(*state, rank, event.block);
    keep_writes(*state, event.kernel->launch);
    last_found() = {};
    clusters_.ended(event.kernel->launch, cluster_place(*event.kernel, event.block).first,
                    state->size);
  }
  void stuck(const Stuck& event) override {
    Who who;
    who.launch = event.kernel->launch;
    who.block = event.cluster;
    ClusterState* const state = find(who);
    if (!state) return;
    if (event.why != Stuck::Why::nothing_moves) {
      const std::lock_guard lock(mutex_);
      Hang& hang = hangs_[event.kernel->launch];
      hang.why = event.why, hang.not_begun = event.not_begun;
      const Extents& grid = event.kernel->grid;
      hang.blocks = std::uint64_t{grid.x} * grid.y * grid.z;
      if (hang.threads.empty()) hang.first = event.cluster;
      hang.threads.insert(hang.threads.end(), event.threads.begin(), event.threads.end());
      return;
    }
    for (std::uint32_t rank = 0; rank < state->size; ++rank) settle(*state, rank, event.cluster);
    report_held(*state);
    if (words_.add(event, *state)) session_.findings.explain(event.kernel->launch);
  }
  bool is_livelocked(const Stuck& event) override {
    Who who;
    who.launch = event.kernel->launch;
    who.block = event.cluster;
    const ClusterState* const state = find(who);
    if (!state || !words_.is_livelocked(event, *state, memory_,
                                        alone_ms(event.kernel->launch, event.idle_ms)))
      return false;
    return true;
  }
  void allocation(const Allocation& event) override { memory_.note(event); }
  void kernel_begin(const KernelBegin& event) override {
    const std::lock_guard lock(mutex_);
    ++running_;
    alone_[event.kernel->launch] = {++begun_and_ended_, 0};
  }
  void kernel_end(const KernelEnd& event) override {
    {
      const std::lock_guard lock(mutex_);
      --running_;
      ++begun_and_ended_;
      alone_.erase(event.kernel->launch);
    }
    report_hang(*event.kernel);
    if (const auto arrival = grid_barriers_.take(event.kernel->launch);
        arrival && !session_.findings.explains(event.kernel->launch))
      words_.add_grid_barrier(*arrival);
    clusters_.launch_ended(event.kernel->launch);
  }

 private:
  // Copies of one barrier, as of an unrolled loop, are on one line. Without -lineinfo nothing tells
  // them from two barriers.
  bool may_be_copies(const Who& a, const Who& b) {
    Places& places = session_.places;
    const PlaceId place = places.of(a);
    return places.at(place).file.empty() || places.line_of(place) == places.line_of(places.of(b));
  }
  struct Last {
    std::uint64_t turn = 0, launch = 0, block = 0;
    ClusterState* state = nullptr;  // null: it has none yet
  };
  static Last& last_found() {
    thread_local Last last;
    return last;
  }
  bool is(const Last& last, const Who& who) const {
    return last.turn == clusters_.turn() && last.launch == who.launch && last.block == who.block;
  }
  // Returns null if the launch is not known. Each host thread caches the state of its last block,
  // which is valid while that block runs.
  ClusterState* find(const Who& who) {
    Last& last = last_found();
    if (last.state && is(last, who)) return last.state;
    const Kernel* const kernel = session_.places.kernel(who.launch);
    if (!kernel) return nullptr;
    ClusterState& state = clusters_.get(who.launch, cluster_place(*kernel, who.block).first,
                                        [&] { return std::make_unique<ClusterState>(*kernel); });
    last = {clusters_.turn(), who.launch, who.block, &state};
    return &state;
  }
  // Returns null if a cluster of one block has no state yet.
  ClusterState* known(const Kernel& kernel, std::uint64_t block) {
    const Extents& shape = kernel.cluster;
    const std::uint64_t first = cluster_place(kernel, block).first;
    if (shape.x * shape.y * shape.z == 1) return clusters_.find(kernel.launch, first);
    return &clusters_.get(kernel.launch, first,
                          [&] { return std::make_unique<ClusterState>(kernel); });
  }
  // For how much of the time for which its threads only polled nothing but this launch ran, whose
  // threads alone could change what they poll. Another launch may have written its last before it
  // ended, and one that waits for it may be about to begin.
  std::uint32_t alone_ms(std::uint64_t launch, std::uint32_t idle_ms) {
    const std::lock_guard lock(mutex_);
    Alone& alone = alone_[launch];
    if (running_ != 1 || waits_outside_.contains(launch) || alone.changes != begun_and_ended_)
      alone = {begun_and_ended_, idle_ms};
    if (idle_ms < alone.since_ms) alone.since_ms = 0;  // they did something else in between
    return idle_ms - alone.since_ms;
  }
  // A test of a phase that is complete fails only because the checker lets it fail.
  static bool fails_spuriously(const MbarrierOp& op) {
    return op.violation == async::Violation::none && op.parity != op.phase_parity;
  }
  // Called at the end of the launch, when stuck() has collected the waits of all its clusters.
  void report_hang(const Kernel& kernel) {
    std::unique_lock lock(mutex_);
    waits_outside_.erase(kernel.launch);
    const auto written = ended_writes_.extract(kernel.launch);
    const auto found = hangs_.find(kernel.launch);
    if (found == hangs_.end()) return;
    Hang hang = std::move(found->second);
    if (written)
      for (const auto& [at, write] : written.mapped()) hang.ended.push_back(write);
    hangs_.erase(found);
    lock.unlock();
    const ClusterState* const first = known(kernel, hang.first);
    const auto state_of = [&](std::uint64_t block) { return known(kernel, block); };
    if (first && !first->found && words_.add_polling(hang, state_of))
      session_.findings.explain(kernel.launch);
  }
  // What a block that ends wrote to global memory, which others may poll.
  void keep_writes(const ClusterState& state, std::uint64_t launch) {
    constexpr std::size_t most = 4096;  // locations of a launch
    if (state.writes.empty()) return;
    const std::lock_guard lock(mutex_);
    auto& kept = ended_writes_[launch];
    for (const auto& [warp, of] : state.writes)
      of.each([&](const Write& write) {
        if (write.at.space != Space::global) return;
        const auto known = kept.find(write.at);
        if (known != kept.end()) {
          if (known->second.number < write.number) known->second = write;
        } else if (kept.size() < most) {
          kept.emplace(write.at, write);
        }
      });
  }
  // The barriers of the warp's block. Avoids the slow division for the usual cluster of one block.
  static BlockBarriers& barriers_of(ClusterState& state, std::uint32_t warp) {
    return state.barriers[state.size == 1 ? 0 : warp / state.block_warps];
  }
  static std::uint32_t warpgroup(const ClusterState& state, std::uint32_t warp) {
    return warp - warp % state.block_warps % async::warps_of_group;
  }
  static void release(ClusterState& state, std::uint32_t warp) {
    state.order.step(warp);
    state.order.release(warp, state.memory);
  }
  void note(ClusterState& state, std::uint32_t warp, const Access& access) {
    if (access.read) {
      const int lane = std::countr_zero(access.who.mask);
      WarpPolls& polls = state.polls[warp];
      polls.saw({access.who, state.spot(access, lane), false, access.read[lane], access.bytes},
                written_.load(std::memory_order_relaxed));
      if (polls.repeats() == WarpPolls::many && !polls.all_of([&](const Poll& poll) {
            return poll.at.space == Space::shared || memory_.holds(poll.at.address);
          })) {
        const std::lock_guard lock(mutex_);
        waits_outside_.insert(access.who.launch);
      }
    }
    const Mask wrote = access.wrote ? access.who.mask & access.written : 0;
    if (wrote == 0) return;
    const int lane = std::countr_zero(wrote);
    if (access.read && access.read[lane] == access.wrote[lane]) return;
    Who who = access.who;
    who.mask = Mask{1} << lane;
    state.writes[warp].wrote({who, state.spot(access, lane), access.wrote[lane],
                              written_.fetch_add(1, std::memory_order_relaxed)});
  }
  // Reports only the cluster's first mistake, because later ones may be its consequences.
  void add(ClusterState& state, const MbarrierHistory::Breaches& breaches,
           const MbarrierHistory& history, std::uint32_t rank, std::uint64_t block,
           std::uint32_t address) {
    for (const MbarrierBreach& each : breaches) {
      if (state.found) continue;
      if (state.held && !count_is_too_low(state, each)) continue;
      if (!add_cause(state, each, history)) {
        if (brought_by_another_block(each) || counted_too_early(state, each, rank)) {
          state.held = {each, &history, block, address};
          continue;
        }
        words_.add(each, history, {block, address});
      }
      state.found = true;
    }
  }
  // Each thread arrives once per phase, and the phase completes without some of them.
  static bool count_is_too_low(const ClusterState& state, const MbarrierBreach& breach) {
    return breach.what == MbarrierBreach::What::stray_arrival &&
           std::none_of(breach.others.begin(), breach.others.end(), [&](const Contribution& each) {
             return each.warp == state.warp(breach.who) ||
                    each.amount > static_cast<std::uint64_t>(std::popcount(each.who.mask));
           });
  }
  static bool brought_by_another_block(const MbarrierBreach& breach) {
    return breach.what == MbarrierBreach::What::stray_bytes && !breach.expects.empty() &&
           std::any_of(breach.others.begin(), breach.others.end(), [&](const Contribution& copy) {
             return copy.who.block != breach.expects.front().who.block;
           });
  }
  // A copy was counted on another block's mbarrier that is not initialised.
  static bool counted_too_early(const ClusterState& state, const MbarrierBreach& breach,
                                std::uint32_t rank) {
    return breach.what == MbarrierBreach::What::broken_rule &&
           breach.violation == not_initialised &&
           rank != cluster_place(*state.kernel, breach.who.block).rank;
  }
  // The block initialises it now, after all: detect/races reports that this was not ordered.
  static void initialised(ClusterState& state, const MbarrierHistory& history) {
    if (!state.held || state.held->history != &history ||
        state.held->breach.violation != not_initialised)
      return;
    state.held.reset();
    state.found = true;
  }
  void report_held(ClusterState& state) {
    if (!state.held) return;
    if (!state.found)
      words_.add(state.held->breach, *state.held->history,
                 {state.held->block, state.held->address});
    state.found = true;
    state.held.reset();
  }
  // Reports the cause instead, if the mistake at this mbarrier may follow from one at another: too
  // many arrivals or bytes from a wait that returned at once, or too many bytes from arrivals that
  // came too early.
  bool add_cause(const ClusterState& state, const MbarrierBreach& breach,
                 const MbarrierHistory& shown) {
    using What = MbarrierBreach::What;
    if (breach.what != What::stray_arrival && breach.what != What::stray_bytes) return false;
    const std::uint32_t warp = state.warp(breach.who);
    for (const auto& [at, history] : state.mbarriers) {
      if (&history == &shown) continue;
      if (const auto wait = history.hasty_wait(warp)) {
        words_.add(*wait, history, {wait->who.block, at.second});
        return true;
      }
    }
    if (breach.what != What::stray_bytes) return false;
    for (const auto& [at, history] : state.mbarriers)
      if (const MbarrierBreach* const arrival = history.stray_arrival();
          arrival && count_is_too_low(state, *arrival)) {
        words_.add(*arrival, history, {arrival->who.block, at.second});
        return true;
      }
    return false;
  }
  void add_given_up(ClusterState& state, std::uint32_t rank, std::uint64_t block) {
    for (const auto& [at, history] : state.mbarriers) {
      if (at.first != rank || state.found) continue;
      const auto wait = history.given_up();
      if (!wait) continue;
      words_.add(*wait, history, {block, at.second});
      state.found = true;
    }
  }
  // What makes a race often makes an overrun too.
  void add_overrun(ClusterState& state, std::uint32_t rank, std::uint64_t block) {
    for (const auto& [at, history] : state.mbarriers) {
      if (at.first != rank || !history.overrun()) continue;
      if (state.found || session_.findings.concern(state.kernel->launch)) return;
      words_.add(*history.overrun(), history, {block, at.second});
      state.found = true;
    }
  }
  void settle(ClusterState& state, std::uint32_t rank, std::uint64_t block) {
    MbarrierHistory::Breaches breaches;
    for (auto& [at, history] : state.mbarriers) {
      if (at.first != rank) continue;
      breaches.clear();
      history.settle(breaches, true);
      add(state, breaches, history, rank, block, at.second);
    }
  }

  // Whether an instruction is the code of a tile (tiled_partition<N>()), which -lineinfo tells.
  class OfTile {
   public:
    explicit OfTile(Places& places) : places_(places) {}
    bool at(const Who& who) {
      const PlaceId place = places_.of(who);
      const std::lock_guard lock(mutex_);
      const auto [known, fresh] = answers_.try_emplace(place, false);
      if (fresh) known->second = is_of_tile(places_.at(place));
      return known->second;
    }

   private:
    Places& places_;
    std::mutex mutex_;
    std::unordered_map<PlaceId, bool> answers_;
  };

  // Tells barriers that exited threads must have gone past from those that an early return avoids.
  class GonePast {
   public:
    explicit GonePast(Places& places) : places_(places) {}
    bool at(const Kernel& kernel, const Who& who) {
      const PlaceId place = places_.of(who);
      const std::lock_guard lock(mutex_);
      const auto [known, fresh] = answers_.try_emplace(place, false);
      if (fresh) known->second = kernel.all_pass_behind(kernel, who.instruction);
      return known->second;
    }

   private:
    Places& places_;
    std::mutex mutex_;
    std::unordered_map<PlaceId, bool> answers_;
  };

  Session session_;
  GonePast gone_past_{session_.places};
  OfTile is_tile_{session_.places};
  WaitingWords words_;
  GridBarriers grid_barriers_;
  Blocks<ClusterState> clusters_;
  DeviceMemory memory_;
  std::atomic<std::uint64_t> written_{0};  // number of writes, for Write::number
  std::mutex mutex_;
  // When a launch became the only one: the number of launches that had begun and ended, and how
  // long its threads had only polled then.
  struct Alone {
    std::uint64_t changes = 0;
    std::uint32_t since_ms = 0;
  };
  int running_ = 0;  // number of running launches
  std::uint64_t begun_and_ended_ = 0;
  std::map<std::uint64_t, Alone> alone_;   // by launch
  std::map<std::uint64_t, Hang> hangs_;    // by launch
  std::set<std::uint64_t> waits_outside_;  // launches that poll what the host can write
  // By launch: the last writes of its blocks that have ended.
  std::map<std::uint64_t, std::map<Spot, Write>> ended_writes_;
};

}  // namespace

std::unique_ptr<Listener> make_waiting(const Session& session, const CheckOptions&) {
  return std::make_unique<Waiting>(session);
}

}  // namespace inflight::check
