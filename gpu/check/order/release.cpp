// Which threads get what a release published.
#include "gpu/check/order/release.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>

namespace inflight::order {
namespace {

std::uint64_t id_at(const Place& place, Scope scope) {
  switch (scope) {
    case Scope::cta:
      return place.block;
    case Scope::cluster:
      return place.cluster;
    case Scope::gpu:
      return place.device;
    case Scope::sys:
      break;
  }
  return 0;
}

}  // namespace

bool Release::before(const Reach& r, Scope scope, std::uint64_t id) {
  const auto key = [](Scope s, std::uint64_t i) { return std::tuple(s < Scope::gpu, i, s); };
  return key(r.scope, r.id) < key(scope, id);
}

Release::Reach& Release::reach(Scope scope, std::uint64_t id) {
  const auto at = std::partition_point(reach_.begin(), reach_.end(),
                                       [&](const Reach& r) { return before(r, scope, id); });
  if (at != reach_.end() && at->scope == scope && at->id == id) return *at;
  return *reach_.insert(at, Reach{scope, id, everyone_});
}

const Knowledge* Release::find(Scope scope, std::uint64_t id) const {
  const auto at = std::partition_point(reach_.begin(), reach_.end(),
                                       [&](const Reach& r) { return before(r, scope, id); });
  return at != reach_.end() && at->scope == scope && at->id == id ? &at->knowledge : nullptr;
}

void Release::replaced_by(const Release& more, Replaced& kept) const {
  if (!kept.any) {
    kept.loose = loose_;
    kept.relaxed = relaxed_;
    kept.any = true;
  }
  for (const Reach& r : more.reach_) {
    const auto same = [&](const Replaced::Part& p) { return p.scope == r.scope && p.id == r.id; };
    if (std::ranges::any_of(kept.parts, same)) continue;
    const Knowledge* const mine = find(r.scope, r.id);
    kept.parts.push_back({r.scope, r.id, mine != nullptr, mine ? *mine : Knowledge{}});
  }
}

Release Release::for_reader(const Place& reader) const {
  Release part;
  part.everyone_ = everyone_;
  part.loose_ = loose_;
  part.relaxed_ = relaxed_;
  for (std::uint32_t s = 0; s < scope_count; ++s) {
    const auto scope = static_cast<Scope>(s);
    const std::uint64_t id = id_at(reader, scope);
    if (const Knowledge* const here = find(scope, id)) part.reach(scope, id).knowledge = *here;
  }
  return part;
}

void Release::undo(const Replaced& change, const Place& reader) {
  if (!change.any) return;
  version_ = 0;
  loose_ = change.loose;
  relaxed_ = change.relaxed;
  for (const Replaced::Part& p : change.parts) {
    if (p.id != id_at(reader, p.scope)) continue;
    if (p.had)
      reach(p.scope, p.id).knowledge = p.knowledge;
    else
      std::erase_if(reach_, [&](const Reach& r) { return r.scope == p.scope && r.id == p.id; });
  }
}

// Adds the same to several parts of a release, once where neighbours hold the same.
class Release::Parts {
 public:
  explicit Parts(Release& of) : of_(of), loose_(of.loose_) { of.version_ = 0; }
  template <class F>
  void add_to(Knowledge& part, F&& add) {
    const bool has_all = part.loose.same(loose_);
    if (any_ && part.same(before_)) {
      part = after_;
    } else {
      before_ = part;
      add(part);
      after_ = part;
      any_ = true;
    }
    if (!has_all) return;
    of_.loose_ = part.loose;
    loose_done_ = true;
  }
  void add_to_loose() {
    if (!loose_done_) of_.loose_.join(after_.loose);
  }

 private:
  Release& of_;
  const Clock loose_;  // before the change
  Knowledge before_, after_;
  bool any_ = false, loose_done_ = false;
};

// Calls add(Knowledge&) for all scopes up to `scope`. The widest mostly has all of loose_.
template <class F>
void Release::add_up_to(const Place& from, Scope scope, F&& add) {
  Parts parts(*this);
  for (auto s = static_cast<std::uint32_t>(scope) + 1; s-- > 0;)
    parts.add_to(reach(static_cast<Scope>(s), id_at(from, static_cast<Scope>(s))).knowledge, add);
  parts.add_to_loose();
}

template <class F>
void Release::add_to_all(F&& add) {
  Parts parts(*this);
  parts.add_to(everyone_, add);
  for (Reach& r : reach_) parts.add_to(r.knowledge, add);
  parts.add_to_loose();
}

void Release::add_everywhere(const Knowledge& knowledge) {
  add_to_all([&](Knowledge& k) { k.join(knowledge); });
}

void Release::raise_everywhere(Row row, Mask mask, Epoch epoch) {
  add_to_all([&](Knowledge& k) { k.raise(row, mask, epoch); });
}

void Release::add(const Place& from, Scope scope, const Knowledge& knowledge) {
  add_up_to(from, scope, [&](Knowledge& k) { k.join(knowledge); });
}

void Release::add(const Place& from, Scope scope, Arrivals& arrivals) {
  add_up_to(from, scope, [&](Knowledge& k) { arrivals.add_to(k); });
}

void RelaxedPublication::add_to(Clock& loose) const {
  if (lane == 0) return;
  loose.join(knows);
  loose.raise(together.row, together.lanes, together.epoch);
  loose.raise(row, lane, epoch);
}

bool RelaxedPublication::is_known(const Clock& loose) const {
  return lane == 0 ||
         (loose.covers(row, lane, epoch) && loose.includes(knows) &&
          (together.epoch == 0 || loose.covers(together.row, together.lanes, together.epoch)));
}

bool RelaxedPublication::extend(const Clock& now_knows, const Snapshot::Together& now_together,
                                Row by, Mask by_lane, Epoch now) {
  if ((by != row || by_lane != lane) && !is_known(now_knows)) return false;
  if (!knows.same(now_knows)) knows = now_knows;
  row = by, lane = by_lane, epoch = now, together = now_together;
  return true;
}

std::uint64_t Release::version() const {
  static std::atomic<std::uint64_t> last{0};
  if (version_ == 0) version_ = ++last;
  return version_;
}

void Release::merge(const Release& other) {
  version_ = 0;
  if (!other.everyone_.loose.empty()) add_everywhere(other.everyone_);
  // A block and its cluster mostly hold the same, so a result is reused where possible.
  const Clock loose = loose_;
  bool loose_done = false;
  Knowledge before, more, after;
  for (const Reach& r : other.reach_) {
    Knowledge& mine = reach(r.scope, r.id).knowledge;
    const bool has_all = mine.loose.same(loose) && r.knowledge.loose.same(other.loose_);
    const bool again = mine.same(before) && r.knowledge.same(more);
    before = mine, more = r.knowledge;
    if (again)
      mine = after;
    else
      mine.join(more);
    after = mine;
    if (!has_all) continue;
    loose_ = mine.loose;
    loose_done = true;
  }
  if (!loose_done) loose_.join(other.loose_);
  other.relaxed_.add_to(loose_);
}

void Release::unite() {
  const Clock loose = loose_;
  Knowledge before, after;
  for (Reach& r : reach_) {
    Knowledge& k = r.knowledge;
    const bool has_all = k.loose.same(loose);
    if (k.same(before)) {
      k = after;
    } else {
      before = k;
      k.unite();
      after = k;
    }
    if (has_all) loose_ = k.loose;
  }
}

Release::ByScope Release::acquired(const Place& reader) const {
  ByScope got;
  got[0] = everyone_;
  const Knowledge* last = nullptr;
  for (std::uint32_t s = 0; s < scope_count; ++s) {
    if (s > 0) got[s] = got[s - 1];
    const Knowledge* const here = find(static_cast<Scope>(s), id_at(reader, static_cast<Scope>(s)));
    if (here && !last)
      got[s] = *here;
    else if (here && !last->same(*here))
      got[s].join(*here);
    if (s == 0 || (here && !last)) acquire_loose(got[s]);
    if (here) last = here;
  }
  return got;
}

const Knowledge* Release::acquired_alike(const Place& reader, Scope scope) const {
  if (relaxed_.lane != 0) return nullptr;
  const Knowledge* only = nullptr;
  for (std::uint32_t s = 0; s < scope_count; ++s) {
    const auto each = static_cast<Scope>(s);
    const Knowledge* const here = find(each, id_at(reader, each));
    if (!here) continue;
    if (only || each > scope) return nullptr;
    only = here;
  }
  return only && only->loose.same(loose_) ? only : nullptr;
}

std::uint64_t Location::write(const Place& writer, Scope scope, Release release, bool chained) {
  const std::uint64_t number = next_++;
  if (chained && !versions_.empty()) {
    keep_replaced(release);
    Version& v = versions_.back();
    v.release->merge(release);
    v.last = number;
    v.writer = writer;
    v.scope = scope;
    return number;
  }
  if (versions_.size() == kept) {
    if (!older_) older_ = std::make_unique<Release>();
    older_->merge(*versions_.front().release);
    versions_.erase(versions_.begin());
  }
  versions_.push_back(
      {number, number, writer, scope, std::make_shared<Release>(std::move(release))});
  return number;
}

std::uint64_t Location::relaxed_write(const Place& writer, Scope scope, const Snapshot& by, Row row,
                                      Mask lane, Epoch epoch) {
  if (!versions_.empty()) keep_replaced({});
  if (!versions_.empty() && versions_.back().release->extend(by, row, lane, epoch)) {
    Version& v = versions_.back();
    v.writer = writer;
    v.scope = scope;
    return v.last = next_++;
  }
  return write(writer, scope,
               Release(RelaxedPublication{by.known.loose, row, lane, epoch, by.together}), false);
}

void Location::note(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after,
                    std::uint32_t bytes, Row row, Mask lane, Epoch epoch) {
  if (versions_.empty()) return;
  if (steps_.size() == most_steps) steps_.erase(steps_.begin());
  const Version& v = versions_.back();
  steps_.push_back(
      {v.last, before, after, bytes, row, lane, epoch, v.writer, v.scope, v.release, {}});
}

void Location::keep_replaced(const Release& more) {
  if (!steps_.empty() && steps_.back().release == versions_.back().release)
    versions_.back().release->replaced_by(more, steps_.back().later);
}

Release Location::published(const Step& step, const Place& reader) const {
  Release then = step.release->for_reader(reader);
  for (auto later = steps_.rbegin();; ++later) {
    if (later->release == step.release) then.undo(later->later, reader);
    if (&*later == &step) return then;
  }
}

bool Location::is_later(std::uint64_t number, Row row, unsigned lane, Epoch epoch) const {
  return std::ranges::any_of(steps_, [&](const Step& s) {
    return s.number > number && s.row == row && s.lane == Mask{1} << lane && s.epoch == epoch;
  });
}

const Location::Step* Location::step(std::uint64_t number) const {
  const auto found = std::ranges::find(steps_, number, &Step::number);
  return found == steps_.end() ? nullptr : &*found;
}

const Release* Location::seen(const Place& reader, Scope scope) const {
  if (versions_.empty()) return older_.get();
  const Version& v = versions_.back();
  const Scope between = level(v.writer, reader);
  return v.scope >= between && scope >= between ? v.release.get() : nullptr;
}

const Release* Location::seen(const Place& reader, Scope scope, std::uint64_t saw,
                              Release& room) const {
  if (saw == latest) return seen(reader, scope);
  const auto reaches = [&](const auto& write) {
    const Scope between = level(write.writer, reader);
    return write.scope >= between && scope >= between;
  };
  if (const Step* const noted = step(saw)) {
    room = published(*noted, reader);
    return reaches(*noted) ? &room : nullptr;
  }
  for (auto v = versions_.rbegin(); v != versions_.rend(); ++v) {
    if (saw < v->first) continue;
    // The writer of an earlier link of a chain is not kept. It counts as morally strong.
    if (saw < v->last) return v->release.get();
    return reaches(*v) ? v->release.get() : nullptr;
  }
  return older_.get();
}

bool Location::is_written_outside(const Place& block) const {
  return older_ || std::ranges::any_of(
                       versions_, [&](const Version& v) { return v.writer.block != block.block; });
}

}  // namespace inflight::order
