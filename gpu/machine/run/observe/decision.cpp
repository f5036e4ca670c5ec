// Executes the rest of the load's block with another value.
#include "gpu/machine/run/observe/decision.hpp"

#include <cstring>

#include "gpu/machine/code/slots.hpp"
#include "gpu/machine/instruction/comparisons.hpp"
#include "gpu/machine/instruction/drops.hpp"
#include "gpu/machine/run/observe/on_copy.hpp"

namespace inflight::machine {

LoadDecision::LoadDecision(Warp& w, const Op* load, std::uint32_t bytes)
    : w_(w),
      load_(load),
      bytes_(bytes),
      f_(*w.frame->code->description),
      comparison_(*comparison_of(f_, load->instruction)) {}

std::vector<LoadDecision::Result> LoadDecision::results(const std::uint64_t* value) const {
  const auto& slots = w_.frame->code->slots;
  std::vector<Result> results;
  const OnCopy ahead(w_);
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
  for (std::uint32_t i = comparison_.load + 1; i < comparison_.end; ++i) {
    take(i);
    op = ahead.first(op, i);
    if (computes_alone(f_.body[i])) ahead.execute(op, i);
  }
  take(comparison_.end);
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
