// Wraps every op to compare a warp's registers before and after it.
#include "tests/unit/machine/audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "gpu/machine/code/slots.hpp"
#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/families/wgmma.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

constexpr int runs = 8;                             // runs of each op that are checked
constexpr std::uint32_t largest_frame = 16 << 10;   // bytes; copying others takes too long
constexpr std::uint32_t largest_shared = 16 << 10;  // likewise

struct Audited {
  Handler run = nullptr;
  std::atomic<int> left{runs};
};

// Programs are audited before they run, so the map is only read while they run.
std::unordered_map<const Op*, Audited*> audited_ops;
std::deque<Audited> all;
std::mutex mutex;
std::array<std::atomic<bool>, static_cast<std::size_t>(ptx::Opcode::count_)> parked_at;

using Bytes = std::vector<std::byte>;

Bytes registers(const Frame& frame) {
  return {frame.registers.data(), frame.registers.data() + frame.registers.size()};
}
void restore(Frame& frame, const Bytes& bytes) {
  std::memcpy(frame.registers.data(), bytes.data(), bytes.size());
}

// The bytes of some registers' slots.
class Area {
 public:
  explicit Area(const Code& code) : code_(code), held_(code.frame_bytes) {}
  void add(std::span<const RegisterUse> uses) {
    for (const RegisterUse& use : uses) add(use.reg);
  }
  void add(std::uint32_t reg) {
    if (code_.slots[reg] == no_ref) return;
    const std::size_t first = code_.slots[reg] & ~3u;
    const std::size_t bytes = slot_bytes(code_.function->registers[reg].type);
    std::fill_n(held_.begin() + static_cast<std::ptrdiff_t>(first), bytes, true);
  }
  bool holds(std::size_t byte) const { return held_[byte]; }

 private:
  const Code& code_;
  std::vector<bool> held_;
};

Area all_registers(const Code& code) {
  Area area(code);
  for (std::uint32_t r = 0; r < code.slots.size(); ++r) area.add(r);
  return area;
}

bool reads_time(const ptx::Function& function, const Instruction& in) {
  for (const ptx::Operand& o : function.operands(*in.text))
    if (o.kind == ptx::Operand::Kind::special) return true;
  return false;
}

// True if the instruction can run again: its only effects are on registers. One that accesses
// memory can too, if its description names none, which is then found wrong.
bool repeatable(const Code& code, const Instruction& in) {
  return in.control == Control::next && in.memory.empty() && in.effect != Effect::other &&
         !reads_time(*code.function, in);
}

bool moves_on(const Op* op, Handler run) {
  // run_settle and run_settle_local precede another instruction, and write the registers that a
  // wgmma writes.
  return op->is(Op::diverts) || run == run_settle || run == run_settle_local;
}

// Shared memory of the warp's block, if an instruction with this description leaves it as it is.
Bytes untouched_memory(const Warp& w, const Instruction& in) {
  const bool touches = !in.memory.empty() || in.as<GroupUse>() || in.control != Control::next;
  const std::uint32_t end = w.block->shared_end;
  if (touches || end > largest_shared) return {};
  return {w.block->shared + reserved_shared, w.block->shared + end};
}

// Do its lanes go on to the next op, as the control `next` says? A fault ends the kernel instead.
bool check_control(const Warp& w, const Op* op, const Op* next, std::uint32_t mask,
                   const Instruction& in) {
  const bool ended = !next && w.block->grid->stop.load(std::memory_order_relaxed);
  if (ended || (next == op + 1 && w.mask == mask)) return true;
  ADD_FAILURE() << in.text->name << ", line " << in.text->line
                << ", parks or diverges; its description says that its lanes go on";
  return false;
}

void check_memory(const Warp& w, const Instruction& in, const Bytes& before) {
  if (before.empty() ||
      std::memcmp(before.data(), w.block->shared + reserved_shared, before.size()) == 0)
    return;
  ADD_FAILURE() << in.text->name << ", line " << in.text->line
                << ", writes memory that its description does not name";
}

// Changes the other registers and runs it again: the result must be the same.
void check_reads(Warp& w, const Op* op, Handler run, const Instruction& in, const Bytes& before,
                 std::uint32_t carry, std::int32_t budget) {
  Frame& frame = *w.frame;
  const Code& code = *frame.code;
  const Bytes after = registers(frame);
  const std::uint32_t carry_after = w.carry;
  const std::int32_t budget_after = w.budget;
  Area known(code);
  known.add(in.reads);
  // The registers of other lanes are not operands, and must not change.
  if (in.guard || w.mask != all_lanes) known.add(in.writes);
  const Area named = all_registers(code);
  Bytes poisoned = before;
  for (std::size_t i = 0; i < poisoned.size(); ++i)
    if (named.holds(i) && !known.holds(i)) poisoned[i] ^= std::byte{0xa5};
  restore(frame, poisoned);
  w.carry = in.reads_carry ? carry : ~carry;
  w.budget = budget;
  const Bytes memory = untouched_memory(w, in);
  for (std::size_t i = 0; i < memory.size(); ++i)
    w.block->shared[reserved_shared + i] ^= std::byte{0xa5};
  run(w, op);
  if (!memory.empty()) std::memcpy(w.block->shared + reserved_shared, memory.data(), memory.size());
  Area written(code);
  written.add(in.writes);
  const Bytes again = registers(frame);
  for (std::size_t i = 0; i < again.size(); ++i) {
    const bool untouched = again[i] == poisoned[i] && after[i] == before[i];
    if (written.holds(i) && again[i] != after[i] && !untouched) {
      ADD_FAILURE() << in.text->name << ", line " << in.text->line
                    << ", reads a register or memory that its description does not name";
      break;
    }
  }
  restore(frame, after);
  w.carry = carry_after;
  w.budget = budget_after;
}

void note_parked(const Warp& w, const Op* next, const Op* op, std::uint32_t mask,
                 const Instruction& in) {
  if (next == op + 1 && w.mask == mask) return;
  const bool parked = std::any_of(w.parked.begin(), w.parked.end(), [&](const Split& s) {
    return (s.pc == op || s.pc == op + 1) && s.wait != Wait::nothing && (s.mask & mask) != 0;
  });
  if (parked) parked_at[static_cast<std::size_t>(in.opcode)] = true;
}

const Op* run_audited(Warp& w, const Op* op) {
  Audited& audit = *audited_ops.at(op);
  Frame* const frame = w.frame;
  const Code& code = *frame->code;
  if (op->instruction >= code.description->body.size() || moves_on(op, audit.run) ||
      audit.left.fetch_sub(1, std::memory_order_relaxed) <= 0)
    return audit.run(w, op);
  const Instruction& in = code.description->body[op->instruction];
  // A collective of lanes at several places writes the registers of each place.
  const bool alone = in.control == Control::meet && w.parked.empty();
  if (in.control != Control::next && !alone) {
    const std::uint32_t mask = w.mask;
    const Op* const next = audit.run(w, op);
    note_parked(w, next, op, mask, in);
    return next;
  }
  const Bytes before = registers(*frame);
  const std::uint32_t carry = w.carry;
  const std::int32_t budget = w.budget;
  const std::uint32_t mask = w.mask;
  const Bytes memory = untouched_memory(w, in);
  const Op* const next = audit.run(w, op);
  note_parked(w, next, op, mask, in);
  if (in.control == Control::next && !check_control(w, op, next, mask, in)) return next;
  check_memory(w, in, memory);
  if (w.frame != frame || !next) return next;  // the warp parked, or exited
  const Bytes after = registers(*frame);
  Area written(code);
  written.add(in.writes);
  const Area named = all_registers(code);
  for (std::size_t i = 0; i < after.size(); ++i)
    if (named.holds(i) && !written.holds(i) && after[i] != before[i]) {
      ADD_FAILURE() << in.text->name << ", line " << in.text->line
                    << ", writes a register that its description does not name";
      break;
    }
  if (!in.writes_carry && w.carry != carry)
    ADD_FAILURE() << in.text->name << " writes CC.CF; its description says not";
  if (repeatable(code, in)) check_reads(w, op, audit.run, in, before, carry, budget);
  return next;
}

}  // namespace

bool has_parked(ptx::Opcode opcode) { return parked_at[static_cast<std::size_t>(opcode)]; }

void audit(const Program& program) {
  const std::lock_guard lock(mutex);
  for (std::uint32_t m = 0; m < program.modules().size(); ++m)
    for (std::uint32_t f = 0; f < program.modules()[m]->functions.size(); ++f)
      for (const bool clustered : {false, true}) {
        const auto code = prepared(program).code({m, f}, {.clustered = clustered});
        if (!code || (*code)->frame_bytes > largest_frame) continue;
        for (const Op& op : (*code)->ops) {
          if (op.run == run_audited) continue;
          Audited& entry = all.emplace_back();
          entry.run = op.run;
          audited_ops[&op] = &entry;
          const_cast<Op&>(op).run = run_audited;
        }
      }
}

}  // namespace inflight::machine
