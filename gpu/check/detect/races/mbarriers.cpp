// mbarriers: what their phases publish, and whether their initialisation is published.
#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {

using Op = MbarrierOp::Op;

Mbarrier& Races::mbarrier_at(Block& owner, std::uint32_t offset) {
  if (owner.last_mbarrier && owner.last_mbarrier->offset == offset) return *owner.last_mbarrier;
  std::unique_ptr<Mbarrier>& m = owner.mbarriers[offset];
  if (!m) {
    m = std::make_unique<Mbarrier>();
    m->owner = &owner;
    m->offset = offset;
    owner.order.init(m->order);
  }
  owner.last_mbarrier = m.get();
  return *m;
}

void Races::check_published(Block& block, const Mbarrier& m, const Who& who) {
  if (!m.live) return;
  const auto initialiser = static_cast<unsigned>(std::countr_zero(m.who.mask));
  for (const auto& group : block.order.groups(who.warp)) {
    const Mask part = group.lanes & who.mask;
    if (part == 0) continue;
    // Mostly a barrier of the block has published it.
    if (m.owner == &block && m.epoch <= group.view->met(block.order.row())) continue;
    if (group.view->knows(m.row, initialiser, m.epoch)) continue;
    if (m.fenced && group.view->known.loose.at(m.row, initialiser) >= m.epoch) continue;
    const bool own = m.owner == &block && m.who.warp == who.warp && part == m.who.mask;
    if (!own) return reporter_.unpublished(who, m, m.owner != &block);
  }
}

// Does a fence publish the initialisation to the async proxy before this copy?
void Races::check_init_fenced(const Block& block, const Mbarrier& m, const Who& who) {
  if (!m.live || m.fenced) return;
  constexpr auto shared = static_cast<std::size_t>(order::Space::shared);
  const auto by = static_cast<unsigned>(std::countr_zero(who.mask));
  const auto initialiser = static_cast<unsigned>(std::countr_zero(m.who.mask));
  const order::Snapshot& known = block.order.view(who.warp, by);
  const order::Row own = order::warp_row(block.order.row(), order::Part::thread, who.warp);
  if (m.row == own && by == initialiser && known.fenced_own[shared] >= m.epoch) return;
  if (known.known.fenced[shared].at(m.row, initialiser) < m.epoch)
    reporter_.init_not_fenced(who, m);
}

namespace {

bool is_wait(const MbarrierOp& op) { return op.op == Op::test_wait || op.op == Op::try_wait; }

// Whether it can be merged with the same operation by other lanes that follow.
bool can_wait(const MbarrierOp& op) {
  return is_wait(op) || op.op == Op::async_arrive_issued ||
         (op.op == Op::arrive && !op.done && op.tx_bytes == 0);
}

bool goes_with(const MbarrierOp& a, const MbarrierOp& b) {
  return a.who.launch == b.who.launch && a.who.block == b.who.block && a.who.warp == b.who.warp &&
         a.who.instruction == b.who.instruction && !(a.who.mask & b.who.mask) && a.op == b.op &&
         a.address == b.address && a.rank == b.rank && a.order == b.order && a.scope == b.scope &&
         a.tx_bytes == b.tx_bytes;
}

}  // namespace

void Races::note_use(const Block& block, Mbarrier& m, const Who& who) {
  note_use(block, m, who, order::warp_row(block.order.row(), order::Part::thread, who.warp));
}

void Races::note_use(const Block& block, Mbarrier& m, const Who& who, order::Row row) {
  Mbarrier::Use* same = nullptr;  // by the same lanes
  bool any_left = false;
  for (Mbarrier::Use& each : m.uses) {
    if (each.row != row) continue;
    if (each.who.mask == who.mask) {
      same = &each;
      break;
    }
    any_left |= (each.who.mask & who.mask) != 0;
    each.who.mask &= ~who.mask;
  }
  if (same)
    *same = {who, row, block.order.epoch(), m.next_use++};
  else
    m.uses.push_back({who, row, block.order.epoch(), m.next_use++});
  if (any_left) std::erase_if(m.uses, [](const auto& each) { return each.who.mask == 0; });
}

// `who` invalidates the mbarrier, which no thread may use after that.
void Races::check_unused(const Block& block, Mbarrier& m, const Who& who) {
  const auto by = static_cast<unsigned>(std::countr_zero(who.mask));
  const order::Row own = order::warp_row(block.order.row(), order::Part::thread, who.warp);
  const order::Snapshot& known = block.order.view(who.warp, by);
  std::ranges::sort(m.uses, {}, &Mbarrier::Use::number);
  for (const Mbarrier::Use& use : m.uses) {
    Mask unknown = use.who.mask;
    if (use.row == own) unknown &= ~who.mask;
    // A barrier that ended threads were counted for came after all that they did.
    if (block.barrier_without_exited &&
        order::block_of(use.row) == order::block_of(block.order.row()))
      unknown &= block.order.live(order::local_row(use.row));
    for (Mask lanes = unknown; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (known.knows(use.row, lane, use.epoch) || known.known.loose.at(use.row, lane) >= use.epoch)
        unknown &= ~(Mask{1} << lane);
    }
    if (unknown == 0) continue;
    Who user = use.who;
    user.mask = unknown;
    return reporter_.used_beside_inval(user, who, m);
  }
}

void Races::finish(Cluster& cluster) {
  if (!cluster.pending) return;
  const MbarrierOp op = *cluster.pending;
  cluster.pending.reset();
  perform(op);
}

void Races::mbarrier(const MbarrierOp& op) {
  if (op.violation != async::Violation::none || op.op == Op::pending_count) return;
  Block* const block = find(op.who.launch, op.who.block);
  if (!block) return;
  if (is_wait(op) && !op.done) {
    const auto found = block->mbarriers.find(op.address);
    if (op.rank != block->rank || found == block->mbarriers.end()) return;
    std::vector<Who>& waits = found->second->unanswered;
    auto last = std::ranges::find(waits, op.who.warp, &Who::warp);
    if (last == waits.end()) last = waits.insert(last, op.who);
    const Mask before = last->instruction == op.who.instruction ? last->mask : 0;
    *last = op.who;
    last->mask |= before;
    return;
  }
  Cluster& cluster = *block->cluster;
  if (cluster.pending && goes_with(*cluster.pending, op)) {
    const Mask before = cluster.pending->who.mask;
    cluster.pending = op;
    cluster.pending->who.mask |= before;
  } else {
    finish(cluster);
    if (!can_wait(op)) return perform(op);
    cluster.pending = op;
  }
  if (!can_wait(op)) finish(cluster);
}

void Races::perform(const MbarrierOp& op) {
  Block* const block = find(op.who.launch, op.who.block);
  Block* const owner = block ? peer(*block, op.rank) : nullptr;
  if (!owner) return;
  Mbarrier& m = mbarrier_at(*owner, op.address);
  const std::uint32_t warp = op.who.warp;
  const Mask mask = op.who.mask;
  const order::Order order = order_of(op.order);
  const order::Scope scope = scope_of(op.scope);
  const bool later = op.op == Op::async_arrive || op.copy ||
                     op.of_tensor_work;  // it happens after the thread's issue
  if (owner != block && !later) used_remotely(*block, *owner, op.who, mask);
  switch (op.op) {
    case Op::init:
    case Op::inval: {
      std::uint64_t addresses[lanes] = {};
      for (std::uint64_t& each : addresses) each = op.address;
      const PlaceId place = session_.places.of(op.who);
      owner->shared.access(block->order, warp, {addresses, mask, 8, place, true}, block->conflicts);
      report(op.who, *block, Space::shared, true);
      if (m.live && op.op == Op::inval) check_unused(*block, m, op.who);
      m.uses.clear();
      m.live = op.op == Op::init;
      owner->set_live(m, m.live);
      if (!m.live) return;
      // The first time, mbarrier_at() has done so. Copies may be in flight to it since.
      if (m.who.mask != 0) owner->order.init(m.order);
      m.who = op.who, m.place = place;
      m.row = order::warp_row(block->order.row(), order::Part::thread, warp);
      m.epoch = block->order.epoch();
      m.fenced = false;
      m.remote = {};
      m.arrivals.clear();
      m.news = false;
      for (const auto& copy : owner->cluster->transactions)
        if (copy->on == &m && std::exchange(copy->before_init, false))
          reporter_.unpublished(copy->who, m, copy->who.block != op.who.block);
      return;
    }
    case Op::complete_tx:
      if (op.copy) return counted(*block, op, m);
      [[fallthrough]];
    case Op::expect_tx:
      check_published(*block, m, op.who);
      note_use(*block, m, op.who);
      break;
    case Op::arrive:
    case Op::arrive_drop:
      check_published(*block, m, op.who);
      note_use(*block, m, op.who);
      block->order.arrive(m.order, warp, mask, order, scope);
      if (owner != block) {
        m.remote = op.who;
        if (op.unscoped) reporter_.without_scope(op.who, m);
      }
      break;
    case Op::test_wait:
    case Op::try_wait:
      if (!op.done) return;
      check_published(*block, m, op.who);
      for (Who& wait : m.unanswered)
        if (wait.warp == warp) wait.mask &= ~mask;
      block->order.observe(m.order, warp, mask, order, scope);
      if (m.remote.mask != 0 && op.unscoped) reporter_.without_scope(op.who, m);
      note_use(*block, m, op.who);
      observed(*block, m, warp, mask);
      return;
    case Op::async_arrive_issued:
      check_published(*block, m, op.who);
      if (op.of_tensor_work) tensor_committed(*block, *owner, m, op.who);
      m.arrivals.push_back(
          {warp, mask,
           block->order.arrival_with_copies(
               warp, mask, op.of_tensor_work ? order::Part::tensor_work : order::Part::group_copy),
           block->order.place()});
      return;
    case Op::async_arrive: {
      const auto first = std::find_if(m.arrivals.begin(), m.arrivals.end(), [&](const auto& each) {
        return each.warp == warp && each.place.block == block->order.row() &&
               (each.expected & mask) == mask;
      });
      if (first == m.arrivals.end()) break;
      first->expected &= ~mask;
      first->arrived |= mask;
      first->scope = scope;
      break;
    }
    case Op::pending_count:
      return;
  }
  if (op.done) phase_complete(m);
}

// A copy's bytes are counted on the mbarrier.
void Races::counted(Block& block, const MbarrierOp& op, Mbarrier& m) {
  for (const auto& copy : block.cluster->transactions) {
    if (copy->id != op.copy || copy->who.warp != op.who.warp || copy->who.block != op.who.block ||
        copy->on != &m)
      continue;
    copy->landed = true;
    order::Block::copied(m.order, copy->issued);
    break;
  }
  if (op.done) phase_complete(m);
}

// Copies that are still in flight complete with a later phase, so they get a new epoch.
void Races::phase_complete(Mbarrier& m) {
  Block& owner = *m.owner;
  for (Mbarrier::Arrival& each : m.arrivals)
    if (const order::Mask lanes = std::exchange(each.arrived, 0))
      order::Block::arrive(m.order, each.knows, lanes, each.place, each.scope);
  std::erase_if(m.arrivals, [](const Mbarrier::Arrival& each) { return each.expected == 0; });
  owner.order.complete(m.order);
  m.news = true;
  ++m.completed;
  for (const auto& copy : owner.cluster->transactions) {
    if (copy->on != &m || copy->landed) continue;
    const order::Epoch now = owner.order.tick();
    for (const Copy::Span& span : copy->spans)
      shadow_of(span.owner).restamp(copy->by, now, span.address, span.bytes);
    copy->by.epoch = now;
  }
}

// Removes copies whose completion a thread of the block has observed. These lanes are the first
// that observe the phase, so no other thread has learnt more from it.
void Races::observed(Block& block, Mbarrier& m, std::uint32_t warp, Mask observers) {
  if (!m.news) return;
  m.news = false;
  std::erase_if(m.owner->cluster->transactions, [&](const auto& copy) {
    return copy->on == &m && copy->landed && (!copy->source || copy->source == &block) &&
           (!copy->destination || copy->destination == &block);
  });
  if (block.copies.empty()) return;
  for (const auto& group : block.order.groups(warp)) {
    if ((group.lanes & observers) == 0) continue;
    const order::Row own = block.order.row();
    const order::Clock::Part known = group.view->known.loose.part(own, order::row_bits);
    std::erase_if(block.copies, [&](const auto& each) {
      Copy& copy = *each;
      if (copy.completion != Completion::thread_group) return false;
      copy.writing &= ~(order::block_of(copy.by.row) == order::block_of(own)
                            ? known.known(copy.by.row, copy.by.epoch)
                            : group.view->known.loose.known(copy.by.row, copy.by.epoch));
      copy.reading = copy.writing;
      return copy.writing == 0;
    });
  }
}

}  // namespace inflight::check::races
