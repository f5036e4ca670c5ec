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

}  // namespace

ClusterCopies::ClusterCopies(Cluster& cluster)
    : model(async_timing(*cluster.grid->options), cluster.blocks.front()->linear, *this),
      cluster_(cluster) {}

bool ClusterCopies::wanted() const {
  return observation() && observation()->wants(check::Topic::copies);
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
  const auto completion =
      copy.mbarrier ? check::Completion::transaction : check::Completion::bulk_group;
  const std::uint32_t bytes =
      is_tensor(copy) ? std::uint32_t(async::box_of(copy.map).tx_bytes()) : copy.bytes;
  if (Counts* const counts = cluster_.blocks.front()->counts) counts->copies(completion, 1, bytes);
  if (!wanted()) return;
  const int lane = static_cast<int>(copy.thread % lanes);
  std::uint64_t sources[lanes]{}, destinations[lanes]{};
  std::uint16_t ranks[lanes]{};
  check::CopyIssued event;
  event.who = who(copy.thread, copy.tag);
  event.id = copy.id | bulk_ids;
  event.proxy = check::Proxy::async;
  event.completion = completion;
  event.bytes = bytes;
  const auto place = [&](const std::byte* at, check::Space& space) {
    for (const auto& block : cluster_.blocks) {
      if (at < block->shared || at >= block->shared + block->shared_end) continue;
      space = check::Space::shared;
      ranks[lane] = static_cast<std::uint16_t>(block->rank);
      return static_cast<std::uint64_t>(at - block->shared);
    }
    space = check::Space::global;
    return reinterpret_cast<std::uint64_t>(at);
  };
  if (is_tensor(copy)) {
    event.from = is_load(copy) ? check::Space::global : check::Space::shared;
    event.to = is_load(copy) ? check::Space::shared : check::Space::global;
    (is_load(copy) ? sources : destinations)[lane] = copy.map.global_address;
    (is_load(copy) ? destinations : sources)[lane] = copy.place.shared;
    ranks[lane] = static_cast<std::uint16_t>(copy.rank);
  } else {
    sources[lane] = place(copy.from, event.from);
    destinations[lane] = place(copy.to, event.to);
  }
  event.sources = sources;
  event.destinations = destinations;
  event.ranks = ranks;
  if (copy.mbarrier) event.mbarrier = copy.mbarrier_offset;
  observation()->listener().copy_issued(event);
}

void ClusterCopies::completed(const BulkCopy& copy, const async::mbarrier::Step& step) {
  if (wanted()) {
    check::CopyCompleted event;
    event.who = who(copy.thread, copy.tag);
    event.id = copy.id | bulk_ids;
    observation()->listener().copy_completed(event);
  }
  if (step.completed) wake_mbarrier(*cluster_.blocks[copy.rank], copy.mbarrier_offset);
  if (step.violation != async::Violation::none) [[unlikely]]
    advise(*cluster_.grid, step.violation, copy.tag);
}

void ClusterCopies::source_modified(const BulkCopy& copy) {
  advise(*cluster_.grid, async::Violation::source_modified, copy.tag);
}

void ClusterCopies::committed(std::uint32_t thread) {
  if (!wanted()) return;
  observation()->listener().copy_committed(
      {who(thread, check::nothing), check::Completion::bulk_group});
}

void ClusterCopies::waited(std::uint32_t thread, std::uint32_t allowed, bool read_only) {
  if (!wanted()) return;
  check::CopyWaited event;
  event.who = who(thread, check::nothing);
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
