// Accesses of threads, and fences.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "gpu/check/detect/races/races.hpp"
#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

namespace {

// Those of `lanes` whose address one of `others` has as well.
Mask at_places_of(const std::uint64_t* addresses, Mask lanes, Mask others) {
  Mask found = 0;
  for (Mask l = lanes; l != 0; l &= l - 1)
    for (Mask o = others; o != 0; o &= o - 1)
      if (addresses[std::countr_zero(l)] == addresses[std::countr_zero(o)]) {
        found |= l & -l;
        break;
      }
  return found;
}

// The conflict's earlier side is a write by a thread, not by a copy.
bool behind_a_thread(const shadow::Conflict& c) {
  return c.earlier.write && !is_copy(initiator_of(c.earlier.row, false));
}

// Through a cache that no synchronisation updates.
bool reads_by_cache(Proxy proxy) { return proxy == Proxy::texture || proxy == Proxy::constant; }

// Marks, from conflict `first` on, those of two lanes that write different values to one address by
// this store, in epoch `now`. Removes them if its values are not known.
void find_at_once(const Access& event, Mask lanes, order::Epoch now, std::size_t first,
                  std::vector<shadow::Conflict>& conflicts) {
  const bool known = event.compared;
  for (std::size_t i = first; i < conflicts.size(); ++i) {
    shadow::Conflict& c = conflicts[i];
    const unsigned one = c.earlier.lane, other = c.later.lane;
    if (c.why == shadow::Why::no_edge && c.earlier.row == c.later.row &&
        c.earlier.place == c.later.place && (known || c.earlier.epoch == now) &&
        (lanes >> one & lanes >> other & 1) != 0 && event.addresses[one] == event.addresses[other])
      c.why = shadow::Why::at_once;
  }
  if (!known)
    conflicts.erase(
        std::remove_if(conflicts.begin() + static_cast<std::ptrdiff_t>(first), conflicts.end(),
                       [](const auto& c) { return c.why == shadow::Why::at_once; }),
        conflicts.end());
}

// Excuses conflicts of a write that by now stores the value already in memory. Another block may
// have stored the same value, or reported its store, after this one was compared with memory.
void excuse_same_values(const Access& event, std::vector<shadow::Conflict>& conflicts) {
  if (!event.pending || std::none_of(conflicts.begin(), conflicts.end(), behind_a_thread)) return;
  const Mask silent = event.pending->silent_now();
  for (shadow::Conflict& c : conflicts)
    if (behind_a_thread(c) && (silent >> c.later.lane & 1) != 0)
      c.excuse = shadow::Excuse::same_value;
}

}  // namespace

void Races::accessed(const Access& event) {
  if (event.space != Space::global && event.space != Space::shared &&
      event.space != Space::constant)
    return;
  if (event.proxy == Proxy::tensormap) return;
  if (event.unread != 0) {
    Access used = event;
    used.bytes -= std::exchange(used.unread, 0);
    return accessed(used);
  }
  const bool leaves_log = event.kind == Access::Kind::load && event.order == Order::weak &&
                          event.space != Space::shared;
  Block* const block = leaves_log ? block_that_reads(event.who) : block_of(event.who);
  if (!block) return;
  if (event.space == Space::constant) return constants_read(*block, event);
  const Mask all = event.who.mask & ~event.dropped, writes = all & event.written;
  for (Mask left = all; left != 0;) {
    Block* owner = nullptr;
    Mask same = left;
    if (event.space == Space::shared && event.ranks) {
      const std::uint16_t rank = event.ranks[std::countr_zero(left)];
      for (Mask m = left; m != 0; m &= m - 1)
        if (event.ranks[std::countr_zero(m)] != rank) same &= ~(m & -m);
      owner = peer(*block, rank);
    } else if (event.space == Space::shared) {
      owner = block;
    }
    left &= ~same;
    if (event.space == Space::shared && !owner) continue;
    if (same & ~writes) touch(*block, owner, event, same & ~writes, false);
    if (same & writes) touch(*block, owner, event, same & writes, true);
  }
}

void Races::constants_read(Block& block, const Access& event) {
  const Mask unread = block.constants.unread(event, block.order.epoch());
  if (unread) touch(block, nullptr, event, unread, false);
}

void Races::touch(Block& block, Block* owner, const Access& event, Mask mask, bool write) {
  if (owner && write && !owner->live_words.empty())
    for (Mask m = mask; m != 0; m &= m - 1)
      if (const std::uint64_t at = event.addresses[std::countr_zero(m)];
          const Mbarrier* const lives = owner->living_in(at, event.bytes)) {
        reporter_.overwritten(event.who, *lives, at, event.bytes);
        mask &= ~(m & -m);
      }
  if (mask == 0) return;
  if (owner && owner != &block) used_remotely(block, *owner, event.who, mask);
  if (!owner && write && event.bytes == map_bytes) [[unlikely]]
    map_changed(block, event, mask);
  const bool flag =
      write && !owner && event.order == Order::weak && publishes_to_host(block, event, mask);
  const bool strong = event.order != Order::weak;
  if (!owner && write) block.constants.written(event, mask);
  ++block.accesses;
  const bool volatile_data =
      event.order == Order::volatile_ && !event.flag &&
      (event.kind == Access::Kind::load || event.kind == Access::Kind::store);
  if (!owner && write && (!strong || volatile_data)) block.order.stored(event.who.warp, mask);
  if (!write) candidates_.check_read_back(block.order.row(), event, mask);
  if (!write && !strong)
    block.warps[event.who.warp].last_load = {event.addresses[std::countr_zero(mask)], mask,
                                             event.who.instruction};
  if (event.peeks && !write) peeked(block, event.who);
  if (event.flag) [[unlikely]]
    polled(block, owner, event, mask);
  if (!owner && !strong &&
      block.repeats.again(event, mask, write, block.order.epoch(),
                          memory_changes_.load(std::memory_order_relaxed)))
    return;
  if (event.kind == Access::Kind::load && !strong) return loaded(block, owner, event, mask);
  if (strong) synchronise(block, owner, event, mask, write, true);
  if (!owner && (flag || (strong && event.scope == Scope::sys))) {
    if (event.kind != Access::Kind::store) acquire_from_host(block, event, mask);
    if (write) publish_to_host(block, event, mask);
  }
  const PlaceId place = block.place_of(event.who, session_.places);
  const auto access = [&](Mask part, bool differ = false, Mask silently = 0) {
    shadow_of(owner).access(
        block.order, event.who.warp,
        {event.addresses, part, event.bytes, place, write, strong || flag,
         flag ? order::Scope::sys : scope_of(event.scope), differ, reads_by_cache(event.proxy),
         event.in_row, silently, strong && write && event.kind != Access::Kind::store,
         strong && !write ? &block.observed : nullptr, volatile_data},
        block.conflicts);
  };
  // Threads that write the same value do not conflict. Lanes that write the value of a lower lane
  // come after that one.
  const auto access_silently = [&](Mask part) {
    const auto found = block.conflicts.size();
    access(part, true);
    for (auto i = found; i < block.conflicts.size(); ++i)
      if (behind_a_thread(block.conflicts[i]))
        block.conflicts[i].excuse = shadow::Excuse::same_value;
  };
  const Mask silent = write ? mask & event.silent : 0, rest = mask & ~silent;
  // No two lanes of a row have the same address, so one record can be for all of them.
  const bool as_one = silent && rest && event.in_row;
  const Mask followers =
      silent && rest && !as_one ? at_places_of(event.addresses, silent, rest) : 0;
  if (as_one) {
    access(mask, false, silent);
  } else if (silent & ~followers) {
    access_silently(silent & ~followers);
  }
  if (rest && !as_one) {
    const auto before = block.conflicts.size();
    const bool differ = write && !strong && event.kind == Access::Kind::store;
    access(rest, differ);
    if (differ && block.conflicts.size() != before)
      find_at_once(event, rest, block.order.epoch(), before, block.conflicts);
  }
  if (followers) access_silently(followers);
  excuse_same_values(event, block.conflicts);
  if (!block.observed.empty()) observe(block, owner, event);
  if (event.kind == Access::Kind::atomic || event.kind == Access::Kind::reduction)
    candidates_.updated(block.order.row(), event, mask);
  if (strong) synchronise(block, owner, event, mask, write, false);
  report(event.who, block, event.space, false, &event, owner);
  if (event.kind == Access::Kind::atomic && candidates_.any())
    check_load_before_atomic(block, event, mask);
}

// The rest of touch() for a weak load, the most frequent access.
void Races::loaded(Block& block, Block* owner, const Access& event, Mask mask) {
  const PlaceId place = block.place_of(event.who, session_.places);
  shadow_of(owner).access(block.order, event.who.warp,
                          {event.addresses, mask, event.bytes, place, false, false,
                           scope_of(event.scope), false, reads_by_cache(event.proxy), event.in_row},
                          block.conflicts);
  if (event.log && owner == &block && !candidates_.any_at_once()) {
    block.shared.offer(block.order, *event.log);
    if (event.log->is_open()) block.log = event.log;
  }
  report(event.who, block, event.space, false, &event, owner);
}

void Races::peeked(Block& block, const Who& who) {
  auto& known = block.peeks;
  if (std::find(known.begin(), known.end(), who.instruction) != known.end()) return;
  known.push_back(who.instruction);
  candidates_.mark_correct(reporter_.line_of(block.place_of(who, session_.places)));
}

// A location that a thread polls is a flag, which needs no order itself.
void Races::polled(Block& block, const Block* owner, const Access& event, Mask mask) {
  std::uint64_t sum = event.who.instruction;
  for (Mask m = mask; m != 0; m &= m - 1) sum = sum * 31 + event.addresses[std::countr_zero(m)];
  if (std::exchange(block.warps[event.who.warp].last_poll, sum) == sum) return;
  for (Mask m = mask; m != 0; m &= m - 1)
    flags_.add(key_of(owner, event.addresses[std::countr_zero(m)]));
}

// The warp's last weak load may be that of a lane whose own atomic this is.
void Races::check_load_before_atomic(Block& block, const Access& atomic, Mask mask) {
  const Block::LastLoad& load = block.warps[atomic.who.warp].last_load;
  const Mask first = load.lanes & -load.lanes & mask;
  if (first == 0 || atomic.addresses[std::countr_zero(first)] != load.address) return;
  Who who = atomic.who;
  who.instruction = load.instruction;
  candidates_.mark_correct(reporter_.line_of(block.place_of(who, session_.places)));
}

// Whatever a thread knows of another block, by a chain of operations of any order or scope, tells
// it that the block has begun.
void Races::check_begun(Block& block, const Block& owner, const Who& who, Mask mask) {
  const std::uint32_t warps = block.order.warps();
  block.peers_begun.resize(block.cluster->blocks.size() * warps);
  order::Mask& known = block.peers_begun[owner.rank * warps + who.warp];
  if ((mask & ~known) == 0 || block.early) return;
  for (const auto& group : block.order.groups(who.warp))
    for (std::uint32_t w = 0; w < owner.order.warps(); ++w) {
      const order::Row row = order::warp_row(owner.order.row(), order::Part::thread, w);
      if (group.view->known.loose.known(row, 1) != 0) known |= group.lanes;
    }
  if (mask & ~known) block.early = {who, owner.rank};
}

void Races::used_remotely(Block& block, Block& owner, const Who& who, Mask mask) {
  check_begun(block, owner, who, mask);
  if (owner.ended) return reporter_.peer_exited(who, owner.rank);
  const order::Row row = order::warp_row(block.order.row(), order::Part::thread, who.warp);
  const PlaceId place = session_.places.of(who);
  for (RemoteUse& use : owner.remote)
    if (use.row == row && use.place == place && use.lanes == mask) {
      use.epoch = block.order.epoch();
      return;
    }
  owner.remote.push_back({row, mask, block.order.epoch(), place, who});
}

void Races::fenced(const Fence& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  const order::Scope scope = scope_of(event.scope);
  const bool publishes = event.kind == Fence::Kind::mbarrier_init ||
                         (event.kind == Fence::Kind::memory && releases(order_of(event.order)) &&
                          scope >= order::Scope::cluster);
  if (publishes)
    for (auto& [offset, m] : block->mbarriers)
      if (m->who.warp == event.who.warp && m->who.mask & event.who.mask) m->fenced = true;
  if (event.kind == Fence::Kind::memory)
    return block->order.fence(event.who.warp, event.who.mask, order_of(event.order), scope);
  if (event.kind == Fence::Kind::proxy && event.address != 0 &&
      (event.from == Proxy::tensormap || event.to == Proxy::tensormap))
    return map_acquired(*block, event);
  if (event.kind == Fence::Kind::proxy && (event.from == Proxy::async || event.to == Proxy::async))
    block->order.proxy_fence(event.who.warp, event.who.mask,
                             !event.limited || event.space == Space::shared,
                             !event.limited || event.space == Space::global);
}

}  // namespace inflight::check::races
