// The steps of random histories.
#include "tests/unit/check/order_history.hpp"

#include <algorithm>

namespace inflight::order {

using brute_force::Head;
using brute_force::Heads;
using brute_force::Touch;

History::History(std::uint64_t seed, shadow::Limits limits)
    : random_(seed),
      memory_{shadow::Shadow(Space::shared, limits), shadow::Shadow(Space::global, limits)} {
  // Each history has few kinds of steps, so that they interact more often than all kinds would.
  kinds_ = {0, 0, 0};
  for (std::uint32_t k = 0; k < 2 + seed % 4; ++k) kinds_.insert(kinds_.end(), 2, 1 + below(16));
  const std::uint32_t blocks = 1 + below(2), cluster = 1 + below(2);
  const bool two_warps = below(2) != 0;
  const std::uint32_t count = 2 + below(3);
  for (std::uint32_t t = 0; t < count; ++t)
    threads_.push_back({t % blocks, two_warps ? t / 2 % 2 : 0, t, false, 0, {}, {}, {}, {}});
  for (std::uint32_t b = 0; b < blocks; ++b) {
    blocks_.push_back(std::make_unique<Block>(
        Block::Shape{1, b, two_warps ? 36u : count, cluster, 0}, Knowledge()));
    barriers_.push_back(std::make_unique<Met>());
  }
  if (blocks > 1) limits.own = false;
  memory_[0] = shadow::Shadow(Space::shared, limits);
  std::vector<Place> places;
  for (const Thread& t : threads_) places.push_back(blocks_[t.block]->place());
  graph_ = std::make_unique<brute_force::Graph>(std::move(places));
  for (Bar& bar : bars_) {
    bar.owner = blocks_[below(blocks)].get();
    bar.owner->init(bar.clock);
  }
}

History::Outcome History::play(int steps) {
  for (int s = 0; s < steps && outcome_.failure.empty(); ++s) {
    const int t = static_cast<int>(below(static_cast<std::uint32_t>(threads_.size())));
    Thread& me = threads_[static_cast<std::size_t>(t)];
    if (me.waiting) {
      complete_barrier(me.block);
      continue;
    }
    switch (kinds_[below(static_cast<std::uint32_t>(kinds_.size()))]) {
      case 0:
        weak_access(t);
        break;
      case 1:
        warp_access(t);
        break;
      case 2:
      case 3:
        strong_access(t, below(3), order());
        break;
      case 4:
        fence(t);
        break;
      case 5: {
        const bool shared = below(2) != 0, global = below(2) != 0;
        block(t).proxy_fence(me.warp, Mask{1} << me.lane, shared, global);
        graph_->proxy_fence(t, shared, global);
        break;
      }
      case 6:
        warp_sync(t);
        break;
      case 7:
        barrier(t);
        break;
      case 8:
        cluster_barrier(t);
        break;
      case 9:
        mbarrier(t);
        break;
      case 10:
        group_copy(t);
        break;
      case 11:
        bulk_copy(t);
        break;
      case 12:
        bulk_load(t);
        break;
      case 13:
        wait(t, below(6));
        break;
      case 14:
        mbarrier(t);
        break;
      case 15:
        message(t);
        break;
      case 16:
        copy_and_wait(t);
        break;
    }
  }
  outcome_.forgotten = memory_[0].forgotten() + memory_[1].forgotten();
  return outcome_;
}

// --- accesses

Touch History::touch(int t, Node node, int space, unsigned begin, unsigned bytes, bool write) {
  Touch x;
  x.node = node;
  x.place = graph_->place(t);
  x.space = space;
  x.begin = begin;
  x.end = begin + bytes;
  x.write = write;
  return x;
}

// Whether a strong write has replaced the record of x, a strong access before it, and what leads
// from that write to y is its observation. So y is not known to come after x itself.
bool History::is_replaced(const Touch& x, const Touch& y) const {
  return x.strong && std::ranges::any_of(touches_, [&](const Kept& k) {
           const Touch& w = k.touch;
           return w.write && w.strong && w.space == x.space && w.begin == x.begin &&
                  w.end == x.end && graph_->causes(x.node, w.node) &&
                  graph_->causes(w.node, y.node);
         });
}

// Compares the shadow's result for these accesses with brute force, then records them.
void History::compare(const std::vector<Touch>& now) {
  ++outcome_.accesses;
  bool clean = true, race = false;
  for (const Touch& y : now) {
    for (unsigned b = y.begin; b < y.end; ++b) clean &= !dirty_[y.space][b];
    for (const Kept& k : touches_)
      if (graph_->race(k.touch, y)) {
        race |= !is_replaced(k.touch, y);
        for (unsigned b = std::max(k.touch.begin, y.begin); b < std::min(k.touch.end, y.end); ++b)
          dirty_[y.space][b] = true;
      }
  }
  outcome_.races += race;
  const auto warns = [](const shadow::Conflict& c) {
    return c.excuse == shadow::Excuse::unfenced_read;
  };
  if (clean && race && std::ranges::all_of(conflicts_, warns)) ++outcome_.missed;
  for (const shadow::Conflict& c : conflicts_) {
    bool real = false;
    for (const Kept& k : touches_) {
      if (k.place != c.earlier.place || k.lane != c.earlier.lane) continue;
      Touch then = k.touch;
      then.write |= warns(c);  // a write there would need the fence
      for (const Touch& y : now)
        real |= graph_->race(then, y) && y.begin <= c.address && c.address < y.end &&
                then.begin <= c.address && c.address < then.end;
    }
    if (!real)
      outcome_.failure = "false alarm at access " + std::to_string(outcome_.accesses) + ", byte " +
                         std::to_string(c.address) + ", why " +
                         std::to_string(static_cast<int>(c.why));
  }
  conflicts_.clear();
}

std::uint32_t History::remember(const Touch& touch, unsigned lane) {
  touches_.push_back({touch, next_place_, lane});
  return next_place_;
}

void History::weak_access(int t) {
  const Thread& me = threads_[static_cast<std::size_t>(t)];
  const unsigned bytes = 1u << below(4), begin = below(32 - bytes);
  const int space = static_cast<int>(below(2));
  const bool write = below(2) != 0;
  std::uint64_t addresses[lanes] = {};
  addresses[me.lane] = begin;
  const Touch x = touch(t, graph_->step(t), space, begin, bytes, write);
  memory_[space].access(block(t), me.warp,
                        {addresses, Mask{1} << me.lane, bytes, next_place_, write}, conflicts_);
  compare({x});
  remember(x, me.lane);
  ++next_place_;
}

// All able threads of the warp access memory together.
void History::warp_access(int t) {
  const Thread me = threads_[static_cast<std::size_t>(t)];
  const unsigned bytes = 1u << below(3), begin = below(16);
  const int space = static_cast<int>(below(2));
  const bool write = below(2) != 0, together = !write && below(2);
  std::uint64_t addresses[lanes] = {};
  Mask mask = 0;
  std::vector<Touch> now;
  std::vector<unsigned> who;
  for (int o = 0; o < static_cast<int>(threads_.size()); ++o) {
    const Thread& other = threads_[static_cast<std::size_t>(o)];
    if (other.block != me.block || other.warp != me.warp || other.waiting) continue;
    const unsigned at = begin + (together ? 0 : other.lane * bytes);
    addresses[other.lane] = at;
    mask |= Mask{1} << other.lane;
    now.push_back(touch(o, graph_->step(o), space, at, bytes, write));
    who.push_back(other.lane);
  }
  memory_[space].access(block(t), me.warp, {addresses, mask, bytes, next_place_, write},
                        conflicts_);
  compare(now);
  for (std::size_t i = 0; i < now.size(); ++i) remember(now[i], who[i]);
  ++next_place_;
}

Heads History::seen(const Variable& v, int t, Scope far, std::size_t write) const {
  Heads heads;
  const Scope between = level(v.writes[write].place, graph_->place(t));
  if (v.writes[write].scope < between || far < between) return heads;
  for (int w = static_cast<int>(write); w >= 0; w = v.writes[static_cast<std::size_t>(w)].chain) {
    const Heads& of = v.writes[static_cast<std::size_t>(w)].heads;
    heads.insert(heads.end(), of.begin(), of.end());
  }
  return heads;
}

void History::fence(int t) {
  const Thread& me = threads_[static_cast<std::size_t>(t)];
  const Order o = order();
  const Scope far = scope();
  block(t).fence(me.warp, Mask{1} << me.lane, o, far);
  graph_->fence(t, o, far);
}

// Half of a message: data and a flag, with or without fences.
void History::message(int t) {
  const bool fences = below(2) != 0;
  if (below(2) != 0) {
    weak_access(t);
    if (fences) fence(t);
    strong_access(t, 2 * below(2), fences ? Order::relaxed : Order::acq_rel);
  } else {
    strong_access(t, 1, fences ? Order::relaxed : Order::acquire);
    if (fences) fence(t);
    weak_access(t);
  }
}

void History::copy_and_wait(int t) {
  const bool bulk = below(2) != 0;
  bulk ? bulk_copy(t) : group_copy(t);
  wait(t, bulk ? 1 : 0);
  wait(t, bulk ? 3 : 2);
  weak_access(t);
}

void History::strong_access(int t, std::uint32_t kind, Order o) {
  const Thread& me = threads_[static_cast<std::size_t>(t)];
  const int which = static_cast<int>(below(2));
  Variable& v = variables_[which];
  // kind: write, read, update
  const Scope far = scope();
  const Node node = graph_->step(t);
  std::size_t saw = v.writes.size() - 1;
  std::uint64_t number = Location::latest;
  if (kind == 1 && v.writes.size() >= 2 && below(4) == 0 && v.writes.back().chain < 0) {
    saw = v.writes.size() - 2;  // a read may see the write before the last
    number = v.writes[saw].number;
  }
  Touch x = touch(t, node, 1, static_cast<unsigned>(which) * 4, 4, kind != 1);
  x.strong = true;
  x.scope = far;
  std::uint64_t addresses[lanes] = {};
  addresses[me.lane] = x.begin;
  // A read of the write before the last observes neither here.
  Observations observed;
  shadow::Access access{addresses, Mask{1} << me.lane, 4, next_place_, x.write, true, far};
  access.update = kind == 2;
  access.observes = kind == 1 && number == Location::latest ? &observed : nullptr;
  memory_[1].access(block(t), me.warp, access, conflicts_);
  compare({x});
  remember(x, me.lane);
  ++next_place_;
  for (const Observation& each : observed) block(t).observed(me.warp, each);

  int chain = -1;
  if (kind != 0) {
    Heads got;
    if (!v.writes.empty()) {
      got = seen(v, t, far, saw);
      const Scope between = level(v.writes[saw].place, graph_->place(t));
      const bool strong = v.writes[saw].scope >= between && far >= between;
      for (int w = static_cast<int>(saw); strong && number == Location::latest && w >= 0;) {
        const Write& write = v.writes[static_cast<std::size_t>(w)];
        graph_->observe(write.node, node);
        w = write.chain;
      }
      if (kind == 2 && v.writes[saw].scope >= between && far >= between)
        chain = static_cast<int>(saw);
    }
    graph_->read(t, node, which, o, far, got);
  }
  if (kind != 1)
    v.writes.push_back(
        {graph_->place(t), far, graph_->heads(t, node, which, o, far), chain, 0, node});
  const std::uint64_t address = static_cast<std::uint64_t>(which) * 4;
  if (kind == 0)
    v.writes.back().number = block(t).strong_write(me.warp, me.lane, address, v.location, o, far);
  else if (kind == 1)
    block(t).strong_read(me.warp, me.lane, address, v.location, o, far, number);
  else
    v.writes.back().number = block(t).update(me.warp, me.lane, address, v.location, o, far);
}

// --- barriers

void History::warp_sync(int t) {
  const Thread me = threads_[static_cast<std::size_t>(t)];
  Mask mask = 0;
  std::vector<Node> arrived;
  std::vector<int> who;
  for (int o = 0; o < static_cast<int>(threads_.size()); ++o) {
    const Thread& other = threads_[static_cast<std::size_t>(o)];
    if (other.block != me.block || other.warp != me.warp || other.waiting) continue;
    if (o != t && below(4) == 0) continue;
    mask |= Mask{1} << other.lane;
    who.push_back(o);
    arrived.push_back(graph_->step(o));
  }
  brute_force::Halves halves;
  for (const int o : who) halves.add(graph_->halves(o));
  for (const int o : who) {
    const Node n = graph_->step(o);
    for (const Node a : arrived) graph_->edge(a, n);
    graph_->take(o, halves);
  }
  block(t).warp_sync(me.warp, mask);
}

void History::barrier(int t) {
  Thread& me = threads_[static_cast<std::size_t>(t)];
  Met& met = *barriers_[me.block];
  const Mask lane = Mask{1} << me.lane;
  met.arrived.push_back(graph_->step(t));
  met.halves.add(graph_->halves(t));
  if (below(3) == 0) return block(t).arrive(met.clock, me.warp, lane);
  // Sometimes all threads of the block arrive, also those without other work.
  bool alone = below(2) != 0 || !met.waiting.empty();
  if (!alone) {
    for (std::uint32_t w = 0; w < block(t).warps(); ++w)
      block(t).arrive_and_wait(met.clock, w, block(t).live(w));
    met.arrived.pop_back();
    for (int o = 0; o < static_cast<int>(threads_.size()); ++o)
      if (threads_[static_cast<std::size_t>(o)].block == me.block) {
        met.arrived.push_back(graph_->step(o));
        met.halves.add(graph_->halves(o));
        threads_[static_cast<std::size_t>(o)].waiting = true;
        met.waiting.push_back(o);
      }
    return complete_barrier(me.block);
  }
  block(t).arrive_and_wait(met.clock, me.warp, lane);
  me.waiting = true;
  met.waiting.push_back(t);
}

void History::complete_barrier(std::uint32_t b) {
  Met& met = *barriers_[b];
  met.clock.complete();
  for (const int o : met.waiting) {
    threads_[static_cast<std::size_t>(o)].waiting = false;
    const Node n = graph_->step(o);
    for (const Node a : met.arrived) graph_->edge(a, n);
    graph_->take(o, met.halves);
  }
  met.halves = {};
  met.waiting.clear();
  met.arrived.clear();
}

void History::cluster_barrier(int t) {
  Thread& me = threads_[static_cast<std::size_t>(t)];
  const Mask lane = Mask{1} << me.lane;
  if (me.cluster == 1) return;
  if (me.cluster == 2) {
    const Order o = below(4) ? Order::acquire : Order::relaxed;
    block(t).wait(cluster_.clock, me.warp, lane, o);
    const Node n = graph_->step(t);
    if (acquires(o))
      for (const Node a : cluster_.completed) graph_->edge(a, n);
    if (acquires(o)) {
      brute_force::Halves halves = graph_->halves(t);
      halves.add(cluster_.completed_halves);
      graph_->take(t, halves);
    }
    me.cluster = 0;
    return;
  }
  const Order o = below(4) ? Order::release : Order::relaxed;
  block(t).arrive(cluster_.clock, me.warp, lane, o);
  const Node n = graph_->step(t);
  if (releases(o)) cluster_.arrived.push_back(n);
  if (releases(o)) cluster_.halves.add(graph_->halves(t));
  for (const Node f : graph_->cluster_fences(t)) cluster_.arrived.push_back(f);
  me.cluster = 1;
  if (!std::all_of(threads_.begin(), threads_.end(),
                   [](const Thread& x) { return x.cluster == 1; }))
    return;
  cluster_.clock.complete();
  cluster_.completed = std::move(cluster_.arrived);
  cluster_.arrived.clear();
  cluster_.completed_halves = std::exchange(cluster_.halves, {});
  for (Thread& x : threads_) x.cluster = 2;
}

// --- mbarriers

void History::mbarrier(int t) {
  const Thread& me = threads_[static_cast<std::size_t>(t)];
  const int which = static_cast<int>(below(2));
  Bar& bar = bars_[which];
  const Mask lane = Mask{1} << me.lane;
  const Order o = order();
  const Scope far = scope();
  switch (below(4)) {
    case 0: {
      block(t).arrive(bar.clock, me.warp, lane, o, far);
      const Node n = graph_->step(t);
      // Another release of this location counts too, since arrivals accumulate.
      const Heads heads = graph_->heads(t, n, 10 + which, o, far);
      bar.arrived.insert(bar.arrived.end(), heads.begin(), heads.end());
      break;
    }
    case 1:
      complete(bar);
      break;
    default: {
      block(t).observe(bar.clock, me.warp, lane, o, far);
      graph_->read(t, graph_->step(t), 10 + which, o, far, bar.completed);
    }
  }
}

void History::arrive_later(Bar& bar, std::size_t index) {
  const InFlight p = std::move(bar.pending[index]);
  bar.pending.erase(bar.pending.begin() + static_cast<std::ptrdiff_t>(index));
  if (p.by)
    Block::copied(bar.clock, p.knows);
  else
    Block::arrive(bar.clock, *p.arrival, p.lanes, p.place, p.scope);
  // The issuing thread's position. An acquiring thread knows a bulk copy's own nodes.
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    bar.arrived.push_back({p.nodes[i], p.scope, p.place, i > 0 && p.by.has_value()});
}

void History::complete(Bar& bar) {
  for (std::size_t i = bar.pending.size(); i-- > 0;)
    if (below(4) != 0) arrive_later(bar, i);
  bar.owner->complete(bar.clock);
  bar.completed = bar.arrived;
  for (InFlight& p : bar.pending) {
    if (!p.by) continue;
    memory_[0].restamp(*p.by, bar.owner->epoch(), p.begin, p.end - p.begin);
    memory_[1].restamp(*p.by, bar.owner->epoch(), p.source, p.end - p.begin);
    p.by->epoch = bar.owner->tick();
  }
}

// --- copies

void History::group_copy(int t) {
  Thread& me = threads_[static_cast<std::size_t>(t)];
  const unsigned bytes = 4u << below(3), from = below(32 - bytes), to = below(32 - bytes);
  const Node issue = graph_->step(t);
  std::uint64_t addresses[lanes] = {};
  for (const bool write : {false, true}) {
    const Touch x = touch(t, graph_->beside(issue), write ? 0 : 1, write ? to : from, bytes, write);
    addresses[me.lane] = x.begin;
    memory_[x.space].copy(block(t), me.warp,
                          {addresses, Mask{1} << me.lane, bytes, next_place_, write}, conflicts_);
    compare({x});
    remember(x, me.lane);
    ++next_place_;
    me.open[0].push_back(x.node);
  }
}

// A bulk store: reads shared memory, writes global memory, completes by a bulk group.
void History::bulk_copy(int t) {
  Thread& me = threads_[static_cast<std::size_t>(t)];
  const unsigned bytes = 16, from = below(16), to = below(16);
  const Node issue = graph_->step(t);
  for (const bool write : {false, true}) {
    Touch x = touch(t, graph_->beside(issue), write ? 1 : 0, write ? to : from, bytes, write);
    x.async = true;
    const Row row = warp_row(block(t).row(), write ? Part::bulk_write : Part::bulk_read, me.warp);
    memory_[x.space].copy(block(t), me.warp, me.lane, {row, me.lane, block(t).epoch()},
                          {x.begin, bytes, next_place_, write}, conflicts_);
    compare({x});
    remember(x, me.lane);
    ++next_place_;
    me.open[1].push_back(x.node);
    if (!write) me.open_reads.push_back(x.node);
  }
}

// A bulk load: reads global memory, writes shared memory, completes on an mbarrier.
void History::bulk_load(int t) {
  Thread& me = threads_[static_cast<std::size_t>(t)];
  Bar& bar = bars_[below(2)];
  const unsigned bytes = 16, from = below(16), to = below(16);
  const Node issue = graph_->step(t);
  InFlight p;
  p.by = shadow::Performer{bar.clock.row(), bar.clock.lane(), bar.owner->tick()};
  p.nodes = {issue};
  p.scope = Scope::cluster;
  p.place = graph_->place(t);
  p.begin = to;
  p.end = to + bytes;
  p.source = from;
  for (const bool write : {false, true}) {
    Touch x = touch(t, graph_->beside(issue), write ? 0 : 1, write ? to : from, bytes, write);
    x.async = true;
    memory_[x.space].copy(block(t), me.warp, me.lane, *p.by, {x.begin, bytes, next_place_, write},
                          conflicts_);
    compare({x});
    remember(x, bar.clock.lane());
    ++next_place_;
    p.nodes.push_back(x.node);
  }
  p.knows = block(t).issue(me.warp, me.lane);
  bar.pending.push_back(std::move(p));
}

void History::wait(int t, std::uint32_t kind) {
  Thread& me = threads_[static_cast<std::size_t>(t)];
  const Mask lane = Mask{1} << me.lane;
  const std::uint32_t allowed = below(3);
  const Node n = graph_->step(t);
  const auto done = [&](const std::vector<std::vector<Node>>& groups) {
    for (std::size_t g = 0; g + allowed < groups.size(); ++g)
      for (const Node c : groups[g]) graph_->edge(c, n);
  };
  switch (kind) {
    case 0: {
      block(t).commit(me.warp, lane, false);
      me.groups[0].push_back(std::exchange(me.open[0], {}));
      break;
    }
    case 1: {
      block(t).commit(me.warp, lane, true);
      me.groups[1].push_back(std::exchange(me.open[1], {}));
      me.read_groups.push_back(std::exchange(me.open_reads, {}));
      break;
    }
    case 2: {
      block(t).wait_group(me.warp, lane, allowed);
      done(me.groups[0]);
      break;
    }
    case 3: {
      const bool reads = below(2) != 0;
      block(t).wait_bulk(me.warp, lane, allowed, reads);
      done(reads ? me.read_groups : me.groups[1]);
      break;
    }
    case 4: {
      block(t).wait_all(me.warp, lane);
      for (const Node c : me.open[0]) graph_->edge(c, n);
      for (const auto& g : me.groups[0])
        for (const Node c : g) graph_->edge(c, n);
      break;
    }
    default: {  // cp.async.mbarrier.arrive
      InFlight p;
      p.arrival = block(t).arrival_with_copies(me.warp, lane);
      p.lanes = lane;
      p.scope = Scope::cta;
      p.place = graph_->place(t);
      p.nodes = {n};
      for (const Node c : me.open[0]) p.nodes.push_back(c);
      for (const auto& g : me.groups[0]) p.nodes.insert(p.nodes.end(), g.begin(), g.end());
      bars_[below(2)].pending.push_back(std::move(p));
    }
  }
}

}  // namespace inflight::order
