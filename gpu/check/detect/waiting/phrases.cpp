// How findings about waits name mbarriers and list those who arrived or brought bytes.
#include "gpu/check/detect/waiting/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

constexpr std::size_t most_parties = 6;

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

}  // namespace inflight::check
