// Accesses of threads, synchronisation by strong ones, and fences.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "gpu/check/detect/races/races.hpp"
#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

order::Order order_of(Order o) {
  switch (o) {
    case Order::acquire:
      return order::Order::acquire;
    case Order::release:
      return order::Order::release;
    case Order::acq_rel:
      return order::Order::acq_rel;
    case Order::seq_cst:
      return order::Order::sc;
    default:
      return order::Order::relaxed;
  }
}

order::Scope scope_of(Scope s) {
  switch (s) {
    case Scope::cluster:
      return order::Scope::cluster;
    case Scope::gpu:
      return order::Scope::gpu;
    case Scope::sys:
      return order::Scope::sys;
    default:
      return order::Scope::cta;
  }
}

namespace {

// A unique key of a location in global memory or in a block's shared memory.
std::uint64_t key_of(const Block* owner, std::uint64_t address) {
  return owner ? std::uint64_t{1} << 62 | order::block_of(owner->order.row()) << 18 | address
               : address;
}

// The earlier side of `conflict` is a strong write, and a thread of the block has read its value by
// its warp's last strong read. Whatever that read's order, what follows it comes after the write,
// though not after what the writer did before (PTX ISA, causality order: observation).
bool has_observed(const Block& block, Block* owner, const Access& event,
                  const shadow::Conflict& conflict, Locations& locations, const Aliases& aliases) {
  const shadow::Side& write = conflict.earlier;
  if (conflict.why != shadow::Why::weak_edge || !write.write || !write.strong || write.async)
    return false;
  const bool far = order::block_of(write.row) != order::block_of(block.order.row());
  if (far && write.scope < order::Scope::gpu) return false;
  for (Mask m = event.who.mask; m != 0; m &= m - 1) {
    const std::uint64_t own = event.addresses[std::countr_zero(m)];
    if (conflict.address < own || conflict.address >= own + event.bytes) continue;
    const std::uint64_t address = owner ? own : aliases.at(own), key = key_of(owner, address);
    const auto has_read = [&](const order::Location& at) {
      return std::any_of(block.warps.begin(), block.warps.end(), [&](const Block::Warp& warp) {
        const Block::LastRead& read = warp.last_read;
        return read.location == key && read.writes == at.writes() &&
               (!far || read.scope >= order::Scope::gpu);
      });
    };
    bool found = false;
    if (!owner)
      locations.with(address, false, [&](const order::Location& at) { found = has_read(at); });
    else if (const order::Location* const at = owner->locations.find(address))
      found = has_read(*at);
    return found;
  }
  return false;
}

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

// The lanes' addresses are in equal steps, so all differ. May be false even if all differ.
bool all_apart(const std::uint64_t* addresses, Mask lanes) {
  const Mask rest = lanes & (lanes - 1);
  if (rest == 0) return true;
  const int low = std::countr_zero(lanes), next = std::countr_zero(rest);
  const std::uint64_t step = addresses[next] - addresses[low];
  return next == low + 1 && step != 0 &&
         (lanes & ~shadow::lanes_of(addresses, addresses[low] - step * static_cast<unsigned>(low),
                                    step)) == 0;
}

// The conflict's earlier side is a write by a thread, not by a copy.
bool behind_a_thread(const shadow::Conflict& c) {
  return c.earlier.write && !is_copy(initiator_of(c.earlier.row, false));
}

// Marks, from conflict `first` on, those of two lanes that write different values to one address by
// this store, in epoch `now`. Removes them if the instruction is not `st`, because its values are
// not known.
void find_at_once(const Access& event, Mask lanes, std::string_view instruction, order::Epoch now,
                  std::size_t first, std::vector<shadow::Conflict>& conflicts) {
  const bool known = instruction.starts_with("st.");
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

// Removes conflicts of a write that by now stores the value already in memory. Another block may
// have stored the same value, or reported its store, after this one was compared with memory.
void drop_same_values(const Access& event, std::vector<shadow::Conflict>& conflicts) {
  if (!event.pending || std::none_of(conflicts.begin(), conflicts.end(), behind_a_thread)) return;
  const Mask silent = event.pending->silent_now();
  std::erase_if(conflicts, [&](const shadow::Conflict& c) {
    return behind_a_thread(c) && (silent >> c.later.lane & 1) != 0;
  });
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
  const Mask unread = block.constants.unread(event);
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
  ++block.accesses;
  if (!owner && write && !strong) block.order.stored(event.who.warp, mask);
  if (!write) candidates_.check_read_back(block.order.row(), event, mask);
  if (!write && !strong)
    block.warps[event.who.warp].last_load = {event.addresses[std::countr_zero(mask)], mask,
                                             event.who.instruction};
  if (event.peeks && !write) peeked(block, event.who);
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
    shadow_of(owner).access(block.order, event.who.warp,
                            {event.addresses, part, event.bytes, place, write, strong || flag,
                             flag ? order::Scope::sys : scope_of(event.scope), differ,
                             event.proxy == Proxy::texture, event.in_row, silently},
                            block.conflicts);
  };
  // Threads that write the same value do not conflict. Lanes that write the value of a lower lane
  // come after that one.
  const auto access_silently = [&](Mask part) {
    const auto found = static_cast<std::ptrdiff_t>(block.conflicts.size());
    access(part);
    block.conflicts.erase(
        std::remove_if(block.conflicts.begin() + found, block.conflicts.end(), behind_a_thread),
        block.conflicts.end());
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
      find_at_once(event, rest, session_.places.at(place).instruction, block.order.epoch(), before,
                   block.conflicts);
  }
  if (followers) access_silently(followers);
  drop_same_values(event, block.conflicts);
  if (!strong)
    std::erase_if(block.conflicts, [&](const shadow::Conflict& c) {
      return has_observed(block, owner, event, c, locations_, aliases_);
    });
  if (event.kind == Access::Kind::atomic || event.kind == Access::Kind::reduction)
    candidates_.updated(block.order.row(), event, mask);
  if (strong) synchronise(block, owner, event, mask, write, false);
  report(event.who, block, event.space, false, &event);
  if (event.kind == Access::Kind::atomic && candidates_.any())
    check_load_before_atomic(block, event, mask);
}

// The rest of touch() for a weak load, the most frequent access.
void Races::loaded(Block& block, Block* owner, const Access& event, Mask mask) {
  const PlaceId place = block.place_of(event.who, session_.places);
  shadow_of(owner).access(
      block.order, event.who.warp,
      {event.addresses, mask, event.bytes, place, false, false, scope_of(event.scope), false,
       event.proxy == Proxy::texture, event.in_row},
      block.conflicts);
  if (event.log && owner == &block && !candidates_.any_at_once()) {
    block.shared.offer(block.order, *event.log);
    if (event.log->is_open()) block.log = event.log;
  }
  if (block.conflicts.empty()) return;
  std::erase_if(block.conflicts, [&](const shadow::Conflict& c) {
    return has_observed(block, owner, event, c, locations_, aliases_);
  });
  report(event.who, block, event.space, false, &event);
}

void Races::peeked(Block& block, const Who& who) {
  auto& known = block.peeks;
  if (std::find(known.begin(), known.end(), who.instruction) != known.end()) return;
  known.push_back(who.instruction);
  candidates_.mark_correct(reporter_.line_of(block.place_of(who, session_.places)));
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

namespace {

constexpr auto system_scope = static_cast<std::size_t>(order::Scope::sys);

std::shared_ptr<const order::Patterns::Fence> system_fence(const order::View& view) {
  return view.patterns ? view.patterns->fences[system_scope] : nullptr;
}

}  // namespace

bool Races::publishes_to_host(const Block& block, const Access& event, Mask mask) const {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  return system_fence(block.order.view(event.who.warp, lane)) &&
         host_.is_shared(event.addresses[lane]);
}

// The host's polling accesses are not observed. So each side counts as having observed what the
// other wrote.
void Races::acquire_from_host(Block& block, const Access& event, Mask mask) {
  Block::AcquiredFromHost& acquired = block.warps[event.who.warp].acquired_from_host;
  if (const std::uint64_t news = host_.news(); acquired.news != news) acquired = {0, news};
  if ((mask & ~acquired.lanes) == 0 || !host_.is_shared(event.addresses[std::countr_zero(mask)]))
    return;
  acquired.lanes |= mask;
  block.order.learn(event.who.warp, mask, host_.host_knows());
}

void Races::publish_to_host(Block& block, const Access& event, Mask mask) {
  const bool is_release = releases(order_of(event.order));
  const std::uint32_t warp = event.who.warp;
  Block::PublishedToHost& published = block.warps[warp].published_to_host;
  for (const auto& group : block.order.groups(warp)) {
    const Mask lanes = group.lanes & mask;
    const auto fence = system_fence(*group.view);
    if (lanes == 0 || (!fence && !is_release)) continue;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    const bool again = published.fence == fence && (lanes & ~published.lanes) == 0;
    if ((again && !is_release) || !host_.is_shared(event.addresses[first])) continue;
    if (published.fence != fence) published = {fence, 0};
    published.lanes |= lanes;
    if (fence)
      host_.host_learns(fence->before.published(block.order.row(), warp, lanes, fence->epoch));
    for (Mask m = is_release ? lanes : 0; m != 0; m &= m - 1)
      host_.host_learns(block.order.issue(warp, static_cast<unsigned>(std::countr_zero(m))));
  }
}

namespace {

// The write that the lane counts as having read, if a load only compares its value: the oldest one
// that would have decided the same. In another order of the writers it reads that one.
std::uint64_t read_at_worst(const Block& block, const Access& event, unsigned lane,
                            const order::Location& at) {
  if (!event.decision || !event.read) return order::Location::latest;
  const order::Row own = order::warp_row(block.order.row(), order::Part::thread, event.who.warp);
  const order::Clock& known = block.order.view(event.who.warp, lane).known.loose;
  return at.oldest(
      event.read[lane], event.bytes,
      [&](const order::Location::Step& s) {
        return s.row == own || known.covers(s.row, s.lane, s.epoch);
      },
      [&](std::uint64_t value) { return (event.decision->alike(value) >> lane & 1) != 0; });
}

// Notes the values of the lane's write. Those between several lanes of one access are not known.
void note_values(const Block& block, const Access& event, Mask mask, unsigned lane,
                 order::Location& at) {
  if (!event.after) return;
  std::optional<std::uint64_t> before = event.before[lane], after = event.after[lane];
  for (Mask m = mask & ~(Mask{1} << lane); m != 0; m &= m - 1) {
    const auto other = static_cast<unsigned>(std::countr_zero(m));
    if (event.addresses[other] != event.addresses[lane]) continue;
    (other < lane ? before : after).reset();
  }
  at.note(before, after, event.bytes,
          order::warp_row(block.order.row(), order::Part::thread, event.who.warp), Mask{1} << lane,
          block.order.epoch() - 1);
}

}  // namespace

// Performs the acquire part of a strong access (`before` it) or its release part (after it).
void Races::synchronise(Block& block, Block* owner, const Access& event, Mask mask, bool write,
                        bool before) {
  order::Order order = order_of(event.order);
  const order::Scope scope = scope_of(event.scope);
  const std::uint32_t warp = event.who.warp;
  // A ticket: after a fence, a relaxed atomic that returns a value counts as an acquire. The CUDA
  // guide's own example reads what others wrote after it, without a second fence. The atomic itself
  // is not ordered by it.
  bool ticket = false;
  if (order == order::Order::relaxed && event.kind == Access::Kind::atomic) {
    const auto& halves =
        block.order.view(warp, static_cast<unsigned>(std::countr_zero(mask))).patterns;
    ticket = halves && halves->fences[static_cast<std::size_t>(scope)];
    if (ticket) order = order::Order::acquire;
  }
  if (ticket ? before : before ? !acquires(order) : !write && acquires(order)) return;
  const bool read = event.kind != Access::Kind::store;
  static const order::Location empty;
  const bool apart = write || all_apart(event.addresses, mask);
  for (Mask left = mask; left != 0;) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t own = event.addresses[lane], address = owner ? own : aliases_.at(own);
    const std::uint64_t key = key_of(owner, address);
    Mask same = Mask{1} << lane;  // lanes that only read there
    for (Mask m = apart ? 0 : left; m != 0; m &= m - 1)
      if (event.addresses[std::countr_zero(m)] == own) same |= m & -m;
    left &= ~same;
    const auto act = [&](order::Location& at) {
      if (!write) {
        for (Mask open = same; open != 0;) {
          const std::uint64_t saw =
              read_at_worst(block, event, static_cast<unsigned>(std::countr_zero(open)), at);
          Mask part = open;
          for (Mask m = event.decision ? open & (open - 1) : 0; m != 0; m &= m - 1)
            if (read_at_worst(block, event, static_cast<unsigned>(std::countr_zero(m)), at) != saw)
              part &= ~(m & -m);
          open &= ~part;
          const std::uint64_t writes = saw == order::Location::latest ? at.writes() : saw + 1;
          const Block::LastRead now{key, writes, part, order, scope};
          if (std::exchange(block.warps[warp].last_read, now) != now)
            block.order.strong_reads(warp, part, key, at, order, scope, saw);
        }
      } else if (before) {
        if (read) block.order.strong_read(warp, lane, key, at, order, scope);
      } else if (ticket) {
        block.order.strong_read(warp, lane, key, at, order, scope);
        block.order.ticket(warp, lane, key, at, scope);
      } else if (read) {
        block.order.update(warp, lane, key, at, order, scope);
      } else {
        block.order.strong_write(warp, lane, key, at, order, scope);
      }
      if (write && !before) note_values(block, event, mask, lane, at);
    };
    // A relaxed update continues what was published there. If nothing was, it need not be recorded.
    const bool counts =
        write && (order != order::Order::relaxed || !read || block.order.view(warp, lane).patterns);
    const bool make = !before && counts;
    bool known = false;
    if (!owner) {
      known = locations_.with(address, make, act);
    } else if (make) {
      act(owner->locations.at(address));
      known = true;
    } else if (order::Location* const found = owner->locations.find(address)) {
      act(*found);
      known = true;
    }
    if (!known && read && acquires(order))
      block.order.strong_reads(warp, same, key, empty, order, scope);
  }
}

void Races::used_remotely(Block& block, Block& owner, const Who& who, Mask mask) {
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
