// The rules of tensor copies that an H200 enforces, as measured (tests/gpu/tensor_truth.cu).
#include "gpu/async/tensor_copy.hpp"

namespace inflight::async {
namespace {

struct Rule {
  Violation violation;
  bool (*broken)(const TensorMap&, const TensorPlace&, TensorDirection);
};

template <class Broken>
bool any_spatial(const TensorMap& m, Broken broken) {
  if (m.mode != TensorMode::im2col) return false;
  for (std::uint32_t s = 0; s < m.spatial(); ++s)
    if (broken(s)) return true;
  return false;
}

constexpr std::uint32_t shared_alignment = 128;

constexpr Rule rules[] = {
    {Violation::tensor_shared_alignment,
     [](const TensorMap&, const TensorPlace& p, TensorDirection) {
       return p.shared % shared_alignment != 0;
     }},
    {Violation::tensor_start_alignment,
     [](const TensorMap& m, const TensorPlace& p, TensorDirection) {
       const std::uint32_t elements = swizzle_chunk / m.element_bytes();
       return !m.sliced() && static_cast<std::uint32_t>(p.at[0]) % elements != 0;
     }},
    {Violation::tensor_negative_store,
     [](const TensorMap& m, const TensorPlace& p, TensorDirection direction) {
       return direction == TensorDirection::store &&
              std::any_of(p.at.begin(), p.at.begin() + m.rank, [](auto at) { return at < 0; });
     }},
    {Violation::tensor_start_outside,
     [](const TensorMap& m, const TensorPlace& p, TensorDirection) {
       return any_spatial(m, [&](std::uint32_t s) {
         const std::int32_t at = p.at[s + m.first_spatial()];
         return at < m.lower_corner[s] || at > impl::last_pixel(m, s);
       });
     }},
    {Violation::tensor_store_bounds,
     [](const TensorMap& m, const TensorPlace&, TensorDirection direction) {
       return direction == TensorDirection::store && any_spatial(m, [&](std::uint32_t s) {
                return m.lower_corner[s] < 0 || m.upper_corner[s] > 0;
              });
     }},
};

}  // namespace

Violation tensor_violation(const TensorMap& map, const TensorPlace& place,
                           TensorDirection direction) {
  for (const Rule& rule : rules)
    if (rule.broken(map, place, direction)) return rule.violation;
  return Violation::none;
}

}  // namespace inflight::async
