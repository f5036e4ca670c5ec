// Compares accesses whose lanes are in equal steps, by their first address and the step.
#include "gpu/check/detect/races/repeats.hpp"

#include <bit>
#include <utility>

#include "gpu/check/shadow/series.hpp"

namespace inflight::check::races {

bool Repeats::again(const Access& access, Mask mask, bool write, order::Epoch epoch,
                    std::uint64_t changes) {
  const Mask rest = mask & (mask - 1);
  if (access.in_row && (lanes - 1) * std::uint64_t{access.bytes} < wide) return false;
  if (rest == 0) return false;
  const int low = std::countr_zero(mask), next = std::countr_zero(rest);
  const std::uint64_t first = access.addresses[low];
  const auto distance = static_cast<std::int64_t>(access.addresses[next] - first);
  const std::int64_t apart = next - low == 1 ? distance : distance / (next - low);
  const int last = 31 - std::countl_zero(mask);
  const std::int64_t extent = apart * (last - low);
  if (static_cast<std::uint64_t>(extent < 0 ? -extent : extent) < wide) return false;
  const auto step = static_cast<std::uint64_t>(apart);
  const std::uint64_t origin = first - step * static_cast<std::uint64_t>(low);
  if ((shadow::lanes_of(access.addresses, origin, step) & mask) != mask) return false;
  if (made_.empty()) made_.resize(slots);
  const Made now{first,
                 step,
                 changes + copies_,  // neither ever decreases
                 access.who.instruction,
                 access.who.warp,
                 access.bytes,
                 mask,
                 access.silent & mask,
                 epoch,
                 write};
  Made& before = made_[(now.instruction + now.warp * 67) % slots];
  return std::exchange(before, now) == now;
}

}  // namespace inflight::check::races
