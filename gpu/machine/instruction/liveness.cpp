// Lifetimes by backward search from every use.
#include "gpu/machine/instruction/liveness.hpp"

#include <algorithm>
#include <utility>

namespace inflight::machine {
namespace {

struct Occurrence {
  std::uint32_t reg, block;
  auto operator<=>(const Occurrence&) const = default;
};

// The registers whose values may still be read after each block.
using LiveOut = std::vector<std::vector<std::uint32_t>>;

// Calls visit(register, writes) for each register that the instruction reads, then for each that it
// writes. A guarded instruction keeps the old value in some lanes, so it also reads what it writes.
template <class Visit>
void each_register(const Instruction& in, Visit visit) {
  for (const RegisterUse& use : in.reads) visit(use.reg, false);
  if (in.guard)
    for (const RegisterUse& use : in.writes) visit(use.reg, false);
  for (const RegisterUse& use : in.writes) visit(use.reg, true);
}

std::vector<Lifetime> lifetimes(const Function& function, LiveOut& live_out) {
  const Flow& flow = function.flow;
  std::vector<Lifetime> intervals(function.text->registers.size());
  const auto blocks = flow.blocks.size();
  std::vector<std::uint32_t> begin(blocks, ~0u), end(blocks, 0);
  std::vector<Occurrence> exposed, defined;
  std::vector<std::uint32_t> seen_use(function.text->registers.size(), ~0u);
  std::vector<std::uint32_t> seen_definition(function.text->registers.size(), ~0u);
  std::uint32_t position = 0;
  for (std::uint32_t b : flow.order) {
    begin[b] = position;
    position += 2;
    for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; ++i, position += 2) {
      // The handler writes several registers one by one and may still read sources meanwhile.
      const bool keep_sources = function.body[i].writes.size() > 1;
      each_register(function.body[i], [&](std::uint32_t r, bool definition) {
        if (!definition) intervals[r].extend(position);
        if (definition || keep_sources) intervals[r].extend(position + 1);
        if (definition) {
          if (seen_definition[r] != b) defined.push_back({r, b});
          seen_definition[r] = b;
        } else if (seen_definition[r] != b && seen_use[r] != b) {
          exposed.push_back({r, b});
          seen_use[r] = b;
        }
      });
    }
    end[b] = position;
    position += 2;
  }
  std::sort(exposed.begin(), exposed.end());
  std::sort(defined.begin(), defined.end());

  std::vector<std::uint32_t> visited(blocks, ~0u), defines(blocks, ~0u), work;
  live_out.assign(blocks, {});
  auto next_definition = defined.begin();
  for (auto e = exposed.begin(); e != exposed.end();) {
    const std::uint32_t r = e->reg;
    while (next_definition != defined.end() && next_definition->reg < r) ++next_definition;
    for (; next_definition != defined.end() && next_definition->reg == r; ++next_definition)
      defines[next_definition->block] = r;
    work.clear();
    for (; e != exposed.end() && e->reg == r; ++e) {
      visited[e->block] = r;
      work.push_back(e->block);
    }
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      intervals[r].extend(begin[b]);
      for (std::uint32_t p : flow.blocks[b].predecessors) {
        if (begin[p] == ~0u) continue;  // unreachable
        intervals[r].extend(end[p]);
        if (live_out[p].empty() || live_out[p].back() != r) live_out[p].push_back(r);
        if (defines[p] == r || visited[p] == r) continue;
        visited[p] = r;
        work.push_back(p);
      }
    }
  }
  return intervals;
}

// The 32-bit registers of a thread that hold a value of this type.
std::uint32_t words_of(ptx::Type type) {
  return type == ptx::Type::pred ? 0 : std::max(1u, ptx::size_of(type) / 4);
}

// The most that the registers live at one place sum up to. `words`: of each register.
std::uint32_t most_live(const Function& function, const LiveOut& live_out,
                        const std::vector<std::uint32_t>& words) {
  std::uint32_t most = 0;
  std::vector<bool> live(words.size());
  for (std::uint32_t b : function.flow.order) {
    std::fill(live.begin(), live.end(), false);
    std::uint32_t sum = 0;
    const auto set = [&](std::uint32_t r, bool now) {
      if (live[r] != now) sum = now ? sum + words[r] : sum - words[r];
      live[r] = now;
    };
    for (const std::uint32_t r : live_out[b]) set(r, true);
    const auto& block = function.flow.blocks[b];
    for (std::uint32_t i = block.last; i-- > block.first;) {
      const Instruction& in = function.body[i];
      for (const RegisterUse& use : in.writes) set(use.reg, true);
      most = std::max(most, sum);
      if (!in.guard)
        for (const RegisterUse& use : in.writes) set(use.reg, false);
      for (const RegisterUse& use : in.reads) set(use.reg, true);
      most = std::max(most, sum);
    }
  }
  return most;
}

}  // namespace

void find_lifetimes(Function& function) {
  LiveOut live_out;
  function.lifetimes = lifetimes(function, live_out);
  std::vector<std::uint32_t> words(function.lifetimes.size());
  for (std::size_t r = 0; r < words.size(); ++r)
    if (function.lifetimes[r].lives()) words[r] = words_of(function.text->registers[r].type);
  function.live_words = most_live(function, live_out, words);
}

}  // namespace inflight::machine
