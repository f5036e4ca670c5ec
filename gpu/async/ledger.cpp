// Passes each call on to every kind of operation in flight.
#include "gpu/async/ledger.hpp"

namespace inflight::async {
namespace {

// Each warp, warpgroup and cluster of a grid has its own random stream.
constexpr std::uint64_t warps = 64;  // upper bound of a block
Order of_warp(Timing timing, std::uint64_t block, std::uint64_t warp) {
  return Order(timing, block * warps + warp);
}
Order of_warpgroup(Timing timing, std::uint64_t block, std::uint64_t group) {
  return Order({timing.policy, timing.seed + 1}, block * warps + group);
}
Order of_cluster(Timing timing, std::uint64_t first_block) {
  return Order({timing.policy, timing.seed + 2}, first_block);
}

Order of_tensor_work(Timing timing, std::uint64_t first_block) {
  return Order({timing.policy, timing.seed + 3}, first_block);
}

}  // namespace

Ledger::Ledger(Timing timing, Observer& observer, std::uint32_t blocks)
    : timing_(timing),
      observer_(observer),
      blocks_(blocks),
      bulk_(of_cluster(timing, 0), observer),
      tensor_work_(of_tensor_work(timing, 0), observer) {}

template <class F>
void Ledger::each(OfBlock& block, F f) {
  for (const auto& copies : block.copies)
    if (copies) f(*copies);
}

void Ledger::start(std::uint32_t rank, std::uint64_t number) {
  OfBlock& block = blocks_[rank];
  block.number = number;
  for (std::size_t i = 0; i < block.copies.size(); ++i)
    if (block.copies[i]) block.copies[i]->reset(async::of_warp(timing_, number, i));
  for (std::size_t i = 0; i < block.multiplies.size(); ++i)
    if (block.multiplies[i]) block.multiplies[i]->reset(async::of_warpgroup(timing_, number, i));
  if (rank != 0) return;
  bulk_.reset(of_cluster(timing_, number));
  tensor_work_.reset(of_tensor_work(timing_, number));
}

ThreadCopies& Ledger::make_copies(std::uint32_t rank, std::uint32_t warp) {
  OfBlock& block = blocks_[rank];
  if (warp >= block.copies.size()) block.copies.resize(warp + 1);
  return *(block.copies[warp] = std::make_unique<ThreadCopies>(
               async::of_warp(timing_, block.number, warp), observer_,
               static_cast<std::uint16_t>(rank), static_cast<std::uint16_t>(warp)));
}

Multiplies& Ledger::of_warpgroup(std::uint32_t rank, std::uint32_t group) {
  if (Multiplies* const found = find_warpgroup(rank, group)) return *found;
  OfBlock& block = blocks_[rank];
  if (group >= block.multiplies.size()) block.multiplies.resize(group + 1);
  return *(block.multiplies[group] =
               std::make_unique<Multiplies>(async::of_warpgroup(timing_, block.number, group)));
}

ThreadCopies* Ledger::find_warp(std::uint32_t rank, std::uint32_t warp) {
  const auto& copies = blocks_[rank].copies;
  return warp < copies.size() ? copies[warp].get() : nullptr;
}

Multiplies* Ledger::find_warpgroup(std::uint32_t rank, std::uint32_t group) {
  const auto& multiplies = blocks_[rank].multiplies;
  return group < multiplies.size() ? multiplies[group].get() : nullptr;
}

void Ledger::flush_for(std::uint32_t rank, const mbarrier::Word* word) {
  const std::uint32_t phase = mbarrier::decode(*word).parity;
  const auto open = [&] { return mbarrier::decode(*word).parity == phase; };
  each(blocks_[rank], [&](ThreadCopies& copies) {
    if (copies.arrivals_pending() && open()) copies.flush_for(word);
  });
  if (open()) bulk_.flush_for(word);
  if (open()) tensor_work_.flush_for(word);
}

void Ledger::flush_threads(const Threads& threads) {
  if (ThreadCopies* const copies = find_warp(threads.rank, threads.warp))
    copies->flush(threads.mask);
}

bool Ledger::flush_thread_copies(std::uint32_t rank) {
  bool some = false;
  each(blocks_[rank], [&](ThreadCopies& copies) {
    if (copies.idle() || observer_.stopped()) return;
    some = true;
    copies.flush_all();
  });
  return some;
}

bool Ledger::flush_block(std::uint32_t rank) {
  const bool some = flush_thread_copies(rank);
  const bool bulk = bulk_.flush_block(rank), work = tensor_work_.flush_block(rank);
  return bulk || work || some;
}

bool Ledger::flush_all() {
  bool some = bulk_.flush_all();
  some |= tensor_work_.flush_all();
  for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank) some |= flush_thread_copies(rank);
  return some;
}

void Ledger::advance(std::uint32_t rank) {
  if (timing_.policy != Timing::Policy::shuffled) return;
  OfBlock& block = blocks_[rank];
  each(block, [](ThreadCopies& copies) { copies.advance(); });
  for (const auto& multiplies : block.multiplies)
    if (multiplies) multiplies->advance();
  bulk_.advance();
  tensor_work_.advance();
}

void Ledger::watch(std::uint64_t low, std::uint64_t high) {
  for (OfBlock& block : blocks_)
    each(block, [&](ThreadCopies& copies) { copies.watch(low, high); });
  bulk_.watch(low, high);
}

}  // namespace inflight::async
