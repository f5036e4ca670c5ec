// Executes multiplications, and the moves that wait for them.
#include "gpu/async/multiplies.hpp"

#include <algorithm>
#include <bit>

namespace inflight::async {
namespace {

constexpr std::size_t most_groups = 256;  // the newest ones of a warp, which a wait can tell apart
constexpr RegisterPlace register_step = 64;  // places are multiples of it

bool holds(std::span<const RegisterPlace> places, RegisterPlace place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

}  // namespace

Multiplies::Multiplies(const Order& order) : order_(order) {}

void Multiplies::reset(const Order& order) {
  order_ = order;
  for (Multiplication* each : in_flight_) multiplications_.give_back(each);
  in_flight_.clear();
  moves_.clear();
  completed_ = 0;
  issued_ = {};
  for (auto& groups : groups_) groups.clear();
  older_groups_ = {};
  for (auto& known : known_at_) std::fill(known.begin(), known.end(), 0);
}

std::uint64_t& Multiplies::pending_until(std::uint32_t warp, RegisterPlace place) {
  auto& known = known_at_[warp];
  const std::size_t index = place / register_step;
  if (index >= known.size()) known.resize(std::max(index + 1, 2 * known.size()));
  return known[index];
}

const Multiplication* Multiplies::next(std::uint32_t warp) const {
  const std::uint64_t index = issued_[warp] - completed_;
  return index < in_flight_.size() ? in_flight_[index] : nullptr;
}

std::uint64_t Multiplies::issue(std::uint32_t warp, const MultiplyIssue& issue) {
  const std::uint64_t id = issued_[warp]++, index = id - completed_;
  if (index == in_flight_.size()) {
    Multiplication& fresh = *in_flight_.emplace_back(multiplications_.take());
    fresh.id = id;
    fresh.issue = issue;
    for (Multiplication::Part& part : fresh.parts) part.issued = part.kept = false;
  }
  Multiplication::Part& part = in_flight_[index]->parts[warp];
  part.issued = true;
  part.accumulates = issue.accumulates;
  part.registers = issue.registers;
  for (const RegisterPlace place : issue.accumulators) pending_until(warp, place) = id + 1;
  if (order_.early() || in_flight_.size() > most_in_flight) complete(whole());
  return id;
}

void Multiplies::commit(std::uint32_t warp) {
  auto& groups = groups_[warp];
  groups.push_back(issued_[warp]);
  if (groups.size() <= most_groups) return;
  older_groups_[warp] = groups.front();
  groups.pop_front();
}

std::uint64_t Multiplies::whole() const {
  return *std::min_element(issued_.begin(), issued_.end());
}

std::uint32_t Multiplies::missing(std::uint32_t warp) const {
  std::uint32_t behind = 0;
  for (std::uint32_t other = 0; other < warps_of_group; ++other)
    behind |= std::uint32_t{issued_[other] < issued_[warp]} << other;
  return behind;
}

std::uint64_t Multiplies::due(std::uint32_t warp, std::uint32_t newest_allowed) const {
  const auto& groups = groups_[warp];
  if (newest_allowed >= groups.size()) return older_groups_[warp];
  return groups[groups.size() - 1 - newest_allowed];
}

bool Multiplies::can_wait(std::uint32_t warp, std::uint32_t newest_allowed) const {
  return due(warp, newest_allowed) <= whole();
}

void Multiplies::wait_group(std::uint32_t warp, std::uint32_t newest_allowed) {
  complete(due(warp, newest_allowed));
}

void Multiplies::advance() {
  if (whole() > completed_ && order_.now()) complete(completed_ + 1);
}

// Compares the oldest two in flight.
bool Multiplies::next_goes_on(std::uint64_t end) const {
  if (completed_ + 1 >= end) return false;
  const auto between = [&](const Pending& move) { return move.needs == completed_ + 1; };
  const Multiplication &a = *in_flight_[0], &b = *in_flight_[1];
  const bool alike = std::all_of(b.parts.begin(), b.parts.end(), [&](const auto& part) {
    return part.accumulates == b.parts[0].accumulates;
  });
  return alike && a.issue.shape == b.issue.shape &&
         std::ranges::equal(a.issue.accumulators, b.issue.accumulators) &&
         std::none_of(moves_.begin(), moves_.end(), between);
}

void Multiplies::complete(std::uint64_t end) {
  bool goes_on = false;
  while (completed_ < end) {
    Multiplication& oldest = *in_flight_.front();
    oldest.goes_on = goes_on;
    oldest.is_followed = goes_on = next_goes_on(end);
    oldest.issue.multiply(oldest);
    multiplications_.give_back(&oldest);
    in_flight_.pop_front();
    ++completed_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      if (moves_[i].needs <= completed_)
        perform(moves_[i]);
      else if (kept++ != i)
        moves_[kept - 1] = moves_[i];
    }
    moves_.resize(kept);
  }
}

void Multiplies::perform(Pending& move) {
  keep_fragments(move.warp, move.to, move.position);
  auto& to = *reinterpret_cast<RegisterLanes*>(move.registers + move.to);
  const auto& from =
      move.known ? move.value : *reinterpret_cast<const RegisterLanes*>(move.registers + move.from);
  for (std::uint32_t rest = move.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    to[lane] = from[lane];
  }
}

// A move is about to change `place`: saves the fragments of multiplications issued before it.
void Multiplies::keep_fragments(std::uint32_t warp, RegisterPlace place, std::uint64_t before) {
  for (Multiplication* each : in_flight_) {
    Multiplication::Part& part = each->parts[warp];
    if (!part.issued || each->id >= before) return;
    if (part.kept || !holds(each->issue.fragments, place)) continue;
    for (std::size_t i = 0; i < each->issue.fragments.size(); ++i)
      part.fragments[i] = each->fragment(warp, i);
    part.kept = true;
  }
}

bool Multiplies::move(std::uint32_t warp, const Move& move) {
  if (in_flight_.empty()) return false;
  const std::uint64_t source = move.from ? pending_until(warp, *move.from) : 0;
  const std::uint64_t needs = std::max(source, pending_until(warp, move.to));
  if (needs <= completed_) {
    keep_fragments(warp, move.to, issued_[warp]);
    return false;
  }
  Pending pending{warp,          move.mask, move.registers, move.to, 0, source <= completed_, needs,
                  issued_[warp], {}};
  if (move.from) pending.from = *move.from;
  if (pending.known)
    pending.value = move.from ? *reinterpret_cast<const RegisterLanes*>(move.registers + *move.from)
                              : *move.value;
  pending_until(warp, move.to) = needs;
  moves_.push_back(pending);
  return true;
}

const Multiplication* Multiplies::writer(std::uint32_t warp, RegisterPlace place) const {
  const auto& known = known_at_[warp];
  const std::size_t index = place / register_step;
  if (index >= known.size() || known[index] <= completed_) return nullptr;
  return in_flight_[known[index] - 1 - completed_];
}

const Multiplication* Multiplies::reader(std::uint32_t warp, RegisterPlace place) const {
  for (const Multiplication* each : in_flight_) {
    const Multiplication::Part& part = each->parts[warp];
    if (!part.issued) return nullptr;
    if (!part.kept && holds(each->issue.fragments, place)) return each;
  }
  return nullptr;
}

}  // namespace inflight::async
