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

// Steps from a block to one before it, with one register. Later registers are taken to live
// everywhere.
constexpr std::uint64_t most_steps = 1 << 28;

// The registers whose values may still be read after a block: those that occur in it, and the sum
// of the words of the others.
struct Behind {
  std::vector<std::uint32_t> own;
  std::uint32_t others = 0;
};
using LiveOut = std::vector<Behind>;  // by block

// Calls visit(register, writes) for each register that the instruction reads, then for each that it
// writes. A guarded instruction keeps the old value in some lanes, so it also reads what it writes.
template <class Visit>
void each_register(const Instruction& in, Visit visit) {
  for (const RegisterUse& use : in.reads) visit(use.reg, false);
  if (in.guard)
    for (const RegisterUse& use : in.writes) visit(use.reg, false);
  for (const RegisterUse& use : in.writes) visit(use.reg, true);
}

// `words`: of each register.
std::vector<Lifetime> lifetimes(const Function& function, LiveOut& live_out,
                                const std::vector<std::uint32_t>& words) {
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

  std::vector<std::uint32_t> visited(blocks, ~0u), defines(blocks, ~0u), occurs(blocks, ~0u),
      behind(blocks, ~0u), work;
  std::uint64_t steps = 0;
  live_out.assign(blocks, {});
  auto next_definition = defined.begin();
  for (auto e = exposed.begin(); e != exposed.end();) {
    const std::uint32_t r = e->reg;
    while (next_definition != defined.end() && next_definition->reg < r) ++next_definition;
    for (; next_definition != defined.end() && next_definition->reg == r; ++next_definition)
      defines[next_definition->block] = occurs[next_definition->block] = r;
    work.clear();
    for (; e != exposed.end() && e->reg == r; ++e) {
      visited[e->block] = occurs[e->block] = r;
      work.push_back(e->block);
    }
    if (steps > most_steps) {  // it may live anywhere
      intervals[r].extend(0);
      intervals[r].extend(position);
      continue;
    }
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      steps += 1 + flow.blocks[b].predecessors.size();
      intervals[r].extend(begin[b]);
      for (std::uint32_t p : flow.blocks[b].predecessors) {
        if (begin[p] == ~0u) continue;  // unreachable
        intervals[r].extend(end[p]);
        if (behind[p] != r) {
          behind[p] = r;
          if (occurs[p] == r)
            live_out[p].own.push_back(r);
          else
            live_out[p].others += words[r];
        }
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
  std::vector<std::uint32_t> touched;
  for (std::uint32_t b : function.flow.order) {
    for (const std::uint32_t r : touched) live[r] = false;
    touched.clear();
    std::uint32_t sum = live_out[b].others;
    const auto set = [&](std::uint32_t r, bool now) {
      if (live[r] == now) return;
      sum = now ? sum + words[r] : sum - words[r];
      live[r] = now;
      touched.push_back(r);
    };
    for (const std::uint32_t r : live_out[b].own) set(r, true);
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
  std::vector<std::uint32_t> words;
  for (const auto& reg : function.text->registers) words.push_back(words_of(reg.type));
  function.lifetimes = lifetimes(function, live_out, words);
  function.live_words = most_live(function, live_out, words);
}

}  // namespace inflight::machine
