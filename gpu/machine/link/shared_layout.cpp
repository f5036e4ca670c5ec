// Finds what kernels reach in the call graph, then places variables by first fit.
#include "gpu/machine/link/shared_layout.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace inflight::machine {
namespace {

using Ids = std::vector<std::uint32_t>;

// The functions that `entry` can reach. An indirect call reaches every function whose address is
// taken.
Ids reachable(std::span<const FunctionUses> functions, const Ids& address_taken,
              std::uint32_t entry) {
  std::vector<bool> seen(functions.size(), false);
  Ids found{entry};
  seen[entry] = true;
  bool indirect = false;
  const auto visit = [&](std::uint32_t f) {
    if (!seen[f]) found.push_back(f);
    seen[f] = true;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const FunctionUses& uses = functions[found[i]];
    for (std::uint32_t callee : uses.callees) visit(callee);
    if (!uses.calls_indirectly || indirect) continue;
    indirect = true;
    for (std::uint32_t f : address_taken) visit(f);
  }
  return found;
}

// The occupied ranges of one kernel: begin to end.
using Taken = std::map<std::uint64_t, std::uint64_t>;

// The lowest aligned offset from `from` on, itself aligned, where `size` bytes are free.
std::uint64_t next_free(const Taken& taken, std::uint64_t from, std::uint64_t size,
                        std::uint64_t alignment) {
  auto it = taken.upper_bound(from);
  if (it != taken.begin()) --it;
  for (; it != taken.end() && it->first < from + size; ++it)
    if (it->second > from) from = (it->second + alignment - 1) / alignment * alignment;
  return from;
}

// The lowest offset that is free in all of the kernels.
std::uint64_t place(const std::vector<Taken>& taken, const Ids& kernels, const SharedVariable& v) {
  const std::uint64_t a = v.alignment;
  std::uint64_t offset = (reserved_shared + a - 1) / a * a;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t k : kernels) {
      const std::uint64_t at = next_free(taken[k], offset, v.size, v.alignment);
      moved |= at != offset;
      offset = at;
    }
  }
  return offset;
}

}  // namespace

bool layout_shared(std::span<const FunctionUses> functions, std::span<SharedVariable> variables,
                   std::span<SharedOfKernel> kernels) {
  Ids address_taken;
  for (std::uint32_t f = 0; f < functions.size(); ++f)
    if (functions[f].address_taken) address_taken.push_back(f);

  std::vector<Ids> users(variables.size());  // kernels, ascending
  for (std::uint32_t k = 0; k < kernels.size(); ++k)
    for (std::uint32_t f : reachable(functions, address_taken, kernels[k].entry)) {
      kernels[k].reserved_shared |= functions[f].reserved_shared;
      kernels[k].names_shared |= !functions[f].shared.empty();
      for (std::uint32_t v : functions[f].shared)
        if (users[v].empty() || users[v].back() != k) users[v].push_back(k);
    }

  // Variables of many kernels come first, so those of one kernel follow them without gaps.
  Ids order(variables.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (users[a].size() != users[b].size()) return users[a].size() > users[b].size();
    return variables[a].alignment > variables[b].alignment;
  });

  std::vector<Taken> taken(kernels.size());
  for (std::uint32_t id : order) {
    SharedVariable& v = variables[id];
    v.alignment = std::max(v.alignment, 1u);
    for (std::uint32_t k : users[id])
      if (v.dynamic)
        kernels[k].dynamic_alignment = std::max(kernels[k].dynamic_alignment, v.alignment);
    if (v.dynamic || v.size == 0) continue;
    const std::uint64_t offset = place(taken, users[id], v), end = offset + v.size;
    if (end > std::numeric_limits<std::uint32_t>::max()) return false;
    v.offset = static_cast<std::uint32_t>(offset);
    for (std::uint32_t k : users[id]) {
      taken[k][offset] = end;
      kernels[k].bytes =
          std::max(kernels[k].bytes, static_cast<std::uint32_t>(end) - reserved_shared);
    }
  }
  return true;
}

}  // namespace inflight::machine
