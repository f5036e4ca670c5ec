// Calls of handlers, and the ways out of host code. Before a handler runs, all that it may read is
// in the frame, and behind it the cache is empty.
#include <algorithm>
#include <utility>

#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/compile/exits.hpp"
#include "gpu/machine/run/warp.hpp"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace inflight::machine::compile {

void Emitter::call_helper(const void* function) {
  load_pointer(X::rax, function);
  a.vzeroupper();
  a.call(X::rax);
}

void Emitter::call_handler(std::uint32_t op) {
  a.mov(X::rdi, warp);
  load_pointer(X::rsi, &code.ops[op]);
  call_helper(reinterpret_cast<const void*>(code.handler_of(&code.ops[op])));
}

// The homes that the handler reads, or changes for some lanes.
void Emitter::spread_for_handler(std::uint32_t op) {
  const Instruction& in = places.instruction(op);
  std::vector<std::uint32_t> regs;
  const auto add = [&](const RegisterUse& use) {
    if (places.in_home(use.reg) && dirty().has(op, use.reg) &&
        std::ranges::find(regs, use.reg) == regs.end())
      regs.push_back(use.reg);
  };
  std::ranges::for_each(in.reads, add);
  if (in.guard) std::ranges::for_each(in.writes, add);
  for (const std::uint32_t reg : regs) spread_home(reg);
}

// Where warps often end their turn: all that is live, besides what the instruction writes. Behind
// it the frame is as new as the homes.
void Emitter::spread_all(std::uint32_t op) {
  const Instruction& in = places.instruction(op);
  places.dirty.for_each(op, [&](std::uint32_t reg) {
    const auto is = [&](const RegisterUse& use) { return use.reg == reg; };
    if (places.in_home(reg) && places.is_live_near(op, reg) && std::ranges::none_of(in.reads, is) &&
        std::ranges::none_of(in.writes, is))
      spread_home(reg);
  });
}

void Emitter::spread_before(std::uint32_t op) {
  Spread list;
  dirty().for_each(op, [&](std::uint32_t reg) {
    if (is_live(op, reg)) add_to(list, reg);
  });
  spread_list(std::move(list));
}

void Emitter::spread_behind(std::uint32_t op) {
  Spread list;
  const Instruction& in = places.instruction(op);
  const bool control = places.ops[op].what == Place::Do::branch;
  places.dirty.for_each(op, [&](std::uint32_t reg) {
    const auto is = [&](const RegisterUse& use) { return use.reg == reg; };
    if (!control && std::ranges::any_of(in.writes, is)) return;
    if (places.is_live_near(op, reg)) add_to(list, reg);
  });
  spread_list(std::move(list));
}

void Emitter::add_to(Spread& list, std::uint32_t reg) const {
  if (!places.in_home(reg)) return;
  list.push_back({static_cast<std::uint32_t>(offset_of(reg)), 16 * places.home[reg],
                  places.shapes[reg], places.width(reg) == 8});
}

void Emitter::spread_list(Spread list) {
  if (list.empty()) return;
  spreads.push_back(std::make_unique<const Spread>(std::move(list)));
  a.mov(X::rdi, frame);
  a.mov(X::rsi, homes);
  load_pointer(X::rdx, spreads.back().get());
  call_helper(reinterpret_cast<const void*>(&spread));
}

void Emitter::reload_homes(std::uint32_t op) {
  for (const RegisterUse& use : places.instruction(op).writes)
    if (places.in_home(use.reg)) region_ ? load_active_home(use.reg) : load_home(use.reg);
}

void Emitter::mark_resume(std::uint32_t op) {
  if (op >= places.ops.size() || !places.ops[op].entry) return;
  load_pointer(X::rcx, &code.ops[op]);
  a.mov(field(offsetof(Warp, compiled_until), 8), X::rcx);
}

// The handler has returned, in rax, another op than the next, or null.
void Emitter::exit_behind(std::uint32_t op) {
  const Place& at = places.ops[op];
  // In a region, only a fault comes here.
  if (!at.parks && !region_) {
    a.mov(X::qword_ptr(X::rsp, saved_at), X::rax);
    spread_behind(op);
    a.mov(X::rax, X::qword_ptr(X::rsp, saved_at));
  }
  if (at.parks && !at.ends && op + 1 < places.ops.size() && places.ops[op + 1].entry) {
    const asmjit::Label elsewhere = a.newLabel();
    a.test(X::rax, X::rax);
    a.jnz(elsewhere);
    mark_resume(op + 1);
    a.bind(elsewhere);
  }
  epilogue();
  a.ret();
}

void Emitter::call(std::uint32_t op) {
  const Place& at = places.ops[op];
  flush(op, true);
  spread_for_handler(op);
  if (at.parks) spread_all(op);
  call_handler(op);
  if (at.ends) return exit_behind(op);
  const asmjit::Label out = cold([this, op] { exit_behind(op); });
  load_pointer(X::rcx, &code.ops[op + 1]);
  a.cmp(X::rax, X::rcx);
  a.jne(out);
  if (!region_) {
    a.cmp(field(offsetof(Warp, mask), 4), -1);
    a.jne(out);
  }
  load_nan();
  if (region_) load_mask();
  if (at.last) reload_homes(op);
}

void Emitter::phase(std::uint32_t op) {
  a.cmp(field(offsetof(Warp, phases), 4), 0);
  a.jne(cold([this, op] {
    flush(op, true);
    spread_before(op);
    call_handler(op);
    mark_resume(op + 1);
    epilogue();
    a.ret();
  }));
}

asmjit::Label Emitter::leave(const Site& site) {
  return cold([this, op = site.index] {
    flush(op, true);
    spread_before(op);
    if (region_) rejoin(op);
    call_handler(op);
    epilogue();
    a.ret();
  });
}

asmjit::Label Emitter::slow(const Site& site) {
  const asmjit::Label label = cold([] {});
  const std::size_t index = cold_.size() - 1;
  Cold& c = cold_.back();
  c.returns = true;
  c.emit = [this, index, op = site.index] {
    flush(op, true);
    spread_for_handler(op);
    call_handler(op);
    const asmjit::Label out = a.newLabel();
    load_pointer(X::rcx, &code.ops[op + 1]);
    a.cmp(X::rax, X::rcx);
    a.jne(out);
    load_nan();
    if (region_) load_mask();
    reload_homes(op);
    for (const Cached& each : cold_[index].after)
      for (unsigned p = 0; p < each.parts; ++p) a.vmovups(X::Zmm(each.at[p]), slot(each.reg, p));
    a.jmp(cold_[index].back);
    a.bind(out);
    exit_behind(op);
  };
  return label;
}

asmjit::Label Emitter::cold(std::function<void()> emit) {
  const asmjit::Label label = a.newLabel();
  cold_.push_back({label, cached_, region_, guarded_, std::move(emit)});
  return label;
}

// The form's fast path is complete: what it sent elsewhere comes back here.
void Emitter::end_form(std::size_t first_cold) {
  asmjit::Label back;
  for (std::size_t i = first_cold; i < cold_.size(); ++i) {
    Cold& c = cold_[i];
    if (!c.returns) continue;
    if (!back.isValid()) {
      back = a.newLabel();
      a.bind(back);
    }
    c.back = back;
    c.after = cached_;
  }
}

void Emitter::emit_cold() {
  for (std::size_t i = 0; i < cold_.size(); ++i) {
    cached_ = cold_[i].before;
    region_ = cold_[i].region, guarded_ = cold_[i].guarded;
    a.bind(cold_[i].label);
    const auto emit = std::move(cold_[i].emit);
    emit();
  }
  region_ = nullptr, guarded_ = false;
}

}  // namespace inflight::machine::compile
