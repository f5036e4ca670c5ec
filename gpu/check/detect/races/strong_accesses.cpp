// Synchronisation by strong accesses: what they acquire and release, and which write a read
// observes.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "gpu/check/detect/races/races.hpp"

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

// A unique key of a location in global memory or in a block's shared memory.
std::uint64_t key_of(const Block* owner, std::uint64_t address) {
  return owner ? std::uint64_t{1} << 62 | order::block_of(owner->order.row()) << 18 | address
               : address;
}

namespace {

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

void Races::observe(Block& block, Block* owner, const Access& event) {
  for (order::Observation& each : block.observed) {
    for (Mask m = event.decision ? each.readers : 0; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const std::uint64_t own = event.addresses[lane];
      const auto leave_out_later = [&](const order::Location& at) {
        const std::uint64_t saw = read_at_worst(block, event, lane, at);
        if (saw != order::Location::latest && at.is_later(saw, each.row, each.lane, each.epoch))
          each.readers &= ~(m & -m);
      };
      if (!owner)
        locations_.with(aliases_.at(own), false, leave_out_later);
      else if (const order::Location* const at = owner->locations.find(own))
        leave_out_later(*at);
    }
    if (each.readers) block.order.observed(event.who.warp, each);
  }
  block.observed.clear();
}

}  // namespace inflight::check::races
