// Register lives by backward search from every use, then linear scan.
#include "gpu/machine/decode/liveness.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace inflight::machine {
namespace {

using ptx::Opcode;
using ptx::Operand;

constexpr Opcode no_destination[] = {
    Opcode::st,
    Opcode::red,
    Opcode::bra,
    Opcode::brx_idx,
    Opcode::bar,
    Opcode::barrier,
    Opcode::ret,
    Opcode::exit,
    Opcode::trap,
    Opcode::brkpt,
    Opcode::membar,
    Opcode::fence,
    Opcode::fence_proxy,
    Opcode::fence_mbarrier_init,
    Opcode::nanosleep,
    Opcode::prefetch,
    Opcode::prefetchu,
    Opcode::applypriority,
    Opcode::discard,
    Opcode::cp_async,
    Opcode::cp_async_commit_group,
    Opcode::cp_async_wait_group,
    Opcode::cp_async_wait_all,
    Opcode::cp_async_mbarrier_arrive,
    Opcode::mbarrier_init,
    Opcode::mbarrier_inval,
    Opcode::mbarrier_expect_tx,
    Opcode::mbarrier_complete_tx,
    Opcode::cp_async_bulk,
    Opcode::cp_async_bulk_tensor,
    Opcode::cp_async_bulk_prefetch,
    Opcode::cp_async_bulk_prefetch_tensor,
    Opcode::cp_reduce_async_bulk,
    Opcode::cp_reduce_async_bulk_tensor,
    Opcode::cp_async_bulk_commit_group,
    Opcode::cp_async_bulk_wait_group,
    Opcode::setmaxnreg,
    Opcode::griddepcontrol_wait,
    Opcode::griddepcontrol_launch_dependents,
    Opcode::barrier_cluster_arrive,
    Opcode::barrier_cluster_wait,
    Opcode::st_async,
    Opcode::red_async,
    Opcode::st_bulk,
    Opcode::stmatrix,
    Opcode::pmevent,
    Opcode::stackrestore,
    Opcode::tensormap_replace,
    Opcode::tensormap_cp_fenceproxy,
};

void visit_operand(const ptx::Function& function, const Operand& o, bool definition,
                   const std::function<void(std::uint32_t, bool)>& visit) {
  switch (o.kind) {
    case Operand::Kind::reg:
      visit(o.index, definition);
      if (o.second != ptx::none) visit(o.second, definition);
      break;
    case Operand::Kind::sink:
      if (o.second != ptx::none) visit(o.second, definition);
      break;
    case Operand::Kind::address:
      if (o.base == Operand::Kind::reg) visit(o.index, false);
      if (o.second != ptx::none) visit(o.second, false);
      break;
    case Operand::Kind::vector:
    case Operand::Kind::list:
      for (unsigned i = 0; i < o.count; ++i)
        visit_operand(function, function.pool[o.index + i], definition, visit);
      break;
    default:
      break;
  }
}

struct Interval {
  std::uint32_t begin = ~0u, end = 0;
  void extend(std::uint32_t p) {
    begin = std::min(begin, p);
    end = std::max(end, p);
  }
};

struct Occurrence {
  std::uint32_t reg, block;
  auto operator<=>(const Occurrence&) const = default;
};

// Several registers are written one after the other, while others are still read.
bool writes_several(const ptx::Function& function, const ptx::Instruction& in) {
  const auto operands = function.operands(in);
  return destinations(in) && !operands.empty() && operands[0].kind == Operand::Kind::vector;
}

// Fills `intervals` (by register) in positions of the layout: an instruction reads at an even one
// and writes at the odd one behind it.
void live_intervals(const ptx::Function& function, const Flow& flow,
                    std::vector<Interval>& intervals) {
  const auto blocks = flow.blocks.size();
  std::vector<std::uint32_t> begin(blocks, ~0u), end(blocks, 0);
  std::vector<Occurrence> exposed, defined;
  std::vector<std::uint32_t> seen_use(function.registers.size(), ~0u);
  std::vector<std::uint32_t> seen_definition(function.registers.size(), ~0u);
  std::uint32_t position = 0;
  for (std::uint32_t b : flow.order) {
    begin[b] = position;
    position += 2;
    for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; ++i, position += 2) {
      const bool keep_sources = writes_several(function, function.body[i]);
      for_each_register(function, function.body[i], [&](std::uint32_t r, bool definition) {
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
        if (defines[p] == r || visited[p] == r) continue;
        visited[p] = r;
        work.push_back(p);
      }
    }
  }
}

}  // namespace

unsigned slot_bytes(ptx::Type type) {
  if (type == ptx::Type::pred) return 4;
  return std::max(2u, ptx::size_of(type)) * 32;
}

unsigned destinations(const ptx::Instruction& in) {
  return std::find(std::begin(no_destination), std::end(no_destination), in.opcode) ==
                 std::end(no_destination)
             ? 1
             : 0;
}

void for_each_register(const ptx::Function& function, const ptx::Instruction& in,
                       const std::function<void(std::uint32_t, bool)>& visit) {
  const auto operands = function.operands(in);
  const unsigned written = destinations(in);
  for (unsigned i = written; i < operands.size(); ++i)
    visit_operand(function, operands[i], false, visit);
  if (in.guarded) visit(in.guard, false);
  for (unsigned i = 0; i < written && i < operands.size(); ++i) {
    if (in.guarded) visit_operand(function, operands[i], false, visit);
    visit_operand(function, operands[i], operands[i].kind != Operand::Kind::address, visit);
  }
}

Slots allocate(const ptx::Function& function, const Flow& flow) {
  std::vector<Interval> intervals(function.registers.size());
  live_intervals(function, flow, intervals);

  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < intervals.size(); ++r)
    if (intervals[r].begin != ~0u) order.push_back(r);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return intervals[a].begin < intervals[b].begin;
  });

  // One pool of slots a width: predicates, 2, 4, 8 and 16 bytes a lane.
  struct Pool {
    std::vector<std::uint32_t> free;
    std::uint32_t count = 0;
  };
  std::array<Pool, 5> pools;
  auto pool_of = [&](std::uint32_t r) {
    const unsigned bytes = slot_bytes(function.registers[r].type);
    return bytes == 4 ? 0 : std::bit_width(bytes / 64);
  };
  constexpr unsigned words[] = {0, 1, 1, 2, 4};  // 32-bit registers a thread
  constexpr unsigned bytes[] = {4, 64, 128, 256, 512};

  Slots slots;
  slots.ref.assign(function.registers.size(), no_ref);
  std::vector<std::uint32_t> slot(function.registers.size());
  auto later = [&](std::uint32_t a, std::uint32_t b) {
    return intervals[a].end > intervals[b].end;
  };
  std::vector<std::uint32_t> active;  // a heap: the first to end on top
  std::uint32_t live = 0;
  for (std::uint32_t r : order) {
    while (!active.empty() && intervals[active.front()].end < intervals[r].begin) {
      std::pop_heap(active.begin(), active.end(), later);
      const std::uint32_t dead = active.back();
      active.pop_back();
      pools[pool_of(dead)].free.push_back(slot[dead]);
      live -= words[pool_of(dead)];
    }
    Pool& pool = pools[pool_of(r)];
    if (pool.free.empty()) {
      slot[r] = pool.count++;
    } else {
      slot[r] = pool.free.back();
      pool.free.pop_back();
    }
    live += words[pool_of(r)];
    slots.live_words = std::max(slots.live_words, live);
    active.push_back(r);
    std::push_heap(active.begin(), active.end(), later);
  }
  std::array<std::uint32_t, 5> start{};
  for (int p = 0; p < 5; ++p) {
    start[p] = slots.bytes;
    slots.bytes += (pools[p].count * bytes[p] + 63) / 64 * 64;
  }
  for (std::uint32_t r : order)
    slots.ref[r] = make_ref(Base::frame, start[pool_of(r)] + slot[r] * bytes[pool_of(r)]);
  return slots;
}

}  // namespace inflight::machine
