// What the writers of this room share: how they name and count things, and how they order tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/detect/waiting/cluster_state.hpp"
#include "gpu/check/finding/places.hpp"

namespace inflight::check {

std::string plural(std::uint64_t count, std::string_view noun);  // "1 byte", "2 bytes"

Bytes bytes_of(const MbarrierPlace& at, const Who& who, Places& places);
// "the mbarrier 'full'", or its offset if no variable is there.
std::string name_of(const MbarrierPlace& at, const Who& who, Places& places);
// One party per instruction, in the order of the code: "makes 3 arrivals". At most six.
std::vector<Party> parties_of(std::vector<Contribution> all, std::string_view verb,
                              std::string_view unit, Places& places);

// How to keep a phase from completing before each wait for the one before. `arrivals`: those of the
// phase, which is number `next`.
std::string overrun_remedy(const std::vector<Party>& arrivals, std::uint64_t next);

// Whether a table has one row for each enumerator of its rows' `what`, in their order.
template <class Rows>
constexpr bool has_row_for_each(const Rows& rows) {
  std::size_t index = 0;
  for (const auto& row : rows)
    if (static_cast<std::size_t>(row.what) != index++) return false;
  return index == static_cast<std::size_t>(decltype(std::begin(rows)->what)::count_);
}

}  // namespace inflight::check
