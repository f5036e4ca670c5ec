// Finds what can run under masks behind a branch at which lanes diverge, and which registers are
// live there for any lane.
#include <algorithm>
#include <iterator>

#include "gpu/machine/compile/places.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine::compile {
namespace {

constexpr std::uint32_t none = Code::none;
// Ops of a region, its labels and branches, and ops of all regions together for one of the
// function.
constexpr std::uint32_t most_ops = 160, most_labels = 24, most_branches = 24, most_share = 3;
// Less than a slice, so that most warps have as much left.
constexpr std::int32_t most_cost = 4096;
// What an atomic or a read of the clock takes from the budget at most.
constexpr std::int32_t poll_cost = Warp::memory_poll_ops + Warp::poll_cycles;

// Accesses that take no more than this from the budget.
constexpr ptx::Opcode plain_accesses[] = {ptx::Opcode::ld, ptx::Opcode::ldu, ptx::Opcode::st,
                                          ptx::Opcode::atom, ptx::Opcode::red};

std::uint32_t index_of(const std::vector<std::uint32_t>& list, std::uint32_t op) {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(list, op) - list.begin());
}

std::int32_t cost_of(const Op& jump) {
  return std::max(static_cast<std::int32_t>(jump.imm), Warp::shortest_jump);
}

}  // namespace

std::uint32_t Region::label(std::uint32_t op) const { return index_of(labels, op); }
std::uint32_t Region::branch(std::uint32_t op) const { return index_of(branches, op); }

// Whether the op can execute for some lanes while others are elsewhere in a region, and the code
// goes on behind it. Counted code has no regions: each split counts for itself.
bool Places::may_be_masked(std::uint32_t op) const {
  const Place& at = ops[op];
  if (at.counts) return false;
  if (at.what == Place::Do::form || at.what == Place::Do::phase) return true;
  if (at.what != Place::Do::call || at.parks || at.ends) return false;
  // A strong load may be a poll that ends the slice.
  const Instruction& in = instruction(op);
  if (code.ops[op].flags & Op::strong || in.control != Control::next) return false;
  if (computes(in.effect)) return true;
  return std::ranges::find(plain_accesses, in.opcode) != std::end(plain_accesses);
}

bool Places::find_region(std::uint32_t head, Region& region) const {
  const auto count = static_cast<std::uint32_t>(ops.size());
  region = {head, target(head), {}, {head}, Warp::shortest_jump, false};
  if (region.join <= head + 1) return false;
  region.labels.push_back(region.join);
  for (std::uint32_t k = head + 1; k < region.join; ++k) {
    if (region.join >= count || k - head > most_ops) return false;
    const Place& at = ops[k];
    region.has_phases |= at.what == Place::Do::phase;
    if (at.what == Place::Do::jump || at.what == Place::Do::branch) {
      if (target(k) <= k) return false;
      region.join = std::max(region.join, target(k));
      region.labels.push_back(target(k));
      region.most_cost += cost_of(code.ops[k]);
      if (at.what == Place::Do::branch) region.branches.push_back(k);
    } else if (!may_be_masked(k)) {
      return false;
    } else if (at.what == Place::Do::call) {
      region.most_cost += poll_cost;
    }
  }
  std::ranges::sort(region.labels);
  region.labels.erase(std::ranges::unique(region.labels).begin(), region.labels.end());
  // Splits meet where they arrive by jumps.
  for (const std::uint32_t label : region.labels)
    if (ops[label - 1].what != Place::Do::jump) return false;
  for (std::uint32_t k = head + 1; k + 1 < region.join; ++k)
    if (ops[k].what == Place::Do::jump && !std::ranges::binary_search(region.labels, k + 1))
      return false;
  return region.most_cost <= most_cost && region.labels.size() <= most_labels &&
         region.branches.size() <= most_branches;
}

void Places::find_regions() {
  region_of.assign(ops.size(), none);
  // By op: the first and last place from which a jump arrives.
  std::vector<std::uint32_t> first(ops.size(), none), last(ops.size(), 0);
  const auto arrives = [&](std::uint32_t from, std::uint32_t to) {
    first[to] = std::min(first[to], from), last[to] = std::max(last[to], from);
  };
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const Place& at = ops[k];
    if (at.what == Place::Do::jump || at.what == Place::Do::branch) arrives(k, target(k));
    if (at.what == Place::Do::call && !at.counts && instruction(k).control == Control::branch_table)
      for (const Op* to : code.branch_tables[code.ops[k].extra])
        arrives(k, static_cast<std::uint32_t>(to - code.ops.data()));
  }
  std::size_t total = 0;
  Region region;
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    if (ops[k].what != Place::Do::branch || !find_region(k, region)) continue;
    const bool alone = std::ranges::all_of(region.labels, [&](std::uint32_t label) {
      return label == region.join || (first[label] >= k && last[label] < region.join);
    });
    total += region.join - k;
    if (!alone || total > most_share * ops.size()) continue;
    region_of[k] = static_cast<std::uint32_t>(regions.size());
    for (std::uint32_t j = k + 1; j < region.join; ++j) ops[j].masked = true;
    regions.push_back(region);
  }
}

void Places::find_masked_liveness() {
  if (regions.empty()) return;
  const std::size_t count = code.function->registers.size();
  masked_live = live;
  kept = Bits(ops.size(), count);
  Bits elsewhere(1, count);
  for (const Region& region : regions) {
    elsewhere.clear(0);
    for (std::uint32_t k = region.join; k-- > region.head;) {
      // Lanes that do not execute the op are at a later label, or come there.
      if (std::ranges::binary_search(region.labels, k + 1)) elsewhere.add(0, live, k + 1);
      masked_live.add(k, elsewhere, 0);
      for (const RegisterUse& use : instruction(k).writes)
        if (elsewhere.has(0, use.reg)) kept.add(k, use.reg);
    }
  }
}

void Places::find_masked_dirty() {
  if (regions.empty()) return;
  masked_dirty = dirty;
  Bits row(1, shapes.size());
  for (const Region& region : regions) {
    row.clear(0);
    for (std::uint32_t k = region.head; k < region.join; ++k) {
      row.add(0, dirty, k);
      masked_dirty.add(k, row, 0);
      if (ops[k].what == Place::Do::form)
        for (const RegisterUse& use : instruction(k).writes)
          if (in_home(use.reg)) row.add(0, use.reg);
    }
  }
}

}  // namespace inflight::machine::compile
