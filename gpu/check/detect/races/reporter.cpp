// Fills in findings: the threads, the bytes, and the copies in flight.
#include "gpu/check/detect/races/reporter.hpp"

#include <fmt/format.h>

#include <bit>
#include <tuple>

#include "gpu/check/detect/races/words.hpp"
#include "gpu/check/detect/waiting/mbarrier_history.hpp"

namespace inflight::check::races {

using shadow::Conflict;
using shadow::Side;

namespace {

constexpr std::size_t most_in_flight = 8;

bool later_in_source(const CodePlace& a, const CodePlace& b) {
  const CodeLine at = own_line(a), before = own_line(b);
  return std::tie(a.kernel, at.file, at.line, a.ptx_line) >
         std::tie(b.kernel, before.file, before.line, b.ptx_line);
}

// The copy that this side's actor performs, if it completes on an mbarrier. Otherwise null.
const Copy* transaction_of(const Block* block, const Side& side) {
  if (!block) return nullptr;
  for (const auto& copy : block->cluster->transactions)
    if (copy->by.row == side.row && copy->by.lane == side.lane && copy->by.epoch == side.epoch)
      return copy.get();
  return nullptr;
}

// Names the work that a call puts into a stream.
std::string_view host_work(std::string_view call) {
  if (call.starts_with("cudaMemset")) return a_fill;
  return call.starts_with("cudaMemcpy") ? a_copy : of_library;
}

enum Rule : std::uint64_t { conflicting, not_published, lives_there, named_elsewhere, map_order };

CachedRead cached_read(std::string_view instruction) {
  if (instruction.starts_with("ld.const")) return CachedRead::constant;
  for (const std::string_view each : {"ld.global.nc", "tex.", "tld4.", "suld."})
    if (instruction.starts_with(each)) return CachedRead::texture;
  return CachedRead::none;
}

}  // namespace

Party Reporter::party(const Scene& scene, const Side& side, bool later, std::string did) const {
  Party p{std::move(did), session_.places.at(side.place),
          launches_.threads(side.row, 1u << side.lane)};
  if (p.threads || launches_.is_host(side.row)) return p;
  if (later) {
    p.threads = session_.places.threads(scene.who);
  } else if (const Copy* copy = transaction_of(scene.block, side)) {
    p.threads = session_.places.threads(copy->who);
  }
  return p;
}

Bytes Reporter::bytes_of(const Who& who, Space space, std::uint64_t address,
                         std::uint64_t count) const {
  Bytes bytes{space, address, count, {}, 0};
  const Kernel* const kernel = session_.places.kernel(who.launch);
  if (!kernel || who.instruction == nothing) return bytes;
  const Variable variable = kernel->variable(*kernel, space, address, who.instruction);
  bytes.variable = variable.name;
  bytes.offset = variable.name.empty() ? 0 : address - variable.address;
  return bytes;
}

// The copies in flight of the row's warp, or else of the whole block, oldest first.
std::vector<Party> Reporter::in_flight(const Block* block, order::Row row) const {
  std::vector<Party> all;
  if (!block) return all;
  const std::uint32_t local = order::local_row(row);
  const bool own = order::block_of(row) == order::block_of(block->order.row()) &&
                   local >> order::warp_bits <= order::copy_parts;
  const auto add = [&](const Copy& copy) {
    if (all.size() == most_in_flight) return;
    const CodePlace& at = session_.places.at(copy.place);
    all.push_back({fmt::format("{}, {} bytes", at.instruction, copy.bytes), at,
                   session_.places.threads(copy.who)});
  };
  for (const auto& copy : block->copies)
    if (!own || copy->who.warp == (local & (order::lanes - 1))) add(*copy);
  for (const auto& copy : block->cluster->transactions)
    if (!copy->landed) add(*copy);
  return all;
}

Pair Reporter::pair_of(const Scene& scene, const Conflict& c) const {
  Pair pair;
  pair.earlier = initiator_of(c.earlier.row, launches_.is_host(c.earlier.row));
  pair.later = initiator_of(c.later.row, !scene.block);
  if (launches_.is_program(c.earlier.row)) pair.earlier = Initiator::program;
  if (launches_.is_program(c.later.row)) pair.later = Initiator::program;
  pair.space = scene.space;
  pair.of_mbarrier = scene.of_mbarrier;
  const auto is_call = [&](std::string_view call) {
    for (const Side* side : {&c.earlier, &c.later})
      if (launches_.is_host(side->row) && session_.places.at(side->place).instruction == call)
        return true;
    return false;
  };
  pair.earlier_work = host_work(session_.places.at(c.earlier.place).instruction);
  pair.later_work = host_work(session_.places.at(c.later.place).instruction);
  for (const Side* side : {&c.earlier, &c.later})
    if (!side->write && pair.cached == CachedRead::none)
      pair.cached = cached_read(session_.places.at(side->place).instruction);
  pair.begins = is_call(ordered_allocation),
  pair.ends = is_call(ordered_release) || is_call(host_release);
  pair.same_launch = c.earlier.row >> order::launch_shift == c.later.row >> order::launch_shift;
  pair.same_stream = launches_.same_stream(c.earlier.row, c.later.row);
  pair.dependent = launches_.dependent(c.earlier.row, c.later.row);
  pair.nested = launches_.nested(c.earlier.row, c.later.row);
  pair.same_block = order::block_of(c.earlier.row) == order::block_of(c.later.row);
  pair.same_warp = pair.same_block && c.earlier.row == c.later.row;
  // The row of a copy that completes on an mbarrier is in that mbarrier's block.
  if (scene.block && pair.later == Initiator::transaction)
    pair.same_block = order::block_of(c.earlier.row) == order::block_of(scene.block->order.row());
  pair.ended =
      scene.block && pair.same_block && scene.block->barrier_without_exited &&
      pair.earlier == Initiator::thread && pair.later == Initiator::thread &&
      (scene.block->order.live(order::local_row(c.earlier.row)) >> c.earlier.lane & 1) == 0;
  pair.same_cluster = scene.block && c.earlier.row >= scene.block->order.place().cluster &&
                      c.earlier.row < scene.block->order.place().cluster_end;
  return pair;
}

void Reporter::explain(const Scene& scene, const Conflict& c, Pair& pair) const {
  if (!scene.block || !pair.same_launch) return;
  const bool grouped = is_copy(pair.earlier) && pair.earlier != Initiator::transaction;
  if (c.why == shadow::Why::not_observed && grouped) pair.issuer = issuer_wait_of(*scene.block, c);
  if (c.why == shadow::Why::not_observed && pair.earlier == Initiator::transaction) {
    const Copy* const copy = transaction_of(scene.block, c.earlier);
    pair.passed_by = copy && copy->on && !copy->landed && copy->on->completed != copy->completed;
  }
  if (c.why == shadow::Why::no_edge && pair.earlier == Initiator::thread &&
      pair.later == Initiator::thread && !pair.same_warp)
    pair.meeting = meeting_of(*scene.block, scene.who, c, session_.places);
}

bool Reporter::repeats(const Scene& scene, const Conflict& c) const {
  if (c.earlier.place != c.later.place || c.earlier.lane == c.later.lane ||
      c.earlier.epoch != c.later.epoch)
    return false;
  const Pair pair = pair_of(scene, c);
  return pair.same_warp && pair.space == Space::global && pair.earlier == Initiator::bulk_copy &&
         pair.later == Initiator::bulk_copy && c.earlier.write && c.later.write;
}

// A pair is reported in one order, whichever came first in this run: the access before the copy,
// and of two accesses, or two copies that write, the one later in the source.
bool Reporter::is_swapped(const Scene& scene, const Conflict& c, FindingKind kind) const {
  if (c.why == shadow::Why::by_texture) return false;
  if (c.excuse == shadow::Excuse::peek) return !c.earlier.write;
  if (c.excuse == shadow::Excuse::staged) return false;
  const Pair pair = pair_of(scene, c);
  if (pair.earlier == Initiator::program || pair.later == Initiator::program)
    return pair.earlier == Initiator::program;
  // A multiplication only reads. The write is reported first, unless the multiplication had to wait
  // for it.
  if (only_reads(pair.earlier) != only_reads(pair.later))
    return only_reads(pair.later) && kind == FindingKind::source_modified_in_flight;
  if (is_copy(pair.later) != is_copy(pair.earlier))
    return is_copy(pair.later) && kind != FindingKind::missing_proxy_fence &&
           kind != FindingKind::unfenced_async;
  // The kind tells which of two copies is in flight, unless both write.
  if (is_copy(pair.later) && c.earlier.write != c.later.write) return false;
  return later_in_source(session_.places.at(c.earlier.place), session_.places.at(c.later.place));
}

std::optional<Suspect> Reporter::suspect_of(const Scene& scene, const Conflict& c) const {
  if (!scene.block || scene.space != Space::shared || c.excuse != shadow::Excuse::none ||
      c.why == shadow::Why::proxy_fence)
    return std::nullopt;
  Suspect suspect{scene.who.launch, scene.who.block};
  if (const Copy* const copy = transaction_of(scene.block, c.earlier); copy && copy->on)
    suspect.mbarrier = copy->on->offset;
  else if (initiator_of(c.later.row, false) != Initiator::transaction)
    return std::nullopt;
  return suspect;
}

FindingKey Reporter::key_of(const Scene& scene, const Conflict& c) const {
  const FindingKind kind = kind_of(c, pair_of(scene, c));
  const bool swapped = is_swapped(scene, c, kind);
  return {kind, line_of(swapped ? c.earlier.place : c.later.place),
          line_of(swapped ? c.later.place : c.earlier.place), conflicting};
}

Finding Reporter::finding_of(const Scene& scene, const Conflict& c) const {
  Pair pair = pair_of(scene, c);
  explain(scene, c, pair);
  const Words words = words_of(c, pair);
  Finding finding;
  finding.kind = kind_of(c, pair);
  finding.sentence = words.sentence;
  finding.remedy = words.remedy;
  finding.rule = words.rule;
  const auto words_for = [&](const Side& side, Initiator initiator) {
    return did(side, initiator, session_.places.at(side.place));
  };
  Party earlier = party(scene, c.earlier, false, words_for(c.earlier, pair.earlier));
  Party later = party(scene, c.later, true, words_for(c.later, pair.later));
  const bool swapped = is_swapped(scene, c, finding.kind);
  finding.here = swapped ? earlier : later;
  finding.there = {swapped ? std::move(later) : std::move(earlier)};
  finding.bytes = bytes_of(scene.who, scene.space, c.address, c.bytes);
  if (const Who* const wait = unanswered(scene, c)) {
    finding.sentence +=
        "; its last wait for the copy's mbarrier does not establish that the phase is complete: it "
        "returned false, or its result is not used";
    finding.there.push_back(
        session_.places.party(*wait, "waits for the copy's mbarrier, and goes on"));
    finding.remedy =
        "repeat the wait until it returns true: it may return before the phase is complete";
    finding.rule = "PTX ISA, mbarrier.test_wait, mbarrier.try_wait";
  }
  if (is_copy(pair.earlier)) finding.in_flight = in_flight(scene.block, c.earlier.row);
  return finding;
}

const Who* Reporter::unanswered(const Scene& scene, const Conflict& c) const {
  if (c.why != shadow::Why::not_observed || !scene.block) return nullptr;
  const Copy* const copy = transaction_of(scene.block, c.earlier);
  if (!copy || !copy->on) return nullptr;
  const Who& by = scene.who;
  for (const Who& wait : copy->on->unanswered)
    if (wait.mask & by.mask && wait.launch == by.launch && wait.block == by.block &&
        wait.warp == by.warp)
      return &wait;
  return nullptr;
}

void Reporter::unpublished(const Who& who, const Mbarrier& m, bool other_block) {
  session_.findings.add(
      {FindingKind::barrier_misuse, line_of(place_of(who)), line_of(m.place), not_published}, [&] {
        Finding finding;
        finding.kind = FindingKind::barrier_misuse;
        finding.sentence =
            "a thread uses an mbarrier whose initialisation may not be visible to it: nothing "
            "orders mbarrier.init before this operation";
        finding.here = session_.places.party(who, "uses the mbarrier");
        finding.there = {
            {"initialises it", session_.places.at(m.place), session_.places.threads(m.who)}};
        finding.bytes = bytes_of(who, Space::shared, m.offset, 8);
        finding.remedy =
            other_block
                ? "fence.mbarrier_init.release.cluster after mbarrier.init, then a cluster barrier "
                  "(barrier.cluster.arrive and .wait) before any other block uses the mbarrier"
                : "a barrier (__syncthreads()) between mbarrier.init and the first use by another "
                  "thread";
        finding.rule = "PTX ISA, mbarrier.init; fence.mbarrier_init";
        return finding;
      });
}

void Reporter::init_not_fenced(const Who& who, const Mbarrier& m) {
  session_.findings.add(
      {FindingKind::unfenced_async, line_of(place_of(who)), line_of(m.place), not_published}, [&] {
        Finding finding;
        finding.kind = FindingKind::unfenced_async;
        finding.sentence =
            "a copy of the async proxy completes on an mbarrier that was initialised through the "
            "generic proxy, and no fence lies between: chips need none, but PTX asks for one";
        finding.here = session_.places.party(who, "issues the copy");
        finding.there = {{"initialises the mbarrier", session_.places.at(m.place),
                          session_.places.threads(m.who)}};
        finding.bytes = bytes_of(who, Space::shared, m.offset, 8);
        finding.remedy =
            "fence.mbarrier_init.release.cluster (cuda::ptx::fence_mbarrier_init) or "
            "fence.proxy.async after mbarrier.init, in the thread that executes it, before the "
            "barrier after which the copy is issued";
        finding.rule = "PTX ISA, fence.mbarrier_init; Memory Consistency Model: Proxies";
        return finding;
      });
}

void Reporter::without_scope(const Who& who, const Mbarrier& m) {
  const bool remote = who.block != m.owner->linear;
  session_.findings.add({FindingKind::mbarrier_scope, line_of(place_of(who)), no_place}, [&] {
    Finding finding;
    finding.kind = FindingKind::mbarrier_scope;
    finding.sentence =
        remote ? "threads operate on another block's mbarrier by an instruction without a scope, "
                 "which PTX gives the scope of a block: chips order the two, but PTX does not"
               : "threads wait for arrivals of another block by an instruction without a scope, "
                 "which PTX gives the scope of a block: chips order the two, but PTX does not";
    finding.here = session_.places.party(who, remote ? "operates on it" : "waits for it");
    if (!remote)
      finding.there = {session_.places.party(m.remote, "arrives there, from another block")};
    finding.bytes = bytes_of(who, Space::shared, m.offset, 8);
    finding.remedy =
        remote ? "mbarrier.arrive.release.cluster instead of mbarrier.arrive"
               : "mbarrier.try_wait.parity.acquire.cluster instead of mbarrier.try_wait.parity "
                 "(or test_wait, and with a token, likewise)";
    finding.rule = "PTX ISA, mbarrier.arrive, mbarrier.try_wait: without .scope it is .cta";
    return finding;
  });
}

// The same finding as that of a use which came after mbarrier.inval in this run.
void Reporter::used_beside_inval(const Who& user, const Who& by, const Mbarrier& m) {
  constexpr std::uint64_t more = check::key_of(MbarrierBreach::What::used_after_inval);
  session_.findings.add({FindingKind::barrier_misuse, place_of(user), no_place, more}, [&] {
    Finding finding;
    finding.kind = FindingKind::barrier_misuse;
    finding.sentence =
        "an mbarrier is invalidated while another thread may still use it: nothing orders that "
        "use before mbarrier.inval";
    finding.here = session_.places.party(user, "operates on the mbarrier");
    finding.there = {session_.places.party(by, "invalidates it")};
    finding.bytes = bytes_of(by, Space::shared, m.offset, 8);
    finding.remedy = "synchronise all its users at a barrier before mbarrier.inval";
    finding.rule =
        "PTX ISA, mbarrier.inval: only mbarrier.init may operate on memory that is not a valid "
        "mbarrier";
    return finding;
  });
}

void Reporter::names_other_block(const CopyIssued& copy) {
  session_.findings.add(
      {FindingKind::barrier_misuse, line_of(place_of(copy.who)), no_place, named_elsewhere}, [&] {
        Finding finding;
        finding.kind = FindingKind::barrier_misuse;
        finding.sentence = fmt::format(
            "a copy into the shared memory of one block of the cluster (rank {}) names the "
            "mbarrier of another (rank {}): an H200 counts it on the mbarrier at the same offset "
            "in the block that it writes to",
            copy.destination_rank, copy.named_rank);
        finding.here = session_.places.party(copy.who, "issues the copy");
        finding.bytes = bytes_of(copy.who, Space::shared, copy.mbarrier, 8);
        finding.remedy =
            "take both the destination and the mbarrier from the block that receives the data "
            "(mapa, cluster.map_shared_rank() with the same rank), and wait in that block";
        finding.rule =
            "PTX ISA, st.async, red.async: the address and the mbarrier must be in the shared "
            "memory of the same block";
        return finding;
      });
}

Finding Reporter::map_finding(Party user, Party writer, const Bytes& bytes, bool early_fence) {
  Finding finding;
  finding.kind = FindingKind::tensor_map;
  finding.sentence =
      early_fence
          ? "a tensor copy uses a tensor map that the kernel has changed, without an acquire fence "
            "of the tensormap proxy after the change"
          : "a tensor copy uses a tensor map that the kernel changes, and nothing orders the two";
  user.did = "uses the tensor map";
  writer.did = "writes to it";
  finding.here = std::move(user);
  finding.there.push_back(std::move(writer));
  finding.bytes = bytes;
  finding.remedy =
      "after the change, a barrier, or a flag with a release and an acquire of gpu scope between "
      "blocks; then fence.proxy.tensormap::generic.acquire.gpu [map], 128, and then the copy";
  finding.rule = "PTX ISA, membar, fence.proxy; Memory Consistency Model: Causality Order";
  return finding;
}

void Reporter::map_unordered(const Who& user, const Who& writer, std::uint64_t map,
                             bool early_fence) {
  const PlaceId use = place_of(user), change = place_of(writer);
  // The detector tensor_maps reports the fence if it came before the change in this run.
  constexpr std::uint64_t without_fence = 2;
  const FindingKey key =
      early_fence ? FindingKey{FindingKind::tensor_map, use, change, without_fence}
                  : FindingKey{FindingKind::tensor_map, line_of(use), line_of(change), map_order};
  session_.findings.add(key, [&] {
    return map_finding(session_.places.party(user, ""), session_.places.party(writer, ""),
                       bytes_of(user, Space::global, map, 128), early_fence);
  });
}

void Reporter::map_unordered(const Scene& scene, const Conflict& c) {
  session_.findings.add(
      {FindingKind::tensor_map, line_of(c.earlier.place), line_of(c.later.place), map_order}, [&] {
        return map_finding(party(scene, c.earlier, false, ""), party(scene, c.later, true, ""),
                           bytes_of(scene.who, Space::global, c.address, 128), false);
      });
}

void Reporter::overwritten(const Who& who, const Mbarrier& m, std::uint64_t address,
                           std::uint64_t bytes) {
  session_.findings.add(
      {FindingKind::barrier_misuse, line_of(place_of(who)), line_of(m.place), lives_there}, [&] {
        Finding finding;
        finding.kind = FindingKind::barrier_misuse;
        finding.sentence =
            "bytes of an mbarrier are written by something other than an mbarrier operation while "
            "the "
            "mbarrier is live";
        finding.here = session_.places.party(who, "writes these bytes");
        finding.there = {{"initialises the mbarrier", session_.places.at(m.place),
                          session_.places.threads(m.who)}};
        finding.bytes = bytes_of(who, Space::shared, address, bytes);
        finding.remedy =
            "mbarrier.inval (after a barrier that follows its last use) before the bytes are used "
            "for anything else; or keep the mbarrier where nothing else is stored";
        finding.rule = "PTX ISA, mbarrier.inval; mbarrier: Contents of the mbarrier object";
        return finding;
      });
}

void Reporter::ends_with(const Block& block, const Copy& copy) {
  const bool reads =
      copy.from_shared && (copy.completion != Completion::transaction || copy.source == &block);
  const auto make = [&] {
    Finding finding;
    finding.kind = FindingKind::exit_with_copy_in_flight;
    finding.sentence = fmt::format(
        "a block ends while a copy may still {} its shared memory: no thread of the block has {}",
        reads ? "read" : "write",
        copy.completion == Completion::transaction ? "observed that the copy is complete"
                                                   : "waited for the copy");
    finding.here = session_.places.party(copy.who, "issues the copy");
    finding.in_flight = in_flight(&block, block.order.row());
    switch (copy.completion) {
      case Completion::thread_group:
        finding.remedy = "cp.async.wait_all (or cp.async.wait_group 0) before the thread ends";
        finding.rule = "PTX ISA, cp.async.wait_group";
        break;
      case Completion::bulk_group:
        finding.remedy =
            "cp.async.bulk.commit_group after the copy, and cp.async.bulk.wait_group.read 0 in the "
            "thread that issued it, before it ends";
        finding.rule = "PTX ISA, cp.async.bulk.wait_group";
        break;
      case Completion::transaction:
        finding.remedy =
            "a thread of the block waits for the mbarrier's phase that the copy completes "
            "(mbarrier.try_wait) before the block ends";
        finding.rule = "PTX ISA, cp.async.bulk; mbarrier.try_wait";
    }
    return finding;
  };
  const FindingKey key{FindingKind::exit_with_copy_in_flight, line_of(copy.place)};
  if (copy.on)
    session_.findings.add_consequence(key, {copy.who.launch, block.linear, copy.on->offset}, make);
  else
    session_.findings.add(key, make);
}

void Reporter::ends_with(const Multiplies::Last& multiply) {
  session_.findings.add({FindingKind::exit_with_copy_in_flight, line_of(multiply.place)}, [&] {
    Finding finding;
    finding.kind = FindingKind::exit_with_copy_in_flight;
    finding.sentence =
        "a block ends while a wgmma may still read its shared memory, and its accumulators are "
        "lost: no thread of the block has waited for the multiplication";
    finding.here = session_.places.party(multiply.who, "issues the multiplication");
    finding.remedy =
        "wgmma.commit_group after the multiplication, and wgmma.wait_group 0 before its warps end";
    finding.rule = "PTX ISA, wgmma.wait_group";
    return finding;
  });
}

void Reporter::peer_exited(const Who& who, std::uint16_t rank) {
  session_.findings.add({FindingKind::peer_exited, line_of(place_of(who))}, [&] {
    Finding finding;
    finding.kind = FindingKind::peer_exited;
    finding.sentence = fmt::format(
        "shared memory of another block of the cluster (rank {}) is used, and nothing keeps that "
        "block from exiting first",
        rank);
    finding.here = session_.places.party(who, "uses the other block's shared memory");
    finding.remedy =
        "a cluster barrier (barrier.cluster.arrive and .wait; cluster.sync()) in all blocks after "
        "the last use of another block's shared memory and before they exit";
    finding.rule =
        "CUDA Programming Guide, Distributed Shared Memory: the block must exist while its shared "
        "memory is accessed";
    return finding;
  });
}

void Reporter::peer_not_begun(const EarlyUse& use) {
  session_.findings.add({FindingKind::peer_exited, line_of(place_of(use.who)), no_place, 1}, [&] {
    Finding finding;
    finding.kind = FindingKind::peer_exited;
    finding.sentence = fmt::format(
        "{} of another block of the cluster (rank {}) is used, and nothing tells this "
        "thread that the block has begun",
        use.allocates ? "tensor memory" : "shared memory", use.rank);
    finding.here = session_.places.party(
        use.who, use.allocates ? "allocates tensor memory in both blocks of the pair"
                               : "uses the other block's shared memory");
    finding.remedy =
        "a cluster barrier (barrier.cluster.arrive and .wait, which may be relaxed; "
        "cluster.sync()) in all blocks before the first use of another block's shared memory";
    finding.rule =
        "CUDA Programming Guide, Distributed Shared Memory: all blocks of the cluster must have "
        "begun before their shared memory is accessed";
    return finding;
  });
}

}  // namespace inflight::check::races
