// Bulk copies: waking who waits for them, and their events.
#include "gpu/machine/run/cluster_copies.hpp"

#include "gpu/machine/run/advice.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/thread_copies.hpp"

namespace inflight::machine {
namespace {

using async::BulkCopy;

// Ids of a warp's cp.async count from 1 likewise: these stand apart from them.
constexpr std::uint64_t bulk_ids = 1ull << 63;

bool is_load(const BulkCopy& c) { return c.kind == BulkCopy::Kind::tensor_load; }
bool is_tensor(const BulkCopy& c) { return is_load(c) || c.kind == BulkCopy::Kind::tensor_store; }

// A copy and the places that its ends count from; null: global addresses.
struct Ends {
  const BulkCopy& copy;
  const std::byte *from, *to;
};
std::uint64_t place(const std::byte* at, const std::byte* origin) {
  return reinterpret_cast<std::uint64_t>(at) - reinterpret_cast<std::uint64_t>(origin);
}
void walk(const check::CopyIssued& event, void* to, check::CopyIssued::RunHook hook) {
  const Ends& ends = *static_cast<const Ends*>(event.context);
  check::CopyRun run;
  run.lane = ends.copy.thread % lanes;
  async::for_each_run(ends.copy, [&](const async::BulkRun& each) {
    run.destination = place(each.to, ends.to);
    run.source = each.from ? place(each.from, ends.from) : 0;
    run.bytes = each.bytes;
    run.source_bytes = each.from ? each.bytes : 0;
    hook(to, run);
  });
}

}  // namespace

ClusterCopies::ClusterCopies(Cluster& cluster)
    : model(cluster.grid->options->timing, cluster.blocks.front()->linear, *this),
      cluster_(cluster) {}

bool ClusterCopies::wants(check::Topic topic) const {
  return observation() && observation()->wants(topic);
}

void ClusterCopies::issue(const BulkCopy& copy) {
  model.issue(copy);
  if (copy.mbarrier) wake_mbarrier(*cluster_.blocks[copy.rank], copy.mbarrier_offset);
}

check::Who ClusterCopies::who(std::uint32_t thread, std::uint64_t instruction) const {
  const Block& block = *cluster_.blocks[thread >> 10];
  const std::uint32_t in_block = thread & 1023;
  return observation()->who(*block.warps[in_block / lanes], 1u << in_block % lanes,
                            static_cast<std::uint32_t>(instruction));
}

void ClusterCopies::issued(const BulkCopy& copy) {
  if (!observation()) return;
  const bool to_shared = copy.mbarrier != nullptr;
  check::CopyIssued event;
  event.completion = to_shared ? check::Completion::transaction : check::Completion::bulk_group;
  event.bytes = is_tensor(copy) ? std::uint32_t(async::box_of(copy.map).tx_bytes()) : copy.bytes;
  if (Counts* const counts = cluster_.blocks.front()->counts)
    counts->copies(event.completion, 1, event.bytes);
  if (!wants(check::Topic::copies)) return;
  event.who = who(copy.thread, copy.tag);
  event.id = copy.id | bulk_ids;
  event.proxy = check::Proxy::async;
  event.of_values = copy.kind == BulkCopy::Kind::value;
  event.reduces = copy.reduce != nullptr;
  event.source_rank = static_cast<std::uint16_t>(copy.thread >> 10);
  event.destination_rank = static_cast<std::uint16_t>(copy.rank);
  const Block& own = *cluster_.blocks[event.source_rank];
  const bool from_shared = copy.kind == BulkCopy::Kind::tensor_store ||
                           (copy.from >= own.shared && copy.from < own.shared + own.shared_end);
  event.from = from_shared ? check::Space::shared : check::Space::global;
  event.to = to_shared ? check::Space::shared : check::Space::global;
  if (to_shared) {
    event.mbarrier = copy.mbarrier_offset;
    event.mbarrier_rank = event.destination_rank;
    event.tx_bytes = copy.tx_bytes;
  }
  if (is_tensor(copy)) {
    event.tensor_map = copy.map_address;
    event.coordinates = {copy.place.at.data(), copy.map.rank};
  }
  const Ends ends{copy, from_shared ? own.shared : nullptr,
                  to_shared ? cluster_.blocks[copy.rank]->shared : nullptr};
  event.context = &ends;
  event.walk = &walk;
  observation()->listener().copy_issued(event);
}

void ClusterCopies::completed(const BulkCopy& copy, const async::mbarrier::Step& step) {
  if (observation()) [[unlikely]]
    report_completed(copy, step);
  if (step.completed) wake_mbarrier(*cluster_.blocks[copy.rank], copy.mbarrier_offset);
  if (step.violation != async::Violation::none) [[unlikely]]
    advise(*cluster_.grid, step.violation, copy.tag);
}

void ClusterCopies::report_completed(const BulkCopy& copy, const async::mbarrier::Step& step) {
  const check::Who issuer = who(copy.thread, copy.tag);
  const std::uint64_t id = copy.id | bulk_ids;
  if (wants(check::Topic::copies)) observation()->listener().copy_completed({issuer, id});
  if (!copy.mbarrier) return;
  using Op = check::MbarrierOp::Op;
  if (Counts* const counts = cluster_.blocks[copy.rank]->counts)
    counts->mbarrier(Op::complete_tx, 0, step.completed);
  if (!wants(check::Topic::mbarriers)) return;
  check::MbarrierOp event;
  event.who = issuer;
  event.op = Op::complete_tx;
  event.address = copy.mbarrier_offset;
  event.rank = static_cast<std::uint16_t>(copy.rank);
  event.copy = id;
  event.tx_bytes = copy.tx_bytes;
  event.order = check::Order::release;
  event.scope = check::Scope::cluster;
  observation()->report_mbarrier(event, *copy.mbarrier, step);
}

void ClusterCopies::source_modified(const BulkCopy& copy) {
  advise(*cluster_.grid, async::Violation::source_modified, copy.tag);
}

void ClusterCopies::committed(std::uint32_t thread, std::uint64_t instruction) {
  if (!wants(check::Topic::copies)) return;
  observation()->listener().copy_committed(
      {who(thread, instruction), check::Completion::bulk_group});
}

void ClusterCopies::waited(std::uint32_t thread, std::uint32_t allowed, bool read_only,
                           std::uint64_t instruction) {
  if (!wants(check::Topic::copies)) return;
  check::CopyWaited event;
  event.who = who(thread, instruction);
  event.completion = check::Completion::bulk_group;
  event.allowed = allowed;
  event.read_only = read_only;
  observation()->listener().copy_waited(event);
}

ClusterCopies& bulk_copies(Cluster& cluster) {
  if (!cluster.copies) cluster.copies = std::make_unique<ClusterCopies>(cluster);
  return *cluster.copies;
}

}  // namespace inflight::machine
