// Events of copies and arrivals in flight: issues, commits, completions, waits, and their effects
// on mbarriers.
#include <bit>
#include <cstring>

#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using async::BulkCopy;
using async::Completion;
using check::Topic;

// Set in ids of bulk copies, because ids of a warp's cp.async count from 1 too.
constexpr std::uint64_t bulk_ids = 1ull << 63;

bool is_load(const BulkCopy& c) { return c.kind == BulkCopy::Kind::tensor_load; }
bool is_tensor(const BulkCopy& c) { return is_load(c) || c.kind == BulkCopy::Kind::tensor_store; }

// The parity of the phase that the step counted for.
std::uint32_t parity_before(async::mbarrier::Word after, const async::mbarrier::Step& step) {
  const std::uint32_t now = async::mbarrier::decode(after).parity;
  return step.completed ? now ^ 1 : now;
}

// A copy and the bases of its addresses; null: global addresses.
struct Ends {
  const BulkCopy& copy;
  const std::byte *from, *to;
};
std::uint64_t place(const std::byte* at, const std::byte* origin) {
  return reinterpret_cast<std::uint64_t>(at) - reinterpret_cast<std::uint64_t>(origin);
}
void walk_bulk(const check::CopyIssued& event, void* to, check::CopyIssued::RunHook hook) {
  const Ends& ends = *static_cast<const Ends*>(event.context);
  check::CopyRun run;
  run.lane = ends.copy.thread % lanes;
  async::for_each_run(ends.copy, [&](const async::BulkRun& each) {
    run.destination = place(each.to, ends.to) + static_cast<std::uint64_t>(ends.copy.seen);
    run.source = each.from ? place(each.from, ends.from) : 0;
    run.bytes = each.bytes;
    run.source_bytes = each.from ? each.bytes : 0;
    hook(to, run);
  });
}

}  // namespace

check::Who InFlight::who(const Threads& threads, std::uint64_t instruction) const {
  return observation().who(*block(threads.rank).warps[threads.warp], threads.mask,
                           static_cast<std::uint32_t>(instruction));
}

void InFlight::issued(const Threads& threads, const async::Copy& copy) {
  if (Counts* const counts = block(threads.rank).counts)
    counts->copies(Completion::thread_group, copy.mask, copy.bytes);
  if (!observation().wants(Topic::copies)) return;
  check::CopyIssued event;
  event.who = who(threads, copy.tag);
  event.id = copy.id;
  event.bytes = copy.bytes;
  event.source_rank = event.destination_rank = threads.rank;
  if (copy.oversized != 0) {
    event.violation = async::Violation::source_size;
    event.breaking = copy.oversized;
    event.source_size = copy.source_size;
  }
  const check::LaneRuns runs{copy.dst.data(), copy.src.data(), copy.src_bytes.data()};
  event.by_lane = &runs;
  observation().listener().copy_issued(event);
}

void InFlight::issued(const BulkCopy& copy) {
  const bool to_shared = copy.mbarrier != nullptr;
  check::CopyIssued event;
  event.completion = to_shared ? Completion::transaction : Completion::bulk_group;
  event.bytes = is_tensor(copy) ? std::uint32_t(async::box_of(copy.map).tx_bytes()) : copy.bytes;
  event.left_out = copy.left_out;
  if (Counts* const counts = block(0).counts) counts->copies(event.completion, 1, event.bytes);
  if (!observation().wants(Topic::copies)) return;
  event.who = who(async::issuer(copy.thread), copy.tag);
  event.id = copy.id | bulk_ids;
  event.proxy = check::Proxy::async;
  event.strong = copy.strong;
  event.of_values = copy.kind == BulkCopy::Kind::value && !copy.answers;
  event.reduces = copy.reduce != nullptr;
  if (event.reduces) event.reduction = copy.operation, event.element = copy.element;
  event.source_rank = static_cast<std::uint16_t>(copy.thread >> 10);
  event.destination_rank = static_cast<std::uint16_t>(copy.to_rank);
  const Block& own = block(event.source_rank);
  const bool from_shared = copy.kind == BulkCopy::Kind::tensor_store ||
                           (copy.from >= own.shared && copy.from < own.shared + own.shared_end);
  event.from = from_shared ? check::Space::shared : check::Space::global;
  event.to = to_shared ? check::Space::shared : check::Space::global;
  if (to_shared) {
    event.mbarrier = copy.mbarrier_offset;
    event.mbarrier_rank = static_cast<std::uint16_t>(copy.rank);
    event.named_rank = static_cast<std::uint16_t>(copy.named_rank);
    event.tx_bytes = copy.tx_bytes;
  }
  if (is_tensor(copy)) {
    event.tensor_map = copy.map_address;
    event.box = copy.place.shared;
    if (!copy.one_of_four) event.swizzle_period = async::swizzle_period(copy.map.swizzle);
    event.coordinates = {copy.place.at.data(), copy.map.rank};
    if (copy.map.mode == async::TensorMode::im2col)
      event.offsets = {copy.place.offset.data(), copy.map.spatial()};
  }
  const Ends ends{copy, from_shared ? own.shared : nullptr,
                  to_shared ? block(copy.to_rank).shared : nullptr};
  event.context = &ends;
  event.walk = &walk_bulk;
  observation().listener().copy_issued(event);
}

void InFlight::completed(const Threads& threads, const async::Copy& copy) {
  report_completed(threads, copy.tag, copy.id);
}

void InFlight::report_completed(const Threads& threads, std::uint64_t instruction,
                                std::uint64_t id) {
  if (observation().wants(Topic::copies))
    observation().listener().copy_completed({who(threads, instruction), id});
}

void InFlight::arrival_issued(const Threads& threads, const async::Arrival& arrival,
                              async::Violation violation) {
  report_arrival(threads, arrival, check::MbarrierOp::Op::async_arrive_issued, {violation});
}

void InFlight::arrived(const Threads& threads, const async::Arrival& arrival,
                       const async::mbarrier::Step& step) {
  using Op = check::MbarrierOp::Op;
  if (Counts* const counts = block(threads.rank).counts)
    counts->mbarrier(Op::async_arrive, static_cast<std::uint32_t>(std::popcount(threads.mask)),
                     step.completed);
  report_arrival(threads, arrival, Op::async_arrive, step);
}

void InFlight::report_arrival(const Threads& threads, const async::Arrival& arrival,
                              check::MbarrierOp::Op op, const async::mbarrier::Step& step) {
  if (!observation().wants(Topic::mbarriers)) return;
  async::mbarrier::Word word;
  std::memcpy(&word, block(threads.rank).shared + arrival.mbarrier, sizeof word);
  if (op == check::MbarrierOp::Op::async_arrive)
    spurious_failures.copy_counted(threads.rank, static_cast<std::uint32_t>(arrival.mbarrier),
                                   parity_before(word, step));
  check::MbarrierOp event;
  event.who = who(threads, arrival.tag);
  event.op = op;
  event.address = arrival.mbarrier;
  event.rank = threads.rank;
  event.count = 1;
  event.no_inc = arrival.noinc;
  event.order = check::Order::release;
  observation().report_mbarrier(event, word, step);
}

void InFlight::completed(const BulkCopy& copy, const async::mbarrier::Step& step) {
  const Threads issuer = async::issuer(copy.thread);
  const std::uint64_t id = copy.id | bulk_ids;
  report_completed(issuer, copy.tag, id);
  if (!copy.mbarrier) return;
  using Op = check::MbarrierOp::Op;
  if (Counts* const counts = block(copy.rank).counts)
    counts->mbarrier(Op::complete_tx, 0, step.completed);
  if (!observation().wants(Topic::mbarriers)) return;
  spurious_failures.copy_counted(copy.rank, copy.mbarrier_offset,
                                 parity_before(*copy.mbarrier, step));
  check::MbarrierOp event;
  event.who = who(issuer, copy.tag);
  event.op = Op::complete_tx;
  event.address = copy.mbarrier_offset;
  event.rank = static_cast<std::uint16_t>(copy.rank);
  event.copy = id;
  event.tx_bytes = copy.tx_bytes;
  event.order = check::Order::release;
  event.scope = check::Scope::cluster;
  observation().report_mbarrier(event, *copy.mbarrier, step);
}

void InFlight::commit_issued(const async::TensorCommit& commit) {
  report_commit(commit, check::MbarrierOp::Op::async_arrive_issued, {});
}

void InFlight::commit_arrived(const async::TensorCommit& commit,
                              const async::mbarrier::Step& step) {
  if (Counts* const counts = block(commit.rank).counts)
    counts->mbarrier(check::MbarrierOp::Op::async_arrive, 1, step.completed);
  report_commit(commit, check::MbarrierOp::Op::async_arrive, step);
}

void InFlight::report_commit(const async::TensorCommit& commit, check::MbarrierOp::Op op,
                             const async::mbarrier::Step& step) {
  if (!observation().wants(Topic::mbarriers)) return;
  if (op == check::MbarrierOp::Op::async_arrive)
    spurious_failures.copy_counted(commit.rank, commit.offset,
                                   parity_before(*commit.mbarrier, step));
  check::MbarrierOp event;
  event.who = who(async::issuer(commit.thread), commit.tag);
  event.op = op;
  event.address = commit.offset;
  event.rank = static_cast<std::uint16_t>(commit.rank);
  event.count = 1;
  event.no_inc = true;
  event.of_tensor_work = true;
  event.order = check::Order::release;
  event.scope = check::Scope::cluster;
  observation().report_mbarrier(event, *commit.mbarrier, step);
}

void InFlight::committed(const Threads& threads, Completion completion, std::uint64_t instruction) {
  if (observation().wants(Topic::copies))
    observation().listener().copy_committed({who(threads, instruction), completion});
}

void InFlight::waited(const Threads& threads, const async::GroupWait& wait,
                      std::uint64_t instruction) {
  if (!observation().wants(Topic::copies)) return;
  check::CopyWaited event;
  event.who = who(threads, instruction);
  event.completion = wait.completion;
  event.allowed = wait.allowed;
  event.read_only = wait.read_only;
  observation().listener().copy_waited(event);
}

}  // namespace inflight::machine
