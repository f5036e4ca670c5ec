// Creates and removes blocks, and finds live mbarriers in their shared memory.
#include "gpu/check/detect/races/state.hpp"

#include <algorithm>
#include <bit>

namespace inflight::check::races {

void Block::set_live(const Mbarrier& m, bool live) {
  const std::uint32_t word = m.offset / 8;
  if (word / 64 >= live_words.size()) live_words.resize(word / 64 + 1);
  const std::uint64_t bit = std::uint64_t{1} << word % 64;
  live_words[word / 64] = live ? live_words[word / 64] | bit : live_words[word / 64] & ~bit;
}

Mbarrier* Block::living_in(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t end =
      std::min<std::uint64_t>((address + bytes + 7) / 8, live_words.size() * 64);
  for (std::uint64_t word = address / 8; word < end; ++word) {
    const std::uint64_t live = live_words[word / 64] >> word % 64;
    word += live ? static_cast<unsigned>(std::countr_zero(live)) : 63 - word % 64;
    if (!live || word >= end) continue;
    const auto found = mbarriers.find(static_cast<std::uint32_t>(word * 8));
    if (found != mbarriers.end()) return found->second.get();
  }
  return nullptr;
}

order::Clock known_in(const Block& block) {
  order::Clock all;
  for (std::uint32_t w = 0; w < block.order.warps(); ++w)
    for (const auto& group : block.order.groups(w)) {
      all.join(group.view->known.loose);
      for (std::uint32_t p = 0; p < order::copy_parts; ++p)
        all.raise(order::warp_row(block.order.row(), static_cast<order::Part>(p + 1), w),
                  group.lanes, group.view->waited[p]);
    }
  return all;
}

Block& RunningBlocks::begin(const BlockBegin& event, const Launch& launch, std::uint32_t number,
                            const order::Knowledge& start) {
  const std::uint32_t in_cluster = launch.cluster_blocks();
  Block& block = blocks_.get(launch.launch, event.block, [&] {
    return std::make_shared<Block>(
        order::Block::Shape{number, launch.number_of(event.block), event.threads, in_cluster,
                            static_cast<std::uint32_t>(launch.device)},
        start);
  });
  block.launch = launch.launch;
  block.linear = event.block;
  block.rank = event.rank;
  const auto fresh = [&] {
    auto cluster = std::make_shared<Cluster>();
    cluster->id = event.cluster;
    cluster->blocks.resize(in_cluster);
    return cluster;
  };
  block.cluster = in_cluster == 1 ? fresh() : clusters_.get(launch.launch, event.cluster, [&] {
    return std::make_unique<std::shared_ptr<Cluster>>(fresh());
  });
  block.cluster->blocks[event.rank] = &block;
  ++block.cluster->running;
  return block;
}

void RunningBlocks::forget(const Cluster& cluster) {
  if (cluster.blocks.size() == 1) {
    const Block& only = *cluster.blocks.front();
    return blocks_.ended(only.launch, only.linear);
  }
  const std::vector<Block*> blocks = cluster.blocks;
  const std::uint64_t launch = blocks.front()->launch;
  clusters_.ended(launch, cluster.id);
  for (const Block* each : blocks) blocks_.ended(launch, each->linear);
}

void RunningBlocks::forget_launch(std::uint64_t launch) {
  blocks_.launch_ended(launch);
  clusters_.launch_ended(launch);
}

}  // namespace inflight::check::races
