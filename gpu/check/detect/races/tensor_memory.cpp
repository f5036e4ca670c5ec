// Tensor memory: whether each access comes after those that it must not meet, and the shared memory
// that tcgen05.mma and cp read.
#include <algorithm>
#include <bit>
#include <optional>

#include "gpu/check/detect/races/races.hpp"
#include "gpu/check/detect/races/tensor_words.hpp"

namespace inflight::check::races {
namespace {

using Kind = TensorOperation::Kind;
using Id = TensorLedger::Id;
using What = TensorStep::What;

order::Row thread_row(const Block& block, std::uint32_t warp) {
  return order::warp_row(block.order.row(), order::Part::thread, warp);
}
order::Row work_row(const Block& block, std::uint32_t warp) {
  return order::warp_row(block.order.row(), order::Part::tensor_work, warp);
}

Mask known_lanes(const order::Snapshot& view, order::Row row, order::Epoch epoch, bool loose) {
  const bool together = view.together.row == row && view.together.epoch >= epoch;
  return (loose ? view.known.loose : view.known.order).known(row, epoch) |
         (together ? view.together.lanes : 0);
}

// Does a lane of `who` know what one of these actors did up to the epoch? An aligned instruction is
// one operation of its warp, so one lane of each side suffices.
bool knows(const Block& block, const Who& who, order::Row row, Mask actors, order::Epoch epoch,
           bool loose = false) {
  for (const auto& group : block.order.groups(who.warp))
    if ((group.lanes & who.mask) && (known_lanes(*group.view, row, epoch, loose) & actors))
      return true;
  return false;
}

bool is_by_warp_of(const TensorOperation& a, const TensorOperation& b) {
  return a.who.block == b.who.block && a.who.warp == b.who.warp;
}

// Whether the warp of `later` has executed tcgen05.fence::after_thread_sync since it learnt of the
// earlier operation, and whether that one's warp has executed ::before_thread_sync after it. A
// commit is such a fence.
bool is_fenced(const TensorLedger::Memory& own, const TensorOperation& earlier,
               const TensorOperation& later) {
  if (later.kind == Kind::release || is_by_warp_of(earlier, later)) return true;
  if (own.after.size() <= later.who.warp) return false;
  const order::Epoch epoch = earlier.is_work() ? earlier.epoch : earlier.published;
  return epoch != 0 &&
         (known_lanes(own.after[later.who.warp], earlier.row, epoch, true) & earlier.who.mask) != 0;
}

// How the earlier operation is ordered before the later one, by a thread of `block`.
TensorOrder order_of(const Block& block, const TensorOperation& earlier,
                     const TensorOperation& later) {
  const auto known = [&](order::Epoch epoch, bool loose = false) {
    return epoch != 0 && knows(block, later.who, earlier.row, earlier.who.mask, epoch, loose);
  };
  const bool same_warp = is_by_warp_of(earlier, later);
  if (earlier.is_work()) {
    if (same_warp && later.is_work()) return TensorOrder::complete;
    if (known(earlier.epoch)) return TensorOrder::complete;
    return known(earlier.epoch, true) ? TensorOrder::weak : TensorOrder::not_observed;
  }
  if (same_warp && (later.is_access() || earlier.waited != 0)) return TensorOrder::complete;
  if (same_warp) return earlier.used != 0 ? TensorOrder::by_use : TensorOrder::not_waited;
  if (known(earlier.waited)) return TensorOrder::complete;
  if (known(earlier.used)) return TensorOrder::by_use;
  if (known(earlier.epoch)) return TensorOrder::not_waited;
  return known(earlier.epoch, true) ? TensorOrder::weak : TensorOrder::none;
}

TensorLedger& ledger_of(Block& block) {
  auto& ledger = block.cluster->tensor;
  if (!ledger) ledger = std::make_unique<TensorLedger>();
  return *ledger;
}

// The columns of one operation that conflict with an earlier one.
class Touch {
 public:
  Touch(TensorWords& words, Block& block, TensorLedger& ledger, const TensorOperation& now)
      : words_(words), block_(block), ledger_(ledger), now_(now), id_(ledger.add(now)) {}
  Id id() const { return id_; }

  void run(const TensorRun& run) {
    TensorLedger::Memory& memory = ledger_.of(run.rank);
    // The peer has allocated its columns before this block's tcgen05.alloc returned.
    if (run.rank == block_.rank && now_.kind != Kind::release) allocated(memory, run);
    for (std::uint32_t c = run.first; c < run.first + run.columns; ++c) {
      TensorLedger::Cell& cell = memory.cell(run.segment, c);
      if (run.reads && !cell.written && now_.is_work()) words_.unwritten(now_, run, c);
      for (const TensorLedger::Entry& entry : cell.entries)
        if ((entry.lanes & run.lanes) && (entry.writes || run.writes) && entry.operation != id_)
          check(entry, run, c);
      note(cell, run);
    }
  }

 private:
  void allocated(TensorLedger::Memory& memory, const TensorRun& run) {
    for (std::uint32_t g = run.first / TensorLedger::granule;
         g * TensorLedger::granule < run.first + run.columns; ++g) {
      const TensorOperation* const by = ledger_.find(memory.allocated[g]);
      if (!by || is_by_warp_of(*by, now_)) continue;
      const order::Row row = by->row;
      if (!knows(block_, now_.who, row, by->who.mask, by->epoch, true))
        words_.before_allocation(now_, *by, run);
    }
  }

  void check(const TensorLedger::Entry& entry, const TensorRun& run, std::uint32_t column) {
    const TensorOperation* const earlier = ledger_.find(entry.operation);
    if (!earlier) return;
    if (last_.id != entry.operation) last_ = {entry.operation, order_of(block_, *earlier, now_)};
    TensorOrder how = last_.how;
    if (how == TensorOrder::complete) {
      if (is_fenced(ledger_.of(block_.rank), *earlier, now_)) return;
      how = TensorOrder::unfenced;
    }
    if (how == TensorOrder::by_use && now_.kind == Kind::release) return;
    words_.conflict({*earlier, now_, entry.writes, run, column, how});
  }

  void note(TensorLedger::Cell& cell, const TensorRun& run) {
    if (now_.kind == Kind::release) return;
    auto& all = cell.entries;
    if (run.writes) {
      cell.written = true;
      for (TensorLedger::Entry& each : all)
        each.lanes = static_cast<std::uint16_t>(each.lanes & ~run.lanes);
      std::erase_if(all, [](const auto& each) { return each.lanes == 0; });
    }
    if (!all.empty() && all.back().operation == id_ && all.back().writes == run.writes)
      all.back().lanes |= run.lanes;
    else
      all.push_back({id_, run.lanes, run.writes});
    constexpr std::size_t most = 16;  // reads without a write
    if (all.size() > most) all.erase(all.begin());
  }

  struct Answer {
    Id id = TensorLedger::none;
    TensorOrder how = TensorOrder::complete;
  };
  TensorWords& words_;
  Block& block_;
  TensorLedger& ledger_;
  const TensorOperation now_;
  const Id id_;
  Answer last_;
};

}  // namespace

void Races::tensor_allocated(const TensorAllocation& event) {
  using Step = TensorAllocation::Step;
  Block* const block = block_of(event.who);
  if (!block || event.step == Step::relinquished) return;
  TensorLedger& ledger = ledger_of(*block);
  if (event.step == Step::missed) return used_after_release(*block, event);
  const bool makes = event.step == Step::allocated;
  if (makes && event.group == 2)
    if (const Block* const other = peer(*block, block->rank ^ 1)) {
      check_begun(*block, *other, event.who, event.who.mask);
      if (block->early) block->early->allocates = true;
    }
  const TensorOperation now{makes ? Kind::allocation : Kind::release, event.who,
                            session_.places.of(event.who), thread_row(*block, event.who.warp),
                            block->order.tick()};
  if (!makes) {
    TensorWords words{session_};
    Touch touch(words, *block, ledger, now);
    for (std::uint8_t s = 0; s < TensorRun::segments; ++s)
      touch.run(
          {block->rank, s, TensorRun::Of::data, 0xffff, false, true, event.first, event.columns});
  }
  ledger.of(block->rank).clear(event.first, event.columns, ledger.add(now), makes);
}

void Races::used_after_release(Block& block, const TensorAllocation& event) {
  TensorLedger& ledger = ledger_of(block);
  const auto& freed = ledger.of(event.rank).freed;
  for (std::uint32_t c = event.first; c < event.first + event.columns; ++c)
    if (const TensorOperation* const by = ledger.find(freed[c / TensorLedger::granule])) {
      TensorWords(session_).freed_before(event.who, *by, c);
      session_.findings.explain(event.who.launch);
      return;
    }
}

void Races::tensor_accessed(const TensorAccess& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  TensorLedger& ledger = ledger_of(*block);
  TensorWords words{session_};
  const TensorOperation now{event.writes ? Kind::store : Kind::load, event.who,
                            session_.places.of(event.who), thread_row(*block, event.who.warp),
                            block->order.tick()};
  Touch touch(words, *block, ledger, now);
  for (const TensorRun& run : event.runs) touch.run(run);
  TensorLedger::Memory& own = ledger.of(block->rank);
  // Programs that never wait or fence have many.
  constexpr std::size_t most_open = 4096;
  for (std::vector<Id>* const open : {&own.open, &own.open_to_fence}) {
    if (open->size() == most_open) open->erase(open->begin(), open->begin() + most_open / 2);
    open->push_back(touch.id());
  }
}

void Races::tensor_work_issued(const TensorWork& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  TensorLedger& ledger = ledger_of(*block);
  TensorWords words{session_};
  const std::uint32_t warp = event.who.warp;
  const auto lane = static_cast<unsigned>(std::countr_zero(event.who.mask));
  const TensorOperation now{event.multiplies ? Kind::multiply : Kind::copy, event.who,
                            session_.places.of(event.who), work_row(*block, warp),
                            block->order.tick()};
  Touch touch(words, *block, ledger, now);
  for (const TensorRun& run : event.runs) touch.run(run);
  ledger.remember({now, block->rank, event.group == 2});
  for (const TensorSource& source : event.sources) {
    Block* const owner = peer(*block, source.rank);
    if (!owner) continue;
    owner->shared.copy(block->order, warp, lane, {now.row, lane, now.epoch},
                       {source.address, source.bytes, now.place, false, true, false},
                       block->conflicts);
    report(event.who, *block, Space::shared, false, nullptr, owner);
  }
}

void Races::tensor_stepped(const TensorStep& event) {
  if (Block* const block = block_of(event.who)) tensor_step(*block, event);
}

void Races::tensor_step(Block& block, const TensorStep& event) {
  TensorLedger& ledger = ledger_of(block);
  TensorLedger::Memory& own = ledger.of(block.rank);
  const std::uint32_t warp = event.who.warp;
  if (event.what == What::fenced_after) {
    if (own.after.size() <= warp) own.after.resize(block.order.warps());
    const auto lane = static_cast<unsigned>(std::countr_zero(event.who.mask));
    own.after[warp] = block.order.view(warp, lane);
    return;
  }
  const order::Epoch now = block.order.tick();
  const Kind kind = event.what == What::waited_stores ? Kind::store : Kind::load;
  // A warp's loads read their columns in order, so the use of one tells of those before it too.
  Id last_used = TensorLedger::none;
  if (event.what == What::used_load)
    for (const Id id : own.open)
      if (const TensorOperation* const o = ledger.find(id);
          o && o->who.warp == warp && o->who.instruction == event.load)
        last_used = id;
  const auto done = [&](Id id) {
    TensorOperation* const o = ledger.find(id);
    if (!o) return true;
    if (o->who.warp != warp) return false;
    switch (event.what) {
      case What::fenced_before:
        if (o->waited == 0 && o->used == 0) return false;
        o->published = now;
        return true;
      case What::used_load:
        if (o->kind == Kind::load && id <= last_used && o->used == 0) o->used = now;
        return false;
      default:
        if (o->kind != kind) return false;
        o->waited = now;
        return true;
    }
  };
  std::erase_if(event.what == What::fenced_before ? own.open_to_fence : own.open, done);
}

// A commit publishes as tcgen05.fence::before_thread_sync does.
void Races::tensor_committed(Block& block, Block& owner, Mbarrier& m, const Who& who) {
  tensor_step(block, {who, What::fenced_before});
  const order::Row row = work_row(block, who.warp);
  note_use(block, m, who, row);
  if (&owner == &block) return;
  check_begun(block, owner, who, who.mask);
  if (owner.ended) return reporter_.peer_exited(who, owner.rank);
  const PlaceId place = session_.places.of(who);
  const order::Epoch epoch = block.order.epoch();
  for (RemoteUse& use : owner.remote)
    if (use.row == row && use.place == place && use.lanes == who.mask) {
      use.epoch = epoch;
      return;
    }
  owner.remote.push_back({row, who.mask, epoch, place, who});
}

void Races::check_tensor_memory(Block& block, const order::Clock& known) {
  TensorLedger* const ledger = block.cluster->tensor.get();
  if (!ledger) return;
  TensorWords words{session_};
  for (const TensorLedger::Last& each : ledger->last()) {
    const bool mine = each.rank == block.rank || (each.in_pair && (each.rank ^ 1) == block.rank);
    const TensorOperation& o = each.operation;
    if (mine && !known.covers(o.row, o.who.mask, o.epoch)) words.ends_with(o);
  }
  Id last = TensorLedger::none;
  for (const Id id : ledger->of(block.rank).allocated)
    if (const TensorOperation* const o = id != last && id ? ledger->find(id) : nullptr)
      words.not_freed(*o), last = id;
}

}  // namespace inflight::check::races
