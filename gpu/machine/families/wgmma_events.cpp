// Reports the bytes that a warp's part of a wgmma reads, and registers that lack a wgmma.fence.
#include "gpu/machine/families/wgmma_events.hpp"

#include <algorithm>
#include <vector>

#include "gpu/machine/families/wgmma_operands.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/observe/warpgroup_events.hpp"

namespace inflight::machine {
namespace {

// The part of one warp, whose reads are reported as runs of adjacent chunks.
struct Part {
  const WgmmaUse& use;
  const async::MultiplyIssue& issue;
  std::uint32_t rank;
};

class Runs {
 public:
  Runs(void* to, check::MultiplyIssued::RunHook hook) : to_(to), hook_(hook) {}
  ~Runs() { flush(); }
  Runs(const Runs&) = delete;
  void add(std::uint32_t address) {
    if (run_.bytes && run_.address + run_.bytes != address) flush();
    if (!run_.bytes) run_.address = address;
    run_.bytes += async::swizzle_chunk;
  }

 private:
  void flush() {
    if (run_.bytes) hook_(to_, run_);
    run_.bytes = 0;
  }
  void* const to_;
  const check::MultiplyIssued::RunHook hook_;
  check::MultiplyRun run_;
};

// Adds the chunks of each line in address order, so that a swizzled line is one run.
void add_lines(const SharedOperand& o, std::uint32_t first_line, std::uint32_t lines,
               std::uint32_t first_chunk, std::uint32_t chunks, Runs& runs) {
  for (std::uint32_t line = first_line; line < first_line + lines; ++line) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t c = first_chunk; c < first_chunk + chunks; ++c)
      places.push_back(o.address(line, c));
    std::sort(places.begin(), places.end());
    for (const std::uint32_t place : places) runs.add(place);
  }
}

void walk(const check::MultiplyIssued& event, void* to, check::MultiplyIssued::RunHook hook) {
  const Part& part = *static_cast<const Part*>(event.context);
  Runs runs(to, hook);
  if (!part.use.a_in_registers) {
    const SharedOperand a = operand_a(part.use, part.issue.a);
    constexpr std::uint32_t chunks_a_warp = rows_a_warp * 2 / async::swizzle_chunk;
    if (a.major == async::Major::k)
      add_lines(a, part.rank * rows_a_warp, rows_a_warp, 0, a.chunks, runs);
    else
      add_lines(a, 0, a.lines, part.rank * chunks_a_warp, chunks_a_warp, runs);
  }
  const SharedOperand b = operand_b(part.use, part.issue.b);
  add_lines(b, 0, b.lines, 0, b.chunks, runs);
}

std::string_view name_at(const Code& code, async::RegisterPlace place) {
  for (std::size_t r = 0; r < code.slots.size(); ++r)
    if (code.slots[r] == place) return code.function->registers[r].name;
  return {};
}

void find_unfenced(Warp& w, HeldRegisters& held, const async::MultiplyIssue& issue,
                   check::MultiplyIssued& event) {
  for (const auto places : {issue.accumulators, issue.fragments})
    for (const async::RegisterPlace place : places)
      if (const std::uint32_t by = held.unfenced(place); by != HeldRegisters::nobody) {
        event.unfenced = name_at(*w.frame->code, place);
        event.unfenced_by = by;
        return;
      }
  if (held.begins_unfenced() && !issue.accumulators.empty())
    event.unfenced = name_at(*w.frame->code, issue.accumulators.front());
}

void report_held(Warp& w, const Op* op, async::RegisterPlace place, const HeldRegisters::Hold& hold,
                 bool accumulator, bool written) {
  const Observation& o = *w.block->grid->observation;
  check::RegisterTouched event;
  event.who = o.who(w, w.mask, op);
  event.name = name_at(*w.frame->code, place);
  event.written = written, event.accumulator = accumulator;
  event.multiply = hold.end - 1;
  event.issued_at = hold.instruction;
  event.by_multiply = true;
  o.listener().register_touched(event);
}

// Only multiplications of one shape may share accumulators without a wait between them. Of each
// kind of access, reports the first register.
void find_held(Warp& w, const Op* op, HeldRegisters& held, const async::MultiplyIssue& issue) {
  for (const async::RegisterPlace place : issue.accumulators)
    if (const auto* const hold = held.writer(place); hold && hold->shape != issue.shape) {
      report_held(w, op, place, *hold, true, true);
      break;
    }
  for (const async::RegisterPlace place : issue.accumulators)
    if (const auto* const hold = held.reader(place)) {
      report_held(w, op, place, *hold, false, true);
      break;
    }
  for (const async::RegisterPlace place : issue.fragments)
    if (const auto* const hold = held.writer(place)) {
      report_held(w, op, place, *hold, true, false);
      break;
    }
}

}  // namespace

void report_multiply(Warp& w, const Op* op, std::uint64_t id, const async::MultiplyIssue& issue) {
  const Observation& o = *w.block->grid->observation;
  const std::uint32_t rank = rank_in_group(w);
  HeldRegisters& held = warpgroup_of(w)->held[rank];
  const Part part{use_of<WgmmaUse>(op), issue, rank};
  check::MultiplyIssued event;
  event.who = o.who(w, w.mask, op);
  event.id = id;
  find_unfenced(w, held, issue, event);
  event.walk = &walk;
  event.context = &part;
  find_held(w, op, held, issue);
  held.issued(id, static_cast<std::uint32_t>(issue.tag), issue.shape, issue.accumulators,
              issue.fragments);
  o.listener().multiply_issued(event);
}

}  // namespace inflight::machine
