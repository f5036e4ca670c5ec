// Events of instructions and of their memory accesses.
#include "gpu/machine/run/observe/access_events.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "gpu/machine/instruction/addresses.hpp"
#include "gpu/machine/instruction/comparisons.hpp"
#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/memory/strong_order.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/multicast_access.hpp"
#include "gpu/machine/run/observe/decision.hpp"
#include "gpu/machine/run/observe/dropped_lanes.hpp"
#include "gpu/machine/run/observe/events.hpp"
#include "gpu/machine/run/observe/silent_lanes.hpp"
#include "gpu/machine/run/pending_stores.hpp"
#include "gpu/machine/run/undefined.hpp"
#include "gpu/machine/run/undefined_steps.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using ptx::Space;

constexpr std::size_t most_row_bytes = 64;  // of a matrix, stored by one lane

check::Access access_event(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                           check::Space space, std::uint32_t mask) {
  check::Access event{w.block->grid->observation->who(w, mask, instruction),
                      space,
                      access_kind(info.role),
                      info.order,
                      info.scope,
                      info.proxy,
                      info.bytes};
  event.unread = info.unread;
  event.peeks = info.peeks;
  event.flag = info.flag;
  event.spins = info.spins;
  if (space == check::Space::local) event.frame = w.frame->local_base;
  event.written = event.kind == check::Access::Kind::load ? 0 : mask;
  return event;
}

// The values that an access read and wrote, if known.
struct Values {
  const std::uint64_t *read = nullptr, *wrote = nullptr;
  const std::uint64_t *before = nullptr, *after = nullptr;
  const check::Decision* decision = nullptr;
  std::uint32_t kept = 0;     // lanes whose compare-and-swap failed
  std::uint32_t dropped = 0;  // lanes whose loaded value affects nothing
  std::uint32_t silent = 0;   // lanes that write the value already there
  bool compared = false;      // that is known
  const check::PendingSilence* pending = nullptr;
  check::UndefinedBytes* undefined = nullptr;
  bool in_row = false;
  shadow::ReadLog* log = nullptr;
};

// Completes the event in place: copying it takes longer than making it.
void notify(const Warp& w, check::Access&& event, const std::uint64_t* addresses,
            const std::uint16_t* ranks, const Values& values) {
  event.addresses = addresses;
  event.ranks = ranks;
  event.written &= ~values.kept;
  event.read = values.read, event.wrote = values.wrote;
  event.before = values.before, event.after = values.after;
  event.decision = values.decision;
  event.dropped = values.dropped & event.who.mask;
  event.silent = values.silent & event.who.mask;
  event.compared = values.compared;
  event.pending = values.pending;
  event.undefined = values.undefined;
  event.in_row = values.in_row && event.who.mask == all_lanes;
  event.log = values.log;
  w.block->grid->observation->listener().accessed(event);
}

// An access through a multicast object's addresses accesses the memory of each device. Reports it
// by the program's addresses of that memory, if it has any. Returns the lanes that access no
// multicast object.
std::uint32_t report_multicast(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                               std::uint32_t mask, const std::uint64_t* addresses,
                               const Values& values) {
  std::uint32_t others = 0;
  Values seen = values;
  seen.in_row = false;  // what is adjacent in the object may be apart in a device
  for (const MulticastLanes& group : multicast_lanes(w, mask, addresses, info.bytes, others))
    for (const MulticastLanes::Device& device : group.devices)
      if (device.visible)
        notify(w, access_event(w, info, instruction, check::Space::global, group.mask),
               device.seen.data(), nullptr, seen);
  return others;
}

// Reports an access in one space by the lanes of `mask`.
void report_access(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                   check::Space space, std::uint32_t mask, std::uint64_t* addresses,
                   const Values& values) {
  if (space == check::Space::global && !w.block->grid->memory->multicasts().empty())
    mask = report_multicast(w, info, instruction, mask, addresses, values);
  if (!mask) return;
  std::uint16_t ranks[lanes];
  bool elsewhere = false;
  if (space == check::Space::shared && w.block->cluster->blocks.size() > 1) {
    for (int l = 0; l < lanes; ++l) {
      ranks[l] = static_cast<std::uint16_t>(addresses[l] >> rank_shift);
      if (!(mask >> l & 1)) continue;
      elsewhere |= ranks[l] != w.block->rank;
      addresses[l] &= offset_mask;
    }
  }
  notify(w, access_event(w, info, instruction, space, mask), addresses, elsewhere ? ranks : nullptr,
         values);
}

void report_generic(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                    std::uint32_t mask, std::uint64_t (&addresses)[lanes], const Values& values) {
  const Windows& at = w.block->grid->memory->windows();
  std::uint32_t shared = 0, local = 0, param = 0;
  for (int l = 0; l < lanes; ++l) {
    std::uint64_t& a = addresses[l];
    if (a - at.shared < Windows::shared_size)
      shared |= 1u << l, a -= at.shared;
    else if (a - at.local < Windows::local_size)
      local |= 1u << l, a -= at.local;
    else if (a - at.param < Windows::param_size)
      param |= 1u << l, a -= at.param;
  }
  const std::uint32_t global = ~(shared | local | param);
  report_access(w, info, instruction, check::Space::shared, mask & shared, addresses, values);
  report_access(w, info, instruction, check::Space::local, mask & local, addresses, values);
  report_access(w, info, instruction, check::Space::param, mask & param, addresses, values);
  report_access(w, info, instruction, check::Space::global, mask & global, addresses, values);
}

// The lanes' addresses in the operand's space.
void operand_addresses(const Warp& w, const Op* op, const MemoryOperand& info,
                       std::uint64_t (&addresses)[lanes]) {
  lane_addresses(w, op, info.space, addresses);
  if (check_space(info.space) == check::Space::local &&
      info.address.base == Address::Base::variable)
    for (std::uint64_t& a : addresses) a = (a + w.frame->local_base) & address_bits(info.space);
}

void report_in_space(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                     std::uint32_t mask, std::uint64_t (&addresses)[lanes], const Values& values) {
  if (info.space == Space::generic)
    report_generic(w, info, instruction, mask, addresses, values);
  else
    report_access(w, info, instruction, check_space(info.space), mask, addresses, values);
}

// The lanes that an observing op reports, after applying the guard.
std::uint32_t observed_lanes(const Warp& w, const Op* op) {
  if (op->guard == no_ref) return w.mask;
  return w.mask & w.predicate(op->guard, op->flags & Op::guard_negated);
}

// Performs an op whose guard is applied already, for the lanes of `mask`.
const Op* perform(Warp& w, const Op* op, std::uint32_t mask) {
  const std::uint32_t before = w.mask;
  const bool was_whole = w.whole;
  w.mask = mask;
  w.whole = was_whole && mask == before;
  const Op* const next = op->inner(w, op);
  if (!next) return nullptr;
  w.mask = before;
  w.whole = was_whole;
  return next;
}

// Zero-extends the lanes' values of `bytes` each, of which `kept` are in memory.
void widen(const Warp& w, Ref ref, unsigned bytes, unsigned kept, std::uint64_t (&out)[lanes]) {
  for (int l = 0; l < lanes; ++l) {
    out[l] = 0;
    std::memcpy(&out[l], w.at<std::byte>(ref) + static_cast<unsigned>(l) * bytes,
                std::min(bytes, kept));
  }
}

}  // namespace

std::unique_lock<std::mutex> in_strong_order() { return std::unique_lock(strong_order()); }

const Op* report_executed(Warp& w, const Op* op) {
  const std::uint32_t mask = observed_lanes(w, op);
  if (mask == 0) return op + 1;
  const Observation& observation = *w.block->grid->observation;
  observation.listener().executed({observation.who(w, mask, op), op->extra});
  return op + 1;
}

const Op* report_fenced(Warp& w, const Op* op) {
  if (const std::uint32_t mask = observed_lanes(w, op))
    w.block->grid->observation->fenced(w, op, mask);
  return op + 1;
}

// For activemask, at which no lane waits.
const Op* report_active(Warp& w, const Op* op) {
  if (const std::uint32_t mask = observed_lanes(w, op))
    w.block->grid->observation->met(w, op, mask, mask);
  return op + 1;
}

namespace {

// A weak access. Op::extra: index of the memory operand. Op::a and Op::imm: its address. `log`:
// where the block may note reads, else null.
const Op* report_weak(Warp& w, const Op* op, std::uint32_t mask, shadow::ReadLog* log) {
  const MemoryOperand& info = op->what->memory[op->extra];
  const std::uint32_t instruction = w.number(op);
  const Observation& observation = *w.block->grid->observation;
  const check::Space space = check_space(info.space);
  const bool generic = info.space == Space::generic;
  if (!observation.wants(check::Topic::addresses) && !generic) {
    observation.listener().accessed(access_event(w, info, instruction, space, mask));
    return op + 1;
  }
  std::uint64_t addresses[lanes];
  operand_addresses(w, op, info, addresses);
  const bool loads = info.role == MemoryOperand::Role::load;
  Values values;
  values.in_row = !generic && mask == all_lanes && is_row(addresses, info.bytes);
  values.log = log;
  if (info.may_drop) values.dropped = dropped_lanes(w, op, mask);
  if (!observation.wants(check::Topic::undefined) ||
      (!loads && info.role != MemoryOperand::Role::store)) {
    report_in_space(w, info, instruction, mask, addresses, values);
    return op + 1;
  }
  check::UndefinedBytes undefined;
  if (!loads && w.undefined != 0) find_stored(w, op, mask, undefined);
  values.undefined = &undefined;
  report_in_space(w, info, instruction, mask, addresses, values);
  return loads && undefined.lanes != 0 ? follow_load(w, op, undefined) : op + 1;
}

}  // namespace

const Op* report_accessed(Warp& w, const Op* op) {
  const std::uint32_t mask = observed_lanes(w, op) & op->what->memory[op->extra].lanes;
  return mask == 0 ? op + 1 : report_weak(w, op, mask, nullptr);
}

const Op* report_shared_read(Warp& w, const Op* op) {
  const MemoryOperand& info = op->what->memory[op->extra];
  const std::uint32_t mask = observed_lanes(w, op) & info.lanes;
  if (mask == 0) return op + 1;
  shadow::ReadLog& log = w.block->reads;
  if (log.is_open()) {
    shadow::NotedRead& read = *log.next;
    if (narrow_addresses(w, op, mask, read.addresses)) {
      read.lanes = mask, read.bytes = info.bytes - info.unread;
      read.place = w.number(op), read.warp = w.index;
      ++log.next;
      return op + 1;
    }
  }
  if (w.block->grid->observation->wants(Topic::each_read)) return report_weak(w, op, mask, nullptr);
  const Op* const next = report_weak(w, op, mask, &log);
  if (std::exchange(log.refused, false)) log.end = log.next;
  return next;
}

namespace {

// The values in memory that strong writes change.
class Held {
 public:
  Held(Warp& w, const Op* op, std::uint32_t mask, const MemoryOperand& info,
       const std::uint64_t* addresses)
      : mask_(mask), bytes_(info.bytes) {
    known_ = info.role != MemoryOperand::Role::load && bytes_ <= sizeof(std::uint64_t) &&
             any_comparisons() &&
             resolve_lanes(w, op, mask, info.space, addresses, bytes_, false, places_).lanes == 0;
  }
  bool known() const { return known_; }
  void read(std::uint64_t (&out)[lanes]) const {
    each_lane(mask_, [&](int l) {
      out[l] = 0;
      std::memcpy(&out[l], places_.at[l], bytes_);
    });
  }

 private:
  std::uint32_t mask_, bytes_;
  bool known_ = false;
  LanePlaces places_;
};

}  // namespace

// Performs a strong access, then reports it.
const Op* report_strong(Warp& w, const Op* op) {
  const std::uint32_t mask = observed_lanes(w, op);
  if (mask == 0) return op + 1;
  const MemoryOperand& info = *observed_access(*op->what, *w.frame->code->function);
  using Operation = AtomicUse::Operation;
  const auto* const atomic = op->what->as<AtomicUse>();
  const bool store = info.role == MemoryOperand::Role::store,
             swap = atomic && atomic->operation == Operation::compare_and_swap,
             exchange = atomic && atomic->operation == Operation::exchange;
  std::uint64_t addresses[lanes], read[lanes], wrote[lanes], compared[lanes];
  operand_addresses(w, op, info, addresses);
  const AccessValues& places = values_of(*w.frame->code, op);
  const unsigned bytes = places.bytes;
  Values values;
  if (bytes && (store || exchange || swap)) {
    widen(w, w.frame->code->extra[places.wrote], bytes, info.bytes, wrote);
    values.wrote = wrote;
  }
  if (bytes && swap) widen(w, places.compared, bytes, info.bytes, compared);
  std::unique_lock<std::mutex> lock;
  if (info.space == Space::global || info.space == Space::generic)
    lock = std::unique_lock(strong_order());
  check::UndefinedBytes undefined;
  const bool loads = info.role == MemoryOperand::Role::load;
  if ((loads || store) && w.block->grid->observation->wants(check::Topic::undefined))
    values.undefined = &undefined;
  if (store && w.undefined != 0) find_stored(w, op, mask, undefined);
  const Held held(w, op, mask & info.lanes, info, addresses);
  std::uint64_t before[lanes], after[lanes];
  if (held.known()) held.read(before);
  const Op* const next = perform(w, op, mask);
  if (!next) return nullptr;  // a fault has ended the kernel
  if (held.known()) {
    held.read(after);
    values.before = before, values.after = after;
  }
  std::optional<LoadDecision> decision;
  if (info.decides && bytes == info.bytes) values.decision = &decision.emplace(w, op, bytes);
  if (bytes && places.read != no_ref) {
    widen(w, places.read, bytes, info.bytes, read);
    values.read = read;
    for (int l = 0; swap && l < lanes; ++l) values.kept |= read[l] != compared[l] ? 1u << l : 0;
  }
  report_in_space(w, info, w.number(op), mask & info.lanes, addresses, values);
  if (!loads || undefined.lanes == 0) return next;
  if (lock) lock.unlock();
  return follow_load(w, op, undefined, next);
}

namespace {

// A weak store that listeners may query again before it is performed.
class WeakStore final : public check::PendingSilence {
 public:
  WeakStore(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
            const std::uint64_t* addresses, bool in_row)
      : w_(w), op_(op), info_(info), in_row_(in_row) {
    find_store(w, op, info, mask, addresses, data_);
  }
  std::uint32_t silent_now() const override {
    const std::uint32_t others = written_by_others(data_);
    return others | silent_lanes(w_, op_, info_, data_.mask, data_.addresses, in_row_);
  }
  const StoreData& data() const { return data_; }

 private:
  Warp& w_;
  const Op* op_;
  const MemoryOperand& info_;
  bool in_row_;
  StoreData data_;
};

}  // namespace

const Op* report_store(Warp& w, const Op* op) {
  const std::uint32_t mask = observed_lanes(w, op);
  if (mask == 0) return op + 1;
  const MemoryOperand& info = *observed_access(*op->what, *w.frame->code->function);
  std::uint64_t addresses[lanes];
  operand_addresses(w, op, info, addresses);
  const bool known = info.space == Space::global || info.space == Space::generic ||
                     check_space(info.space) == check::Space::shared;
  Values values;
  values.in_row =
      info.space != Space::generic && mask == all_lanes && is_row(addresses, info.bytes);
  values.compared = known;
  if (known) values.silent = silent_lanes(w, op, info, mask, addresses, values.in_row);
  check::UndefinedBytes undefined;
  if (w.undefined != 0) find_stored(w, op, mask, undefined), values.undefined = &undefined;
  const std::uint32_t instruction = w.number(op);
  const bool others = w.block->grid->options->workers != 1;  // host threads, of this launch
  if (known && others && (mask & ~values.silent) != 0 &&
      check_space(info.space) != check::Space::shared && can_show_store()) {
    const WeakStore store(w, op, info, mask, addresses, values.in_row);
    const PendingStore pending(store.data());
    values.pending = &store;
    report_in_space(w, info, instruction, mask, addresses, values);
    return perform(w, op, mask);
  }
  report_in_space(w, info, instruction, mask, addresses, values);
  return perform(w, op, mask);
}

const Op* report_matrix_store(Warp& w, const Op* op) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  const std::uint32_t mask = observed_lanes(w, op);
  if (mask == 0) return op + 1;
  const MemoryOperand& info = op->what->memory[op->extra];
  std::uint64_t addresses[lanes];
  operand_addresses(w, op, info, addresses);
  std::unique_lock<std::mutex> lock;
  if (check_space(info.space) != check::Space::shared) lock = std::unique_lock(strong_order());
  const std::uint32_t naming = mask & info.lanes;
  LanePlaces places;
  const bool known =
      resolve_lanes(w, op, naming, info.space, addresses, info.bytes, true, places).lanes == 0;
  std::array<std::array<std::byte, most_row_bytes>, lanes> before;
  if (known)
    each_lane(naming, [&](int l) {
      std::memcpy(before[static_cast<std::size_t>(l)].data(), places.at[l], info.bytes);
    });
  check::UndefinedBytes undefined;
  Values values;
  if (w.undefined != 0) find_stored(w, op, mask, undefined), values.undefined = &undefined;
  bool done = false;
  const Op* const next = run_rest(w, op, done);
  if (!done) return next;
  values.compared = known;
  if (known)
    each_lane(naming, [&](int l) {
      if (std::memcmp(before[static_cast<std::size_t>(l)].data(), places.at[l], info.bytes) == 0)
        values.silent |= 1u << l;
    });
  report_in_space(w, info, w.number(op), naming, addresses, values);
  return next;
}

void LaunchEvents::accessed_texels(const Warp& w, const Op* op, std::uint32_t mask,
                                   std::uint64_t (&addresses)[lanes], std::uint32_t bytes,
                                   check::Access::Kind kind) const {
  if (!wants(Topic::accesses)) return;
  MemoryOperand info;
  info.bytes = bytes;
  if (kind == check::Access::Kind::load) info.proxy = check::Proxy::texture;
  if (kind == check::Access::Kind::store) info.role = MemoryOperand::Role::store;
  if (kind == check::Access::Kind::reduction) {
    info.role = MemoryOperand::Role::reduction;
    info.order = check::Order::relaxed, info.scope = check::Scope::gpu;
  }
  report_access(w, info, w.number(op), check::Space::global, mask, addresses, {});
}

namespace {

void report_builtin(const Observation& to, const Warp& w, const Op* op, int lane,
                    std::uint64_t address, std::uint64_t bytes, MemoryOperand::Role role) {
  if (!to.wants(Topic::accesses) || bytes == 0) return;
  MemoryOperand info;
  info.role = role;
  info.bytes = static_cast<std::uint32_t>(bytes);
  std::uint64_t addresses[lanes] = {};
  addresses[lane] = address;
  report_generic(w, info, w.number(op), 1u << lane, addresses, {});
}

}  // namespace

void LaunchEvents::read_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                                   std::uint64_t bytes) const {
  report_builtin(*this, w, op, lane, address, bytes, MemoryOperand::Role::load);
}

void LaunchEvents::written_by_builtin(const Warp& w, const Op* op, int lane, std::uint64_t address,
                                      std::uint64_t bytes) const {
  report_builtin(*this, w, op, lane, address, bytes, MemoryOperand::Role::store);
}

}  // namespace inflight::machine
