// The detector of races: launches, blocks, allocations and the host.
#include "gpu/check/detect/races/races.hpp"

#include <bit>
#include <map>
#include <optional>
#include <utility>

namespace inflight::check {
namespace races {

void Locations::forget(std::uint64_t address, std::uint64_t bytes) {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    shard.locations.erase(shard.locations.lower_bound(address),
                          shard.locations.lower_bound(address + bytes));
  }
}

Races::Races(const Session& session) : session_(session), reporter_(session, host_.launches()) {
  session.moments.set([this](const Who& who) { return moment(who); });
}

Topic Races::topics() const {
  return Topic::accesses | Topic::addresses | Topic::fences | Topic::copies | Topic::barriers |
         Topic::mbarriers | Topic::collectives | Topic::blocks | Topic::allocations | Topic::host |
         Topic::multiplies | Topic::tensor_memory;
}

void Races::take_noted(Block& block) {
  Who who{block.launch, block.linear};
  block.shared.take(block.order, *block.log, [&](shadow::NotedRead& read) {
    ++block.accesses;
    who.instruction = read.place;
    block.warps[read.warp].last_load = {
        read.addresses[static_cast<unsigned>(std::countr_zero(read.lanes))], read.lanes,
        read.place};
    read.place = block.place_of(who, session_.places);
  });
}

Block* Races::find(std::uint64_t launch, std::uint64_t number) {
  Block* const block = blocks_.find(launch, number);
  if (!block || !block->log) return block;
  take_noted(*block);
  std::exchange(block->log, nullptr)->close();
  return block;
}

Block* Races::block_of(const Who& who) {
  Block* const block = find(who.launch, who.block);
  if (block && block->cluster->pending) finish(*block->cluster);
  return block;
}

Block* Races::block_that_reads(const Who& who) {
  Block* const block = blocks_.find(who.launch, who.block);
  if (!block || !block->log) return block_of(who);
  take_noted(*block);
  return block;
}

std::optional<Moment> Races::moment(const Who& who) {
  const Block* const block = block_of(who);
  if (!block) return std::nullopt;
  const auto lane = static_cast<unsigned>(std::countr_zero(who.mask));
  const order::View& view = block->order.view(who.warp, lane);
  return Moment{order::warp_row(block->order.row(), order::Part::thread, who.warp), lane,
                block->order.epoch(), view.known.loose, view.together};
}

Block* Races::peer(const Block& block, std::uint16_t rank) {
  const auto& blocks = block.cluster->blocks;
  return rank < blocks.size() ? blocks[rank] : nullptr;
}

namespace {

// A strong read, and a later store by a thread that knows only by relaxed accesses that the reader
// went on. Programs rely on this order (NCCL sends data together with its flags).
bool is_done(const shadow::Conflict& c) {
  return c.why == shadow::Why::weak_edge && c.earlier.strong && !c.earlier.write &&
         initiator_of(c.earlier.row, false) == Initiator::thread && c.later.write &&
         initiator_of(c.later.row, false) == Initiator::thread;
}

}  // namespace

// A kernel changes a tensor map that its own copy has used, or its copy uses one that it changed.
// The detector tensor_maps checks these.
bool Races::is_of_own_map(const shadow::Conflict& c) const {
  const shadow::Side& use = c.earlier.write ? c.later : c.earlier;
  return c.earlier.row >> order::launch_shift == c.later.row >> order::launch_shift &&
         is_map_use(use, session_.places.at(use.place));
}

// A request for a cluster writes its answer over one that threads have read. Unlike other copies,
// PTX names the fence that must lie between.
bool Races::is_of_answer(const shadow::Conflict& c) const {
  return c.excuse == shadow::Excuse::unfenced_read &&
         session_.places.at(c.later.place).instruction.starts_with("clusterlaunchcontrol");
}

void Races::warn(const Scene& scene, const Block* owner, const shadow::Conflict& c) {
  if (host_.launches().is_host(c.earlier.row) && c.excuse != shadow::Excuse::staged) return;
  if (c.excuse != shadow::Excuse::volatile_data) return reporter_.conflict(scene, c);
  // A volatile access beside a load of an atomic object, or a load beside a store to one, is a
  // flag.
  const auto is_volatile = [&](const shadow::Side& side) {
    return session_.places.at(side.place).instruction.find(".volatile") != std::string::npos;
  };
  if ((c.earlier.write && c.later.write) || is_volatile(c.earlier))
    candidates_.keep_volatile(reporter_, scene, c, key_of(owner, c.address));
}

void Races::excuse_staged(const order::Clock& knows, shadow::Conflict& c) const {
  if (c.earlier.write && host_.knows_staged(knows, c.earlier.row))
    c.excuse = shadow::Excuse::staged;
}

void Races::report(const Who& who, Block& block, Space space, bool of_mbarrier,
                   const Access* access, const Block* owner) {
  if (block.conflicts.empty()) return;
  const Scene scene{who, space, &block, of_mbarrier};
  const order::Row own = order::warp_row(block.order.row(), order::Part::thread, who.warp);
  for (shadow::Conflict& each : block.conflicts) {
    if (space != Space::shared)
      excuse_staged(
          block.order.view(who.warp, static_cast<unsigned>(std::countr_zero(who.mask))).known.order,
          each);
    if (is_done(each)) continue;
    if (is_of_answer(each)) each.excuse = shadow::Excuse::none, each.why = shadow::Why::proxy_fence;
    if (is_of_own_map(each)) {
      // That nothing orders a later use is found by check_map_order().
      if (each.why == shadow::Why::no_edge && each.later.write && each.earlier.row != own)
        reporter_.map_unordered(scene, each);
      continue;
    }
    // The lanes of a warp that reads a matrix or a tensor map by one instruction wait until all of
    // them have executed it (PTX ISA, ldmatrix, wmma.load, tensormap.cp_fenceproxy: .sync), so
    // their later accesses come after all of the reads.
    if (each.earlier.row == own && !each.earlier.write &&
        session_.places.at(each.earlier.place).act.by_warp)
      continue;
    const Block::Reported now{
        each.earlier.place, each.later.place,
        static_cast<std::uint16_t>(1 | each.earlier.write << 1 | each.later.write << 2 |
                                   of_mbarrier << 3 | static_cast<unsigned>(each.why) << 4 |
                                   static_cast<unsigned>(each.excuse) << 8)};
    Block::Reported& reported =
        block.reported[(now.earlier * 7 + now.later + now.how) % block.reported.size()];
    if (is_flag(each)) continue;
    // Whether it is a flag depends on the location.
    const bool by_location = each.excuse == shadow::Excuse::volatile_data;
    if (by_location && flags_.contain(key_of(owner, each.address))) continue;
    if (std::exchange(reported, now) == now) continue;
    if (each.excuse != shadow::Excuse::none) {
      warn(scene, owner, each);
      continue;
    }
    if (host_.launches().is_host(each.earlier.row) ||
        !candidates_.take(reporter_, scene, each, access))
      reporter_.conflict(scene, each);
  }
  block.conflicts.clear();
}

void Races::kernel_begin(const KernelBegin& event) {
  const order::Streams::Launch launch = host_.launch(*event.kernel);
  const std::lock_guard lock(mutex_);
  Launch facts = facts_of(*event.kernel);
  facts.dependent = launch.dependent;
  running_[event.kernel->launch] = {facts, launch.number, launch.knows,
                                    order::Streams::done(launch)};
}

const Races::Running& Races::running(std::uint64_t launch) {
  const std::lock_guard lock(mutex_);
  return running_.at(launch);
}

void Races::kernel_end(const KernelEnd& event) {
  if (event.faulted) blocks_.forget_launch(event.kernel->launch);
  std::uint32_t number = 0;
  std::set<std::uint32_t> running;
  {
    const std::lock_guard lock(mutex_);
    maps_used_.erase(maps_used_.lower_bound({event.kernel->launch, 0}),
                     maps_used_.lower_bound({event.kernel->launch + 1, 0}));
    map_changes_.erase(map_changes_.lower_bound({event.kernel->launch, 0}),
                       map_changes_.lower_bound({event.kernel->launch + 1, 0}));
    const auto found = running_.find(event.kernel->launch);
    if (found == running_.end()) return;
    number = found->second.number;
    running_.erase(found);
    if (candidates_.any())
      for (const auto& [launch, each] : running_) running.insert(each.number);
  }
  host_.ended(number);
  candidates_.end(number, running, session_.findings);
  const std::lock_guard lock(mutex_);
  if (running_.empty()) flags_.clear();  // no launch has begun meanwhile
}

void Races::child_launched(const ChildLaunched& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(event.who.mask));
  host_.child_launched(event.child, block->order.issue(event.who.warp, lane));
}

void Races::block_begin(const BlockBegin& event) {
  const Running& of = running(event.kernel->launch);
  blocks_.begin(event, of.facts, of.number, of.start);
}

void Races::thread_exit(const ThreadExit& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  block->order.exited(event.who.warp, event.who.mask);
  block->some_ended = true;
  if (block->order.in_cluster()) block->exits.push_back({event.who.warp, event.who.mask});
}

void Races::block_end(const BlockEnd& event) {
  Block* const block = block_of({event.kernel->launch, event.block});
  if (!block) return;
  block->ended = true;
  check_end(*block);
  // What lacks is often found as a race, too, whose text says more.
  if (block->early && !session_.findings.concern(event.kernel->launch))
    reporter_.peer_not_begun(*block->early);
  if (block->order.has_observed()) {
    const Running& of = running(event.kernel->launch);
    if (order::Knowledge more; block->order.learnt(of.done, more))
      host_.learnt(of.facts, of.number, more);
  }
  const std::shared_ptr<Cluster> cluster = block->cluster;
  if (--cluster->running == 0) blocks_.forget(*cluster);
}

void Races::check_end(Block& block) {
  if (block.copies.empty() && block.remote.empty() && block.cluster->transactions.empty() &&
      block.multiplies.empty() && !block.cluster->tensor)
    return;
  const order::Clock known = known_in(block);
  check_multiplies(block, known);
  check_tensor_memory(block, known);
  for (const auto& each : block.copies) {
    const Copy& copy = *each;
    const Mask in_shared = copy.to_shared ? copy.writing : copy.reading;
    if (in_shared != 0 && !known.covers(copy.by.row, in_shared, copy.by.epoch))
      reporter_.ends_with(block, copy);
  }
  for (const auto& copy : block.cluster->transactions)
    if ((copy->source == &block || copy->destination == &block) &&
        !known.covers(copy->by.row, order::Mask{1} << copy->by.lane, copy->by.epoch))
      reporter_.ends_with(block, *copy);
  for (const RemoteUse& use : block.remote)
    if (!known.covers(use.row, use.lanes, use.epoch)) reporter_.peer_exited(use.who, block.rank);
}

void Races::allocation(const Allocation& event) {
  memory_changes_.fetch_add(1, std::memory_order_relaxed);
  if (event.kind == Allocation::Kind::pool) return ordered(event);
  const bool made = event.step == Allocation::Step::made;
  if (event.kind != Allocation::Kind::heap)
    made ? host_.made(event) : host_.released(event.address);
  if (event.kind != Allocation::Kind::heap && !(made && event.fresh))
    made ? aliases_.made(event.address, event.bytes) : aliases_.released(event.address);
  global_.forget(event.address, event.bytes);
  locations_.forget(event.address, event.bytes);
}

// A stream-ordered allocation or release counts as a write of the memory by the stream, and a
// release by cudaFree as one by the host.
void Races::ordered(const Allocation& event) {
  HostAccess work;
  work.stream = event.stream;
  work.work = event.ordered ? 1 : 0;
  const order::Streams::Launch launch = host_.copy(work);
  const bool made = event.step == Allocation::Step::made;
  const PlaceId place = session_.places.of_host(made            ? ordered_allocation
                                                : event.ordered ? ordered_release
                                                                : host_release);
  std::vector<shadow::Conflict> conflicts;
  const shadow::Performer by{order::block_row(launch.number, 0), 0, 1};
  // A release is compared with the allocation even if nothing has accessed the memory.
  if (!made) global_.host_copy(launch.knows, by, {event.address, 1, place, true, false}, conflicts);
  global_.host_write_all(launch.knows, by, {event.address, event.bytes, place, true, false},
                         conflicts);
  // cudaFree need not come after the allocation itself, which is one side at most once.
  const PlaceId allocated = session_.places.of_host(ordered_allocation);
  bool told = !event.ordered;
  for (const shadow::Conflict& each : conflicts)
    if (!host_.knows_staged(launch.knows.order, each.earlier.row) &&
        (each.earlier.place != allocated || !std::exchange(told, true)))
      reporter_.conflict({{}, Space::global, nullptr, false}, each);
}

void Races::stream_edge(const StreamEdge& event) { host_.edge(event); }

void Races::host_accessed(const HostAccess& event) {
  const bool reads = event.source && host_.is_allocated(event.source),
             writes = host_.is_allocated(event.destination);
  if (!reads && !writes) return;
  const order::Streams::Launch launch = host_.copy(event);
  const shadow::Performer by{order::block_row(launch.number, 0), 0, 1};
  const PlaceId place =
      session_.places.of_host(!event.call.empty() ? event.call
                              : event.kind == HostAccess::Kind::set
                                  ? (event.asynchronous ? "cudaMemsetAsync" : "cudaMemset")
                                  : (event.asynchronous ? "cudaMemcpyAsync" : "cudaMemcpy"));
  std::vector<shadow::Conflict> conflicts;
  for (std::uint64_t row = 0; row < event.rows; ++row) {
    if (reads)
      global_.host_copy(launch.knows, by,
                        {event.source + row * event.source_pitch, event.bytes, place, false, false},
                        conflicts);
    if (writes)
      global_.host_copy(
          launch.knows, by,
          {event.destination + row * event.destination_pitch, event.bytes, place, true, false},
          conflicts);
  }
  for (shadow::Conflict& each : conflicts) {
    excuse_staged(launch.knows.order, each);
    const Space space = host_.is_constant(each.address) ? Space::constant : Space::global;
    reporter_.conflict({{}, space, nullptr, false}, each);
  }
}

std::optional<PlaceId> Races::read_before(const HostTouch& event, std::uint32_t launch,
                                          PlaceId place) {
  const std::lock_guard lock(mutex_);
  if (host_reads_.launch != launch) host_reads_ = {launch, {}};
  std::map<std::uint64_t, PlaceId>& places = host_reads_.places;
  if (!event.write) {
    if (places.size() < HostReads::most) places[event.address] = place;
    return std::nullopt;
  }
  const auto found = places.find(event.address);
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

void Races::host_touched(const HostTouch& event) {
  if (!host_.is_allocated(event.address)) return;
  const order::Streams::Launch launch = host_.touch();
  const PlaceId place = session_.places.of_host(event.place);
  std::vector<shadow::Conflict> conflicts;
  const auto access = [&](PlaceId at, bool write) {
    global_.host_copy(launch.knows, {order::block_row(launch.number, 0), 0, 1},
                      {event.address, event.bytes, at, write, false}, conflicts);
  };
  access(place, event.write);
  // For `x++`, both stay: a kernel that then stores the value that x has conflicts with the read.
  if (const std::optional<PlaceId> read = read_before(event, launch.number, place))
    access(*read, false);
  for (const shadow::Conflict& each : conflicts)
    if (!is_flag(each)) reporter_.conflict({{}, Space::global, nullptr, false}, each);
}

bool Races::is_flag(const shadow::Conflict& c) const {
  const auto of_system = [](const shadow::Side& side) {
    return side.strong && side.scope == order::Scope::sys;
  };
  return (of_system(c.later) && host_.launches().is_program(c.earlier.row)) ||
         (of_system(c.earlier) && host_.launches().is_program(c.later.row));
}

}  // namespace races

std::unique_ptr<Listener> make_races(const Session& session, const CheckOptions&) {
  return std::make_unique<races::Races>(session);
}

}  // namespace inflight::check
