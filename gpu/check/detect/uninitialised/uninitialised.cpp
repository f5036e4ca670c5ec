// Detects uses of undefined bytes: launches, blocks, and the accesses of threads.
#include "gpu/check/detect/uninitialised/uninitialised.hpp"

namespace inflight::check {
namespace uninitialised {
namespace {

constexpr std::uint64_t first_shared = 1024;  // lower addresses are reserved by CUDA, and zero

}  // namespace

Topic Uninitialised::topics() const {
  return Topic::accesses | Topic::addresses | Topic::copies | Topic::blocks | Topic::allocations |
         Topic::host | Topic::mbarriers | Topic::barriers | Topic::undefined;
}

void Uninitialised::launch_ended(std::uint64_t launch) { clusters_.launch_ended(launch); }

void Uninitialised::block_begin(const BlockBegin& event) {
  const std::uint64_t launch = event.kernel->launch;
  UndefinedBlock& block = made(launch, event.block);
  block.rank = event.rank;
  block.shared = shadow::Bits(first_shared + event.shared_bytes);
  block.shared.insert(first_shared, event.shared_bytes);
  block.copied = shadow::Bits(first_shared + event.shared_bytes);
  block.derived = shadow::Bits(first_shared + event.shared_bytes);
  block.warps.resize((event.threads + lanes - 1) / lanes);
  const Extents& shape = event.kernel->cluster;
  const std::uint32_t blocks = shape.x * shape.y * shape.z;
  const auto fresh = [&] {
    auto cluster = std::make_shared<UndefinedCluster>();
    cluster->id = {launch, event.cluster};
    cluster->blocks.resize(blocks);
    return cluster;
  };
  block.cluster = blocks == 1 ? fresh() : clusters_.get(launch, event.cluster, [&] {
    return std::make_unique<std::shared_ptr<UndefinedCluster>>(fresh());
  });
  block.cluster->blocks[event.rank] = &block;
}

void Uninitialised::block_ends(UndefinedBlock& block) {
  for (PendingUse& use : block.pending)
    if (still_undefined(block, use)) report(use);
  UndefinedCluster& cluster = *block.cluster;
  cluster.blocks[block.rank] = nullptr;
  if (cluster.blocks.size() > 1)
    clusters_.ended(cluster.id.first, cluster.id.second,
                    static_cast<std::uint32_t>(cluster.blocks.size()));
}

void Uninitialised::accessed(const Access& access) {
  if (!access.addresses || access.space > Space::local) return;
  UndefinedBlock* const block = find(access.who);
  if (!block || access.who.warp >= block->warps.size()) return;
  if (access.kind == Access::Kind::load) return check_load(access, *block);
  if (access.kind >= Access::Kind::atomic) check_atomic(access, *block);
  if (!block->pending.empty() || !block->origins.empty()) settle(*block, access);
  write_lanes(access, global_, *block, access.who.mask & access.written);
  if (access.undefined && access.undefined->lanes != 0) stored(access, *block);
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

}  // namespace uninitialised

std::unique_ptr<Listener> make_uninitialised(const Session& session, const CheckOptions&) {
  return std::make_unique<uninitialised::Uninitialised>(session);
}

}  // namespace inflight::check
