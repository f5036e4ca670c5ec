// The walk over a kernel's ops, jumps and branches.
#include <algorithm>

#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/compile/exits.hpp"
#include "gpu/machine/run/warp.hpp"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace inflight::machine::compile {

Emitter::Emitter(const Places& places_, asmjit::CodeHolder& holder)
    : a(&holder), places(places_), code(places_.code), at_(places_.ops.size()) {
  for (std::uint32_t k = 0; k < at_.size(); ++k)
    if (places.ops[k].leader) at_[k] = a.newLabel();
}

const std::vector<Emitter::EntryLabels>& Emitter::run(const Patience& patience) {
  bool falls = false;
  const auto count = static_cast<std::uint32_t>(places.ops.size());
  for (std::uint32_t k = 0; k < count; ++k) {
    const Place& at = places.ops[k];
    patience.look();
    if (at.leader && falls) flush(k, true);
    if (at.leader || !falls) cached_.clear();
    if (at.leader) a.bind(at_[k]);
    switch (at.what) {
      case Place::Do::call:
        call(k);
        break;
      case Place::Do::form:
        form(k);
        break;
      case Place::Do::jump:
        jump(k);
        break;
      case Place::Do::branch:
        branch(k);
        break;
      case Place::Do::phase:
        phase(k);
        break;
    }
    falls = !at.ends;
    if (falls && k + 1 < count && at.what != Place::Do::form) forget_dead(k + 1);
  }
  emit_cold();
  for (std::uint32_t k = 0; k < count; ++k)
    if (places.ops[k].entry) entry(k);
  a.align(asmjit::AlignMode::kZero, 64);
  for (const auto& [words, label] : constants_) {
    a.bind(label);
    a.embed(words.data(), sizeof words);
  }
  return entries_;
}

void Emitter::form(std::uint32_t op) {
  const Site site{code, places.instruction(op), code.ops[op], op};
  const std::size_t first_cold = cold_.size();
  op_ = op;
  if (places.guarded(op)) begin_guard(site);
  places.ops[op].form->emit(*this, site);
  merge();
  std::erase_if(cached_, [](const Cached& c) { return c.reg == ptx::none; });
  if (op + 1 < places.ops.size()) forget_dead(op + 1);
  end_form(first_cold);
  if (places.guarded(op)) end_guard();
}

// Takes the jump's cost from the budget. The turn may end there.
void Emitter::charge(std::uint32_t op) {
  const std::uint32_t to = places.target(op);
  a.sub(field(offsetof(Warp, budget), 4), static_cast<std::int32_t>(code.ops[op].imm));
  auto [it, fresh] = pauses_.try_emplace(to);
  if (fresh) {
    it->second = cold([this, to] {
      spread_before(to);
      a.mov(X::rdi, warp);
      load_pointer(X::rsi, &code.ops[to]);
      call_helper(reinterpret_cast<const void*>(&pause));
      mark_resume(to);
      epilogue();
      a.ret();
    });
  }
  a.js(it->second);
}

// The lanes of eax go to the branch's target, the others on.
void Emitter::diverge_at(std::uint32_t op) {
  a.mov(X::qword_ptr(X::rsp, saved_at), X::rax);
  spread_behind(op);
  a.mov(X::rdi, warp);
  load_pointer(X::rsi, &code.ops[places.target(op)]);
  a.mov(X::rdx, X::qword_ptr(X::rsp, saved_at));
  load_pointer(X::rcx, &code.ops[op + 1]);
  call_helper(reinterpret_cast<const void*>(&diverge));
  epilogue();
  a.ret();
}

void Emitter::jump(std::uint32_t op) {
  const std::uint32_t to = places.target(op);
  flush(to, true);
  charge(op);
  a.jmp(at_[to]);
}

void Emitter::branch(std::uint32_t op) {
  const Op& what = code.ops[op];
  const std::uint32_t to = places.target(op);
  flush_for(to, op + 1);
  a.mov(X::eax, X::dword_ptr(frame, static_cast<std::int32_t>(what.guard & ~3u)));
  if (what.flags & Op::guard_negated) a.not_(X::eax);
  const asmjit::Label fall = a.newLabel();
  a.test(X::eax, X::eax);
  a.je(fall);
  a.cmp(X::eax, -1);
  a.jne(cold([this, op] {
    if (places.region_of[op] == Code::none) return diverge_at(op);
    region(places.regions[places.region_of[op]]);
  }));
  charge(op);
  a.jmp(at_[to]);
  a.bind(fall);
}

}  // namespace inflight::machine::compile
