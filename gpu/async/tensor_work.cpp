// Executes operations and makes the arrivals of commits.
#include "gpu/async/tensor_work.hpp"

#include <algorithm>

namespace inflight::async {

TensorWork::TensorWork(const Order& order, Observer& observer)
    : order_(order), observer_(observer) {}

void TensorWork::reset(const Order& order) {
  order_ = order;
  threads_.clear();
}

void TensorWork::issue(std::uint32_t thread, const TensorOperation& operation) {
  add(thread, {false, operation, {}});
}

void TensorWork::commit(const TensorCommit& commit) {
  if (observer_.wants_every_event) observer_.commit_issued(commit);
  add(commit.thread, {true, {}, commit});
}

void TensorWork::add(std::uint32_t thread, const Entry& entry) {
  const auto of = threads_.try_emplace(thread).first;
  of->second.push_back(entry);
  if (order_.early())
    complete(of, of->second.size());
  else if (of->second.size() > most_in_flight)
    complete(of, 1);
}

TensorWork::Threads::iterator TensorWork::complete(Threads::iterator thread, std::size_t count) {
  Queue& queue = thread->second;
  while (count-- != 0 && !observer_.stopped()) {
    Entry oldest = queue.front();
    queue.pop_front();
    complete(oldest);
  }
  return queue.empty() ? threads_.erase(thread) : std::next(thread);
}

void TensorWork::complete(Entry& entry) {
  if (!entry.commits) return entry.operation.perform(entry.operation);
  const TensorCommit& c = entry.commit;
  const mbarrier::Step step = mbarrier::arrive(*c.mbarrier);
  if (observer_.wants_every_event) observer_.commit_arrived(c, step);
  if (step.completed) observer_.phase_completed(c.rank, c.offset);
  if (step.violation != Violation::none)
    observer_.broken(step.violation, {static_cast<std::uint16_t>(c.thread >> 10), 0, 0}, c.tag);
}

void TensorWork::flush_for(const mbarrier::Word* word) {
  const std::uint32_t phase = mbarrier::decode(*word).parity;
  for (auto of = threads_.begin(); of != threads_.end();) {
    const auto is_for = [&](const Entry& e) { return e.commits && e.commit.mbarrier == word; };
    const auto found = std::find_if(of->second.begin(), of->second.end(), is_for);
    if (found == of->second.end()) {
      ++of;
      continue;
    }
    const bool last = static_cast<std::size_t>(found - of->second.begin()) + 1 == of->second.size();
    const auto next = complete(of, static_cast<std::size_t>(found - of->second.begin()) + 1);
    if (mbarrier::decode(*word).parity != phase || observer_.stopped()) return;
    if (last) of = next;  // else this thread may have another one
  }
}

bool TensorWork::flush_block(std::uint32_t rank) {
  bool some = false;
  for (auto of = threads_.begin(); of != threads_.end() && !observer_.stopped();) {
    const bool issued = of->first >> 10 == rank;
    some |= issued;
    of = issued ? complete(of, of->second.size()) : std::next(of);
  }
  return some;
}

bool TensorWork::flush_all() {
  const bool some = !threads_.empty();
  for (auto of = threads_.begin(); of != threads_.end() && !observer_.stopped();)
    of = complete(of, of->second.size());
  return some;
}

void TensorWork::advance() {
  if (threads_.empty() || !order_.now() || observer_.stopped()) return;
  auto chosen = threads_.begin();
  std::advance(chosen, order_.one_of(threads_.size()));
  complete(chosen, 1);
}

}  // namespace inflight::async
