// Reads of bytes that nothing has written, where something comes of them.
//
// A load alone is no mistake: programs read a whole vector and drop a part, or copy a struct with
// its padding. So a lane that loads an element of which no byte was written is a suspect until one
// of the instructions that use the value (Kernel::value_sinks) runs for it. A plain copy makes its
// destination undefined again, and it is told when that is used, or copied to the host.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/undefined.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

constexpr std::uint64_t first_shared = 1024;  // what is before is CUDA's, and zero

std::string_view name(Space space) {
  return space == Space::global ? "global" : space == Space::shared ? "shared" : "local";
}

// The loads of a launch that were found to read such bytes.
class Loads {
 public:
  const LoadedValue* of(const Kernel& kernel, std::uint32_t instruction) {
    const std::lock_guard lock(mutex_);
    auto& value = values_[instruction];
    if (value) return value.get();
    value = std::make_unique<LoadedValue>();
    if (kernel.value_sinks)
      value->elements = kernel.value_sinks(
          kernel, instruction, &value->sinks, [](void* to, const ValueSink& sink) {
            static_cast<std::vector<ValueSink>*>(to)->push_back(sink);
          });
    return value.get();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<LoadedValue>> values_;
};

class Uninitialised : public Listener {
 public:
  explicit Uninitialised(const Session& session) : session_(session) {}
  Topic topics() const override {
    return Topic::accesses | Topic::addresses | Topic::copies | Topic::blocks | Topic::allocations |
           Topic::host | Topic::mbarriers | Topic::barriers;
  }

  void block_begin(const BlockBegin& event) override;
  void block_end(const BlockEnd& event) override { end(event.kernel->launch, event.block); }
  void kernel_end(const KernelEnd& event) override;
  void accessed(const Access& access) override;
  void copy_issued(const CopyIssued& copy) override;
  void mbarrier(const MbarrierOp& op) override;
  void barrier(const Barrier& event) override;
  void allocation(const Allocation& event) override;
  void host_accessed(const HostAccess& access) override;

 private:
  UndefinedBlock* find(const Who& who) {
    struct Last {
      const void* self = nullptr;
      std::uint64_t launch = 0, block = 0;
      UndefinedBlock* found = nullptr;
    };
    thread_local Last last;
    if (last.self == this && last.launch == who.launch && last.block == who.block)
      return last.found;
    UndefinedBlock* const found = blocks_.find(who.launch, who.block);
    if (found) last = {this, who.launch, who.block, found};
    return found;
  }
  void end(std::uint64_t launch, std::uint64_t block);
  // The block whose memory it is, or that read it; null: it has ended.
  UndefinedBlock* owner(const Suspect& s) {
    UndefinedBlock* const block = find(s.who);
    return block && s.space == Space::shared ? block->peer(s.rank) : block;
  }

  void check_load(const Access& access, UndefinedBlock& block, UndefinedWarp& warp);
  void check_atomic(const Access& access, UndefinedBlock& block);
  void suspect(const Access& access, UndefinedBlock& block, UndefinedWarp& warp, Mask partly);
  // What `access` makes of values that its warp's suspects loaded; after it has written.
  void use(const Access& access, UndefinedBlock& block, UndefinedWarp& warp);
  // A block keeps in its own memory what was computed from undefined bytes.
  void keep_derived(const Access& access, UndefinedBlock& block, Mask mask);
  void store(const Access& access, UndefinedBlock& block, Suspect& s, Mask lanes,
             const ValueSink& sink);
  void copy_run(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block);

  void report(Suspect s, Mask lanes, const Access* by);
  bool still_undefined(const UndefinedBlock& block, const PendingUse& use) const {
    return use.space == Space::global ? global_.undefined.has_any(use.address, use.bytes)
                                      : block.shared.has_any(use.address, use.bytes);
  }
  // `who` writes these bytes.
  void settle(UndefinedBlock& block, Space space, std::uint64_t at, std::uint64_t bytes,
              const Who& who);
  void settle(UndefinedBlock& block, const Access& access);
  bool known(PlaceId place) {
    const std::lock_guard lock(mutex_);
    return told_.contains(place);
  }
  void tell(PendingUse& use) {
    {
      const std::lock_guard lock(mutex_);
      told_.insert(use.key.here);
    }
    session_.findings.add(use.key, [&] { return std::move(use.finding); });
  }
  Finding make(const Suspect& s, const Access* by);
  // A kernel has written there what nothing had written before it.
  void remember(PlaceId place, Finding finding);

  Session session_;
  UndefinedGlobal global_;
  Blocks<UndefinedBlock> blocks_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Loads>> loads_;  // by launch
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<UndefinedCluster>> clusters_;
  std::unordered_set<PlaceId> told_;
  // Who stored such values, by page of global memory.
  static constexpr unsigned page_shift = 15;
  std::unordered_map<PlaceId, Finding> stores_;
  std::unordered_map<std::uint64_t, PlaceId> stored_by_;
};

void Uninitialised::block_begin(const BlockBegin& event) {
  const std::uint64_t launch = event.kernel->launch;
  UndefinedBlock& block =
      blocks_.get(launch, event.block, [] { return std::make_unique<UndefinedBlock>(); });
  block.rank = event.rank;
  block.shared = shadow::Bits(first_shared + event.shared_bytes);
  block.shared.insert(first_shared, event.shared_bytes);
  block.copied = shadow::Bits(first_shared + event.shared_bytes);
  block.derived = shadow::Bits(first_shared + event.shared_bytes);
  block.warps.resize((event.threads + lanes - 1) / lanes);
  const std::lock_guard lock(mutex_);
  auto& cluster = clusters_[{launch, event.cluster}];
  if (!cluster) cluster = std::make_shared<UndefinedCluster>();
  if (cluster->blocks.size() <= event.rank) cluster->blocks.resize(event.rank + 1u);
  cluster->blocks[event.rank] = &block;
  block.cluster = cluster;
  auto& loads = loads_[launch];
  if (!loads) loads = std::make_unique<Loads>();
}

void Uninitialised::end(std::uint64_t launch, std::uint64_t number) {
  UndefinedBlock* const block = blocks_.find(launch, number);
  if (!block) return;
  for (PendingUse& use : block->pending)
    if (still_undefined(*block, use)) tell(use);
  block->cluster->blocks[block->rank] = nullptr;
  blocks_.remove(launch, number);
}

void Uninitialised::kernel_end(const KernelEnd& event) {
  const std::uint64_t launch = event.kernel->launch;
  blocks_.remove_launch(launch, [](std::uint64_t, UndefinedBlock&) {});
  const std::lock_guard lock(mutex_);
  loads_.erase(launch);
  clusters_.erase(clusters_.lower_bound({launch, 0}), clusters_.lower_bound({launch + 1, 0}));
}

void Uninitialised::accessed(const Access& access) {
  if (!access.addresses || access.space > Space::local) return;
  UndefinedBlock* const block = find(access.who);
  if (!block || access.who.warp >= block->warps.size()) return;
  UndefinedWarp& warp = block->warps[access.who.warp];
  if (access.kind == Access::Kind::load) check_load(access, *block, warp);
  if (access.kind >= Access::Kind::atomic) check_atomic(access, *block);
  if (access.kind != Access::Kind::load && !block->pending.empty()) settle(*block, access);
  if (access.kind != Access::Kind::load)
    write_lanes(access, global_, *block, access.who.mask & access.written);
  if (!warp.suspects.empty()) use(access, *block, warp);
}

void Uninitialised::check_load(const Access& access, UndefinedBlock& block, UndefinedWarp& warp) {
  const Mask partly =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::any);
  if (partly == 0 && warp.suspects.empty()) return;
  for (Suspect& s : warp.suspects)
    if (s.who.instruction == access.who.instruction) s.who.mask &= ~access.who.mask;
  if (partly != 0) suspect(access, block, warp, partly);
  std::erase_if(warp.suspects, [](const Suspect& s) { return s.who.mask == 0; });
}

void Uninitialised::suspect(const Access& access, UndefinedBlock& block, UndefinedWarp& warp,
                            Mask partly) {
  const Kernel* const kernel = session_.places.kernel(access.who.launch);
  Loads* loads = nullptr;
  {
    const std::lock_guard lock(mutex_);
    loads = loads_[access.who.launch].get();
  }
  if (!kernel || !loads) return;
  const LoadedValue* const value = loads->of(*kernel, access.who.instruction);
  if (value->sinks.empty()) return;
  const std::uint32_t bytes = access.bytes / value->elements;
  const Mask whole = undefined_lanes(access, global_, block, partly, 0, access.bytes, Extent::all);
  for (std::uint32_t e = 0; e < value->elements; ++e) {
    const Mask mask =
        undefined_lanes(access, global_, block, partly, e * bytes, bytes, Extent::all);
    if (mask == 0) continue;
    Suspect s;
    s.value = value;
    s.who = access.who;
    s.who.mask = mask;
    s.alone = mask & whole;
    s.space = access.space;
    s.element = static_cast<std::uint8_t>(e);
    const int first = std::countr_zero(mask);
    s.address = access.addresses[first] + std::uint64_t{e} * bytes, s.bytes = bytes;
    s.rank = access.ranks ? access.ranks[first] : block.rank;
    if (const UndefinedBlock* const at = access.ranks ? block.peer(access.ranks[first]) : &block;
        access.space == Space::shared && at)
      s.copied = at->copied.has_any(s.address, bytes),
      s.derived = s.copied && at->derived.has_any(s.address, bytes);
    const bool at_once = std::any_of(value->sinks.begin(), value->sinks.end(), [&](const auto& k) {
      return k.instruction == access.who.instruction && k.element == e && !k.as_is;
    });
    if (at_once && s.alone != 0) report(s, s.alone, nullptr);
    if (!at_once) warp.suspects.push_back(s);
  }
}

void Uninitialised::check_atomic(const Access& access, UndefinedBlock& block) {
  if (access.wrote && access.written == access.who.mask) return;  // an exchange
  const Mask mask =
      undefined_lanes(access, global_, block, access.who.mask, 0, access.bytes, Extent::all);
  if (mask == 0) return;
  Suspect s;
  s.who = access.who;
  s.who.mask = mask;
  s.space = access.space;
  const int first = std::countr_zero(mask);
  s.rank = access.ranks ? access.ranks[first] : block.rank;
  s.address = access.addresses[first], s.bytes = access.bytes;
  report(s, mask, nullptr);
}

// What a block keeps for itself is no more defined than what it was computed from, and no mistake
// while nobody uses it: scans run over whole warps, halos over the rim of a tile.
bool stays_in_block(const Access& access) {
  return access.kind == Access::Kind::store &&
         (access.space == Space::shared || access.space == Space::local);
}

void Uninitialised::keep_derived(const Access& access, UndefinedBlock& block, Mask mask) {
  write_undefined(access, global_, block, mask, 0, access.bytes, mask);
  if (access.space != Space::shared) return;
  for (Mask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    UndefinedBlock* const to = access.ranks ? block.peer(access.ranks[lane]) : &block;
    if (to) to->derived.insert(access.addresses[lane], access.bytes);
  }
}

void Uninitialised::use(const Access& access, UndefinedBlock& block, UndefinedWarp& warp) {
  for (Suspect& s : warp.suspects) {
    for (const ValueSink& sink : s.value->sinks) {
      if (sink.instruction != access.who.instruction || sink.element != s.element) continue;
      const Mask mask = s.who.mask & access.who.mask;
      if (mask == 0) continue;
      if (sink.as_is)
        store(access, block, s, mask, sink);
      else if (const Mask alone = mask & s.alone; alone != 0) {
        if (stays_in_block(access))
          keep_derived(access, block, alone);
        else
          report(s, alone, &access);
        s.who.mask &= ~mask;
      }
    }
  }
  std::erase_if(warp.suspects, [](const Suspect& s) { return s.who.mask == 0; });
}

void Uninitialised::store(const Access& access, UndefinedBlock& block, Suspect& s, Mask mask,
                          const ValueSink& sink) {
  const Mask alone = mask & s.alone;
  if (access.space == Space::global && s.space != Space::global && (!s.copied || s.derived) &&
      alone != 0) {
    report(s, alone, &access);
    s.who.mask &= ~alone;
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(s.bytes);
  write_undefined(access, global_, block, mask, sink.target * bytes, bytes, alone);
  if (access.space != Space::global || alone == 0) return;
  const PlaceId place = session_.places.of(s.who);
  for (Mask m = alone; m != 0; m &= m - 1) {
    const std::uint64_t at = access.addresses[std::countr_zero(m)] + sink.target * bytes;
    bool fresh = false;
    {
      const std::lock_guard lock(mutex_);
      auto& by = stored_by_[at >> page_shift];
      fresh = std::exchange(by, place) != place && !stores_.contains(place);
    }
    if (fresh) remember(place, make(s, &access));
  }
}

void Uninitialised::remember(PlaceId place, Finding finding) {
  const std::lock_guard lock(mutex_);
  stores_.try_emplace(place, std::move(finding));
}

void Uninitialised::copy_issued(const CopyIssued& copy) {
  UndefinedBlock* const block = find(copy.who);
  if (!block) return;
  copy.for_each_run([&](const CopyRun& run) { copy_run(copy, run, *block); });
}

void Uninitialised::copy_run(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block) {
  const UndefinedBlock* const from =
      copy.from == Space::shared ? block.peer(copy.source_rank) : nullptr;
  UndefinedBlock* const to = copy.to == Space::shared ? block.peer(copy.destination_rank) : nullptr;
  const auto undefined = [&](std::uint64_t at, std::uint64_t bytes) {
    if (copy.from == Space::global) return global_.undefined.has_any(at, bytes);
    return from && from->shared.has_any(at, bytes);
  };
  if (UndefinedBlock* const at = copy.to == Space::global ? &block : to; at && !at->pending.empty())
    settle(*at, copy.to, run.destination, run.bytes, copy.who);
  if (copy.to == Space::global)
    global_.write(run.destination, run.bytes);
  else if (to && !to->shared.empty())
    to->shared.erase(run.destination, run.bytes), to->copied.erase(run.destination, run.bytes);
  if (copy.of_values || copy.reduces || !undefined(run.source, run.source_bytes)) return;
  bool stored = false;
  for (std::uint32_t i = 0; i < run.source_bytes; ++i) {
    if (!undefined(run.source + i, 1)) continue;
    if (to) to->shared.insert(run.destination + i, 1), to->copied.insert(run.destination + i, 1);
    if (copy.to != Space::global || !global_.known.has_any(run.destination + i, 1)) continue;
    global_.undefined.insert(run.destination + i, 1);
    global_.stored.insert(run.destination + i, 1);
    stored = true;
  }
  if (!stored) return;
  Suspect s;
  s.who = copy.who;
  s.space = copy.from;
  s.rank = copy.source_rank;
  s.address = run.source, s.bytes = run.source_bytes;
  const PlaceId place = session_.places.of(copy.who);
  for (std::uint64_t page = run.destination >> page_shift;
       page <= (run.destination + run.bytes - 1) >> page_shift; ++page) {
    const std::lock_guard lock(mutex_);
    stored_by_[page] = place;
  }
  remember(place, make(s, nullptr));
}

void Uninitialised::mbarrier(const MbarrierOp& op) {
  if (op.op != MbarrierOp::Op::init) return;
  UndefinedBlock* const block = find(op.who);
  UndefinedBlock* const at = block ? block->peer(op.rank) : nullptr;
  if (at) at->shared.erase(op.address, 8);
}

void Uninitialised::barrier(const Barrier& event) {
  if (event.step != Barrier::Step::complete) return;
  UndefinedBlock* const block = find(event.who);
  if (!block) return;
  if (event.kind != BarrierKind::cluster) {
    ++block->barriers;
    return;
  }
  for (UndefinedBlock* const each : block->cluster->blocks)
    if (each) ++each->barriers;
}

void Uninitialised::allocation(const Allocation& event) {
  if (event.step == Allocation::Step::released && event.kind == Allocation::Kind::heap)
    if (UndefinedBlock* const block = find(event.who))
      settle(*block, Space::global, event.address, event.bytes, event.who);
  if (event.step == Allocation::Step::released && event.kind != Allocation::Kind::pool)
    return global_.end(event.address, event.bytes);
  const bool fresh = event.fresh || event.kind == Allocation::Kind::heap;
  const bool followed =
      event.kind == Allocation::Kind::device || event.kind == Allocation::Kind::heap;
  if (fresh && followed && event.name.empty()) global_.begin(event.address, event.bytes);
}

void Uninitialised::host_accessed(const HostAccess& access) {
  std::uint64_t to = access.destination, from = access.source;
  for (std::uint64_t row = 0; row < access.rows;
       ++row, to += access.destination_pitch, from += access.source_pitch) {
    const bool followed = global_.known.has_any(to, access.bytes);
    if (followed) global_.write(to, access.bytes);
    if (access.kind == HostAccess::Kind::set || from == 0 ||
        !global_.undefined.has_any(from, access.bytes))
      continue;
    if (followed) {
      for (std::uint64_t i = 0; i < access.bytes; ++i) {
        if (!global_.undefined.has_any(from + i, 1)) continue;
        global_.undefined.insert(to + i, 1);
        if (global_.stored.has_any(from + i, 1)) global_.stored.insert(to + i, 1);
      }
      continue;
    }
    if (global_.stored.never_used() || !global_.stored.has_any(from, access.bytes)) continue;
    const std::lock_guard lock(mutex_);
    for (std::uint64_t page = from >> page_shift; page <= (from + access.bytes - 1) >> page_shift;
         ++page) {
      const auto by = stored_by_.find(page);
      const auto found = by == stored_by_.end() ? stores_.end() : stores_.find(by->second);
      if (found == stores_.end()) continue;
      session_.findings.add({FindingKind::uninitialised_read, by->second}, [&] {
        Finding finding = found->second;
        finding.there.push_back({"copies to the host what was stored",
                                 session_.places.at(session_.places.of_host("a copy to the host")),
                                 {}});
        return finding;
      });
    }
  }
}

// Does the lane of `thread` write these bytes?
bool writes(const Access& by, Mask thread, const PendingUse& use) {
  if (by.space != use.space || (by.written & thread) == 0) return false;
  const std::uint64_t at = by.addresses[std::countr_zero(thread)];
  return at < use.address + use.bytes && use.address < at + by.bytes;
}

void Uninitialised::report(Suspect s, Mask mask, const Access* by) {
  const Mask first = s.who.mask & (0u - s.who.mask);
  s.who.mask = mask;
  UndefinedBlock* const block = owner(s);
  if (!block) return;
  PendingUse use;
  use.key = {FindingKind::uninitialised_read, session_.places.of(s.who)};
  use.space = s.space;
  use.address = s.address, use.bytes = s.bytes;
  use.who = s.who;
  use.who.mask = first;
  use.barriers = block->barriers;
  if (known(use.key.here)) return session_.findings.add(use.key, [&] { return make(s, by); });
  if (std::any_of(block->pending.begin(), block->pending.end(),
                  [&](const PendingUse& other) { return other.key == use.key; }))
    return;
  const bool undefined = still_undefined(*block, use);
  // Another thread has written them since, or this one as it stores what comes of them.
  if (s.space != Space::local && !undefined && !(by && writes(*by, first, use))) return;
  use.finding = make(s, by);
  if (undefined && s.space != Space::local)
    block->pending.push_back(std::move(use));
  else
    tell(use);
}

void Uninitialised::settle(UndefinedBlock& block, const Access& access) {
  for (Mask m = access.who.mask & access.written; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    UndefinedBlock* const at = access.ranks ? block.peer(access.ranks[lane]) : &block;
    Who who = access.who;
    who.mask = Mask{1} << lane;
    if (at) settle(*at, access.space, access.addresses[lane], access.bytes, who);
  }
}

void Uninitialised::settle(UndefinedBlock& block, Space space, std::uint64_t at,
                           std::uint64_t bytes, const Who& who) {
  std::erase_if(block.pending, [&](PendingUse& use) {
    if (use.space != space || at >= use.address + use.bytes || use.address >= at + bytes)
      return false;
    const bool same_thread =
        who.block == use.who.block && who.warp == use.who.warp && (who.mask & use.who.mask) != 0;
    if (same_thread || block.barriers != use.barriers) tell(use);
    return true;
  });
}

// How much of a variable nothing has written.
std::string extent_of(const Bytes& bytes, std::uint64_t whole, std::uint64_t undefined) {
  if (bytes.variable.empty() || whole == 0) return {};
  return fmt::format(": of the {} bytes of '{}', {} were written", whole, readable(bytes.variable),
                     whole - undefined);
}

Finding Uninitialised::make(const Suspect& s, const Access* by) {
  Places& places = session_.places;
  Finding finding;
  finding.kind = FindingKind::uninitialised_read;
  finding.here =
      places.party(s.who, fmt::format("reads {} bytes of {} memory", s.bytes, name(s.space)));
  finding.bytes = places.bytes(s.who, s.space, s.address, s.bytes);
  std::string extent;
  const Kernel* const kernel = places.kernel(s.who.launch);
  const UndefinedBlock* const block = owner(s);
  if (kernel && block && s.space == Space::shared) {
    const Variable v = kernel->variable(*kernel, s.space, s.address, s.who.instruction);
    extent = extent_of(*finding.bytes, v.bytes, block->shared.count(v.address, v.bytes));
  }
  finding.sentence = fmt::format("{} memory is read that nothing has written{}{}", name(s.space),
                                 s.derived  ? ", but with what was computed from such memory"
                                 : s.copied ? ", but for a copy of such memory"
                                            : "",
                                 extent);
  if (by) {
    const bool stores = by->kind == Access::Kind::store;
    finding.there.push_back(places.party(
        by->who, stores ? "stores what was read, or what comes of it" : "uses what was read"));
  }
  switch (s.space) {
    case Space::shared:
      finding.remedy =
          "write these bytes first: let the copies into shared memory cover all that is read, fill "
          "the rest with zeros, or let only threads read whose elements were copied";
      finding.rule = "PTX ISA, State Spaces: shared memory has no initial value";
      break;
    case Space::local:
      finding.remedy = "give the variable a value before it is read, on every path";
      finding.rule = "PTX ISA, State Spaces: local memory has no initial value";
      break;
    default:
      finding.remedy =
          "write these bytes first: a kernel, cudaMemset or a copy from the host, of as many bytes "
          "as are read";
      finding.rule = "CUDA Runtime API, cudaMalloc: the memory is not cleared";
  }
  return finding;
}

}  // namespace

std::unique_ptr<Listener> make_uninitialised(const Session& session, const CheckOptions&) {
  return std::make_unique<Uninitialised>(session);
}

}  // namespace inflight::check
