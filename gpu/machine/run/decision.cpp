// Executes the rest of the load's block with another value.
#include "gpu/machine/run/decision.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/machine/code/slots.hpp"
#include "gpu/machine/instruction/comparisons.hpp"
#include "gpu/machine/instruction/drops.hpp"
#include "gpu/machine/run/counts.hpp"
#include "gpu/machine/run/undefined_steps.hpp"

namespace inflight::machine {

LoadDecision::LoadDecision(Warp& w, const Op* load, std::uint32_t bytes)
    : w_(w),
      load_(load),
      bytes_(bytes),
      f_(*w.frame->code->description),
      comparison_(*comparison_of(f_, load->instruction)) {}

std::vector<LoadDecision::Result> LoadDecision::results(const std::uint64_t* value) const {
  static thread_local LineBuffer registers;
  const LineBuffer& now = w_.frame->registers;
  registers.resize(now.size());
  std::memcpy(registers.data(), now.data(), now.size());
  std::vector<Count> counts(w_.frame->code->count_slots);  // what it executes does not count
  Count* const kept_counts = std::exchange(w_.frame->counts, counts.data());
  const std::uint32_t carry = w_.carry, counted_lanes = w_.counted_lanes;
  const auto& slots = w_.frame->code->slots;
  std::vector<Result> results;
  {
    const OnVariant on(w_, registers.data());
    if (value) {
      const std::uint32_t reg = f_.body[comparison_.load].writes[0].reg;
      for (unsigned l = 0; l < lanes; ++l)
        std::memcpy(w_.at<std::byte>(slots[reg]) + std::size_t{l} * bytes_, value, bytes_);
    }
    auto next = comparison_.results.begin();
    const auto take = [&](std::uint32_t before) {
      for (; next != comparison_.results.end() && next->before == before; ++next) {
        const auto* const at = w_.at<std::byte>(slots[next->reg]);
        results.emplace_back(at, at + slot_bytes(f_.text->registers[next->reg].type));
      }
    };
    const Op* op = load_;
    const Op* const last = &w_.frame->code->ops.back();
    for (std::uint32_t i = comparison_.load + 1; i < comparison_.end; ++i) {
      take(i);
      while (op != last && op->instruction < i) ++op;
      if (!computes_alone(f_.body[i])) continue;
      for (; op->instruction == i; ++op)
        if (!is_reporter(op) && !goes_elsewhere(op)) op->run(w_, op);
    }
    take(comparison_.end);
  }
  w_.frame->counts = kept_counts;
  w_.carry = carry, w_.counted_lanes = counted_lanes;
  return results;
}

check::Mask LoadDecision::alike(std::uint64_t value) const {
  if (asked_ && value == value_) return alike_;
  if (read_.empty()) read_ = results(nullptr);
  const std::vector<Result> other = results(&value);
  std::uint32_t same = ~0u;
  for (std::size_t i = 0; i < other.size(); ++i) {
    if (f_.text->registers[comparison_.results[i].reg].type == ptx::Type::pred) {
      std::uint32_t a = 0, b = 0;
      std::memcpy(&a, read_[i].data(), sizeof a);
      std::memcpy(&b, other[i].data(), sizeof b);
      same &= ~(a ^ b);
      continue;
    }
    const std::size_t width = other[i].size() / lanes;
    for (unsigned l = 0; l < lanes; ++l)
      if (std::memcmp(read_[i].data() + l * width, other[i].data() + l * width, width) != 0)
        same &= ~(1u << l);
  }
  value_ = value, alike_ = same, asked_ = true;
  return same;
}

}  // namespace inflight::machine
