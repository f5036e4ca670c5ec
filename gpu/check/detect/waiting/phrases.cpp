// How findings about waits name mbarriers and list those who arrived or brought bytes.
#include "gpu/check/detect/waiting/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

constexpr std::size_t most_parties = 6;

// The line in the kernel's own code, not in a function around one instruction.
std::string outermost_line(CodePlace place) {
  if (!place.inlined_at.empty()) {
    place.file = place.inlined_at.back().file, place.line = place.inlined_at.back().line;
    place.inlined_at.clear();
  }
  return short_line(place);
}

}  // namespace

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Bytes bytes_of(const MbarrierPlace& at, const Who& who, Places& places) {
  return places.bytes(who, Space::shared, at.address, async::mbarrier::size);
}

std::string name_of(const MbarrierPlace& at, const Who& who, Places& places) {
  const Bytes b = bytes_of(at, who, places);
  return b.variable.empty() ? fmt::format("the mbarrier at shared offset 0x{:x}", at.address)
                            : fmt::format("the mbarrier '{}'{}", readable(b.variable),
                                          b.offset ? fmt::format(" + {}", b.offset) : "");
}

std::vector<Party> parties_of(std::vector<Contribution> all, std::string_view verb,
                              std::string_view unit, Places& places) {
  std::stable_sort(all.begin(), all.end(), [](const Contribution& a, const Contribution& b) {
    return a.who.instruction < b.who.instruction;
  });
  std::vector<Party> result;
  for (std::size_t i = 0; i < all.size();) {
    std::uint64_t amount = 0;
    const Contribution& first = all[i];
    for (; i < all.size() && all[i].who.instruction == first.who.instruction; ++i)
      amount += all[i].amount;
    if (result.size() == most_parties) break;
    result.push_back(places.party(first.who, fmt::format("{} {}", verb, plural(amount, unit))));
  }
  return result;
}

std::string overrun_remedy(const std::vector<Party>& arrivals, std::uint64_t next) {
  const std::string it = arrivals.empty()
                             ? fmt::format("what completes phase {}", next)
                             : fmt::format("the arrival at {}, which completes phase {}",
                                           outermost_line(arrivals.front().place), next);
  return fmt::format(
      "synchronise this wait with {} (a barrier between the two, or let this thread too arrive in "
      "phase {} after its wait, and raise the count); or use two mbarriers by turns",
      it, next);
}

}  // namespace inflight::check
