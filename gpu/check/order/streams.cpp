// What each launch knows by stream order.
#include "gpu/check/order/streams.hpp"

#include <algorithm>

namespace inflight::order {
namespace {

// A launch's end publishes all that it did, to every proxy.
void publish_end(Knowledge& k, std::uint32_t number) {
  const Row first = block_row(number, 0);
  k.raise_range(first, launch_shift, always);
  for (Clock& fenced : k.fenced) fenced.raise_range(first, launch_shift, always);
}

// It comes after that launch.
bool follows(const Knowledge& k, std::uint32_t number) {
  return k.order.floor(block_row(number, 0), launch_shift) == always;
}

}  // namespace

std::uint32_t Streams::number() { return next_ + 1 < launch_limit ? next_++ : next_; }

void Streams::destroyed(Id stream) {
  destroyed_.push_back(stream);
  if (destroyed_.size() <= kept_destroyed) return;
  const Id oldest = destroyed_.front();
  destroyed_.pop_front();
  const auto found = streams_.find(oldest);
  if (found == streams_.end()) return;
  const Stream& s = found->second;
  const bool is_done = s.submitted.empty() && !s.ended.empty() && s.ended.back().work == s.work;
  if (s.work != 0 && !is_done) return destroyed_.push_back(oldest);
  forgotten_.join(s.now);
  last_forgotten_ = std::max(last_forgotten_, oldest);
  streams_.erase(found);
}

void Streams::submit(Id stream, std::uint64_t work) {
  streams_[stream].submitted.push_back({work, host_});
}

void Streams::begin(Id stream, std::uint64_t work) {
  Stream& s = streams_[stream];
  while (!s.submitted.empty() && s.submitted.front().work <= work) {
    s.learn(s.submitted.front().knows);
    s.submitted.pop_front();
  }
  s.work = work;
}

void Streams::step(Id stream, std::uint64_t number) {
  Stream& s = streams_[stream];
  if (s.step)
    s.steps[s.step] = s;
  else
    s.base = s, s.base.alone = s.base.now;
  static_cast<Now&>(s) = s.base;
  s.step = number;
}

void Streams::step_after(Id stream, std::uint64_t other, bool dependent) {
  Stream& s = streams_[stream];
  const Now& done = s.steps[other];
  s.now.join(done.now);
  s.before.join(dependent ? done.before : done.now);
  s.alone.join(dependent ? done.alone : done.now);
  if (dependent && done.lets == Now::Lets::once_waited) s.before.join(done.waited);
}

void Streams::end(Id stream, std::uint64_t work) {
  Stream& s = streams_[stream];
  for (const auto& [number, each] : s.steps) s.learn(each.now);
  if (s.step) s.alone = s.now;
  s.steps.clear();
  s.step = 0;
  if (s.ended.size() == kept) s.ended.pop_front();
  s.ended.push_back({work, s.now});
}

const Knowledge& Streams::at_end(Id id, std::uint64_t work) {
  const auto found = streams_.find(id);
  if (found == streams_.end() && id <= last_forgotten_) return forgotten_;
  const Stream& stream = found == streams_.end() ? streams_[id] : found->second;
  for (const Known& each : stream.ended)
    if (each.work >= work) return each.knows;
  return stream.now;
}

void Streams::after(Id stream, Id other, std::uint64_t other_work) {
  const Knowledge known = at_end(other, other_work);
  streams_[stream].learn(known);
}

Streams::Launch Streams::launch(Id stream, bool dependent, bool programmatic) {
  Stream& s = streams_[stream];
  const bool behind_one = programmatic && (s.step || s.work == s.last_work + 1);
  if (!dependent && behind_one) {
    s.before = s.alone;
    dependent = !s.before.order.includes(s.now.order);
  } else if (!dependent) {
    s.before = s.now;
  } else if (s.lets == Now::Lets::once_waited) {
    s.before.join(s.waited);
  }
  Launch l{number(), s.before, {}, dependent};
  if (dependent) dependents_[l.number] = l.waited = s.now;
  s.last = l.number, s.waited = l.waited, s.lets = Now::Lets::unknown;
  s.last_work = s.work;
  publish_end(s.now, l.number);
  s.alone = l.knows;
  publish_end(s.alone, l.number);
  return l;
}

Streams::Launch Streams::staged_copy(Id stream) {
  Stream& s = streams_[stream];
  if (s.staged_work != s.work) s.staged_work = s.work, s.staged = s.now;
  Launch copy = launch(stream);
  publish_end(s.staged, copy.number);
  copy.number = number();
  publish_end(s.now, copy.number);
  publish_end(s.alone, copy.number);
  return copy;
}

void Streams::launch_dependents(Id stream, std::uint32_t launch, bool has_waited) {
  Stream& s = streams_[stream];
  if (s.last != launch || s.lets == Now::Lets::early) return;
  s.lets = has_waited ? Now::Lets::once_waited : Now::Lets::early;
}

void Streams::learnt(Id stream, std::uint32_t launch, const Knowledge& more) {
  const auto join = [&](Knowledge& to) {
    if (follows(to, launch)) to.join(more);
  };
  const auto join_all = [&](Now& to) {
    for (Knowledge* const each : {&to.now, &to.before, &to.waited, &to.alone}) join(*each);
  };
  Stream& s = streams_[stream];
  join_all(s);
  for (auto& [number, each] : s.steps) join_all(each);
  for (auto& [number, waited] : dependents_) join(waited);
}

Knowledge Streams::waited(std::uint32_t launch) const {
  const auto found = dependents_.find(launch);
  return found == dependents_.end() ? Knowledge{} : found->second;
}

void Streams::has_waited(Id stream, std::uint32_t launch) {
  Stream& s = streams_[stream];
  if (s.last == launch) s.alone.join(s.waited);
}

Streams::Launch Streams::child(Id stream, const Knowledge& knows) {
  Launch l{number(), knows, {}, false};
  publish_end(streams_[stream].now, l.number);
  return l;
}

Knowledge Streams::done(const Launch& launch) {
  Knowledge all = launch.knows;
  all.join(launch.waited);
  publish_end(all, launch.number);
  return all;
}

Streams::Launch Streams::on_host() {
  Launch l{number(), host_, {}, false};
  publish_end(host_, l.number);
  return l;
}

void Streams::synchronise(Id stream, std::uint64_t work) { host_.join(at_end(stream, work)); }

void Streams::synchronise_staged(Id stream, std::uint64_t work) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.staged_work != work)
    return synchronise(stream, work);
  host_.join(found->second.staged);
}

void Streams::learn_all(Id stream) {
  Knowledge all = host_;
  all.join(forgotten_);
  for (const auto& [id, each] : streams_) all.join(each.now);
  streams_[stream].learn(all);
}

void Streams::synchronise_all() {
  host_.join(forgotten_);
  for (auto& [id, stream] : streams_) host_.join(stream.now);
}

}  // namespace inflight::order
