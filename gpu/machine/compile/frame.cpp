// The host code's own frame, and the entries: where interpreted warps come in.
#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/worker.hpp"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace inflight::machine::compile {

void Emitter::prologue() {
  for (const X::Gp& each : kept()) a.push(each);
  a.sub(X::rsp, frame_bytes);
  a.mov(warp, X::rdi);
  a.mov(frame, field(offsetof(Warp, base), 8));
  a.mov(homes, field(offsetof(Warp, homes), 8));
  a.mov(worker, field(offsetof(Warp, worker), 8));
  a.mov(X::rax, field(offsetof(Warp, block), 8));
  a.mov(shared, X::qword_ptr(X::rax, offsetof(Block, shared)));
  a.mov(X::ecx, X::dword_ptr(X::rax, offsetof(Block, shared_end)));
  a.mov(X::qword_ptr(X::rsp, shared_end_at), X::rcx);
  a.mov(X::rax, X::qword_ptr(X::rax, offsetof(Block, grid)));
  a.mov(X::rcx, X::qword_ptr(X::rax, offsetof(Grid, parameters)));
  a.mov(X::qword_ptr(X::rsp, parameters_at), X::rcx);
  a.mov(generation, X::qword_ptr(X::rax, offsetof(Grid, memory)));
  const Memory& memory = code.program->memory();
  a.add(generation,
        static_cast<std::int32_t>(reinterpret_cast<const char*>(&memory.generation_word()) -
                                  reinterpret_cast<const char*>(&memory)));
  load_nan();
}

void Emitter::load_nan() {
  a.mov(X::ecx, 0x7fffffff);
  a.vpbroadcastd(nan(), X::ecx);
}

void Emitter::epilogue() {
  a.vzeroupper();
  a.add(X::rsp, frame_bytes);
  const auto all = kept();
  for (auto each = all.rbegin(); each != all.rend(); ++each) a.pop(*each);
}

void Emitter::load_home(std::uint32_t reg) {
  const Value v = value_of(reg);
  const auto bytes = static_cast<std::int32_t>(v.bytes);
  const X::Gp x = sized(X::rax, v.bytes);
  a.mov(x, X::Mem(frame, offset_of(reg), v.bytes));
  set_home(reg, 0, x);
  if (v.shape.reach != Shape::Reach::half) return;
  a.mov(x, X::Mem(frame, offset_of(reg) + 16 * bytes, v.bytes));
  set_home(reg, 1, x);
}

// Of the lanes that execute, which are not all: from the first of them, of each half if the halves
// differ.
void Emitter::load_active_home(std::uint32_t reg) {
  const Value v = value_of(reg);
  const bool halves = v.shape.reach == Shape::Reach::half;
  const auto bytes = static_cast<int>(v.bytes);
  const X::Gp x = sized(X::rax, v.bytes), step = sized(X::rdx, v.bytes);
  for (int h = 0; h < (halves ? 2 : 1); ++h) {
    const asmjit::Label none = a.newLabel();
    const X::Mem mask = field(offset_of_mask() + (h ? 2 : 0), halves ? 2 : 4);
    halves ? a.movzx(X::ecx, mask) : a.mov(X::ecx, mask);
    a.bsf(X::ecx, X::ecx);
    a.jz(none);
    a.mov(x, X::Mem(frame, X::rcx, bytes == 8 ? 3 : 2, offset_of(reg) + 16 * h * bytes, v.bytes));
    a.mov(step, v.shape.stride);
    a.imul(step, sized(X::rcx, v.bytes));
    a.sub(x, step);
    set_home(reg, h, x);
    a.bind(none);
  }
}

// Whether all lanes are as the home and its shape say.
void Emitter::check_home(std::uint32_t reg, const asmjit::Label& otherwise) {
  const Value v = value_of(reg);
  if (v.shape.zeros != 0) {
    const unsigned zeros = std::min<unsigned>(v.shape.zeros, 31);
    for (int h = 0; h < (v.shape.reach == Shape::Reach::half ? 2 : 1); ++h) {
      scalar(v, h, X::rax);
      if (v.shape.zeros == Shape::all_zeros)
        a.test(sized(X::rax, v.bytes), sized(X::rax, v.bytes));
      else
        a.test(X::eax, static_cast<std::int32_t>((std::uint32_t{1} << zeros) - 1));
      a.jnz(otherwise);
    }
  }
  for (unsigned p = 0; p < parts_of(v.bytes); ++p) {
    if (p == 0 || !v.shape.is_uniform()) lanes(v, p, scratch(0));
    if (v.bytes == 8)
      a.vpcmpq(X::k1, scratch(0), slot(reg, p), 4);
    else
      a.vpcmpd(X::k1, scratch(0), slot(reg, p), 4);
    a.kortestw(X::k1, X::k1);
    a.jnz(otherwise);
  }
}

void Emitter::check_predicate(std::uint32_t reg, const asmjit::Label& otherwise) {
  a.mov(X::eax, predicate(reg));
  a.add(X::eax, 1);
  a.cmp(X::eax, 1);
  a.ja(otherwise);
}

void Emitter::entry(std::uint32_t op) {
  const EntryLabels labels{op, a.newLabel(), a.newLabel()};
  entries_.push_back(labels);
  const asmjit::Label otherwise = a.newLabel();
  cached_.clear();
  a.bind(labels.enter);
  prologue();
  places.live.for_each(op, [&](std::uint32_t reg) {
    if (places.is_uniform_predicate(reg)) check_predicate(reg, otherwise);
    if (!places.in_home(reg)) return;
    load_home(reg);
    check_home(reg, otherwise);
  });
  a.jmp(at_[op]);
  a.bind(labels.resume);
  prologue();
  if (op != 0) reload_homes(op - 1);
  a.jmp(at_[op]);
  a.bind(otherwise);
  a.mov(X::rdi, warp);
  load_pointer(X::rsi, &code.ops[op]);
  load_pointer(X::rax, reinterpret_cast<const void*>(code.handler_of(&code.ops[op])));
  epilogue();
  a.jmp(X::rax);
}

}  // namespace inflight::machine::compile
