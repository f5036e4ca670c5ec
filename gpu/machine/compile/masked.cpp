// Code under masks: guarded instructions, and regions behind branches at which lanes diverge.
//
// A region's blocks run in the order of their ops, each for the lanes that come to it. Its results
// have all lanes: where others still need those that they have, the two are merged in vector
// registers. So what is stored to the frame is right for every lane, and the cache may stay from
// block to block. Warp::mask has the lanes that execute, as handlers expect.
#include <algorithm>

#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/run/warp.hpp"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace inflight::machine::compile {

std::size_t Emitter::offset_of_mask() { return offsetof(Warp, mask); }

X::KReg Emitter::active_part(unsigned part, unsigned bytes) {
  if (bytes != 8) return part == 0 ? X::k5 : X::k6;
  const X::KReg half = part < 2 ? X::k5 : X::k6;
  if (part % 2 == 0) return half;
  a.kshiftrw(X::k7, half, 8);
  return X::k7;
}

void Emitter::load_mask() {
  a.kmovd(X::k5, field(offset_of_mask(), 4));
  a.kshiftrd(X::k6, X::k5, 16);
}

// The lanes of eax, of which there is one at least, execute what follows.
void Emitter::set_mask() {
  a.mov(field(offset_of_mask(), 4), X::eax);
  a.kmovd(X::k5, X::eax);
  a.kshiftrd(X::k6, X::k5, 16);
  a.cmp(X::eax, -1);
  a.sete(field(offsetof(Warp, whole), 1));
}

// --- results ---

// Whether lanes that do not execute the op have others of this register, which some lane may read.
bool Emitter::keeps_lanes(std::uint32_t reg) const {
  if (op_ == Code::none) return false;
  return guarded_ || (region_ && places.kept.has(op_, reg));
}

// Until the instruction is complete, the register's name stands for the lanes that it had.
std::array<X::Zmm, 4> Emitter::merged_result(std::uint32_t reg, bool raw) {
  const std::uint32_t name = reg | fresh_bit;
  if (!find(name)) {
    prepare_result(reg);
    find(reg)->used = ~std::uint64_t{0};
    take(reg, name);
    merges_.push_back({reg, raw});
  }
  Cached& fresh = *find(name);
  fresh.used = ~std::uint64_t{0};
  std::array<X::Zmm, 4> all;
  for (unsigned p = 0; p < fresh.parts; ++p) all[p] = X::Zmm(fresh.at[p]);
  return all;
}

void Emitter::prepare_result(std::uint32_t reg) {
  if (keeps_lanes(reg)) settle(value_of(reg));
}

void Emitter::merge() {
  for (const Merge& each : merges_) {
    Cached &fresh = *find(each.reg | fresh_bit), &old = *find(each.reg);
    if (each.raw) canonicalise(fresh);
    const unsigned bytes = places.width(each.reg);
    for (unsigned p = 0; p < fresh.parts; ++p) {
      const X::Zmm to(fresh.at[p]), from(old.at[p]);
      bytes == 8 ? masked(p, bytes).vpblendmq(to, from, to)
                 : masked(p, bytes).vpblendmd(to, from, to);
    }
    old.reg = ptx::none;
    fresh.reg = each.reg, fresh.dirty = true, fresh.used = ++clock_;
  }
  merges_.clear();
}

void Emitter::set_predicate(std::uint32_t reg) {
  if (keeps_lanes(reg)) {
    a.mov(X::ecx, active());
    a.and_(X::eax, X::ecx);
    a.not_(X::ecx);
    a.and_(X::ecx, predicate(reg));
    a.or_(X::eax, X::ecx);
  }
  a.mov(predicate(reg), X::eax);
}

// --- guards ---

void Emitter::begin_guard(const Site& site) {
  a.mov(X::eax, X::dword_ptr(frame, static_cast<std::int32_t>(site.op.guard & ~3u)));
  if (site.op.flags & Op::guard_negated) a.not_(X::eax);
  if (region_) a.and_(X::eax, field(offset_of_mask(), 4));
  a.mov(X::dword_ptr(X::rsp, guard_at), X::eax);
  a.kmovd(X::k5, X::eax);
  a.kshiftrd(X::k6, X::k5, 16);
  guarded_ = true;
}

void Emitter::end_guard() {
  guarded_ = false;
  if (region_) load_mask();
}

// --- regions ---

X::Mem Emitter::arrived(std::uint32_t label) const {
  return X::dword_ptr(X::rsp, arrived_at + 4 * static_cast<int>(region_->label(label)));
}
X::Mem Emitter::taken(std::uint32_t branch) const {
  return X::dword_ptr(X::rsp, taken_at + 4 * static_cast<int>(region_->branch(branch)));
}

// Control goes to the label, where the cache may have no more than it has here.
void Emitter::arrive(std::uint32_t label) {
  const auto is_clean = [](const Cached& c) { return !c.dirty; };
  const auto [it, first] = region_caches_.try_emplace(label);
  if (first) {
    std::ranges::copy_if(cached_, std::back_inserter(it->second), is_clean);
    return;
  }
  std::erase_if(it->second, [&](const Cached& c) {
    const Cached* const here = find(c.reg);
    return !here || here->dirty || here->at != c.at;
  });
}

void Emitter::go_to_next_label(std::uint32_t op) {
  const std::uint32_t next = *std::ranges::upper_bound(region_->labels, op);
  arrive(next);
  a.jmp(region_labels_.at(next));
}

void Emitter::begin_label(std::uint32_t op) {
  a.bind(region_labels_.at(op));
  cached_ = region_caches_.at(op);
  if (op == region_->join) return;
  a.mov(X::eax, arrived(op));
  const asmjit::Label some = a.newLabel();
  a.test(X::eax, X::eax);
  a.jnz(some);
  go_to_next_label(op);
  a.bind(some);
  set_mask();
}

void Emitter::region_jump(std::uint32_t op) {
  const std::uint32_t to = places.target(op);
  flush(op, false);
  a.sub(field(offsetof(Warp, budget), 4), static_cast<std::int32_t>(code.ops[op].imm));
  a.mov(X::eax, field(offset_of_mask(), 4));
  a.or_(arrived(to), X::eax);
  go_to_next_label(op);
}

void Emitter::region_branch(std::uint32_t op) {
  const Op& what = code.ops[op];
  const std::uint32_t to = places.target(op);
  flush(op, false);
  a.mov(X::eax, X::dword_ptr(frame, static_cast<std::int32_t>(what.guard & ~3u)));
  if (what.flags & Op::guard_negated) a.not_(X::eax);
  a.mov(X::ecx, field(offset_of_mask(), 4));
  a.and_(X::eax, X::ecx);
  a.mov(taken(op), X::eax);
  const asmjit::Label none = a.newLabel(), some = a.newLabel();
  a.jz(none);
  a.or_(arrived(to), X::eax);
  a.xor_(X::eax, X::ecx);
  a.jnz(some);
  a.sub(field(offsetof(Warp, budget), 4), static_cast<std::int32_t>(what.imm));
  go_to_next_label(op);
  a.bind(some);
  a.sub(field(offsetof(Warp, budget), 4), Warp::shortest_jump);
  set_mask();
  a.bind(none);
}

// Lanes in eax, some but not all, go to the target of the region's head.
void Emitter::region(const Region& r) {
  const asmjit::Label otherwise = a.newLabel();
  const std::uint32_t to = places.target(r.head);
  a.cmp(field(offsetof(Warp, budget), 4), r.most_cost);
  a.jl(otherwise);
  a.cmp(field(offsetof(Warp, exclusive), 1), 0);
  a.jne(otherwise);
  if (r.has_phases) {
    a.cmp(field(offsetof(Warp, phases), 4), 0);
    a.jne(otherwise);
  }
  region_ = &r;
  region_labels_.clear(), region_caches_.clear();
  a.xor_(X::ecx, X::ecx);
  for (const std::uint32_t label : r.labels) {
    region_labels_[label] = a.newLabel();
    if (label != to) a.mov(arrived(label), X::ecx);
  }
  a.mov(arrived(to), X::eax);
  a.mov(taken(r.head), X::eax);
  a.sub(field(offsetof(Warp, budget), 4), Warp::shortest_jump);
  a.not_(X::eax);
  set_mask();
  for (std::uint32_t k = r.head + 1; k < r.join; ++k) {
    const Place& at = places.ops[k];
    if (region_labels_.contains(k)) begin_label(k);
    if (at.what == Place::Do::call)
      call(k);
    else if (at.what == Place::Do::form)
      form(k);
    else if (at.what == Place::Do::jump)
      region_jump(k);
    else if (at.what == Place::Do::branch)
      region_branch(k);
    if (at.what != Place::Do::form) forget_dead(k + 1);
  }
  begin_label(r.join);
  a.mov(X::eax, -1);
  set_mask();
  a.jmp(at_[r.join]);
  region_ = nullptr;
  a.bind(otherwise);
  diverge_at(r.head);
}

// Brings the warp's splits to where they are before the op.
void Emitter::rejoin(std::uint32_t op) {
  a.mov(X::rdi, warp);
  load_pointer(X::rsi, region_);
  a.lea(X::rdx, X::ptr(X::rsp, taken_at));
  load_pointer(X::rcx, &code.ops[op]);
  call_helper(reinterpret_cast<const void*>(&compile::rejoin));
}

}  // namespace inflight::machine::compile
