// Writes a kernel's host code: for AVX-512, whole warps.
//
// A block of it begins with an empty cache. The cache holds the lanes of registers in vector
// registers: two for 32 lanes of 32 bits, four for 64 bits. What it holds is stored to the frame
// where control leaves the block. Values that lanes share stay in homes, which are memory.
#pragma once
#include <asmjit/asmjit.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "gpu/machine/compile/exits.hpp"
#include "gpu/machine/compile/places.hpp"

namespace inflight::machine::compile {

namespace X = asmjit::x86;

// A general register, as wide as a value.
inline X::Gp sized(const X::Gp& reg, unsigned bytes) {
  if (bytes == 8) return reg.r64();
  return reg.r32();
}

// An operand's value.
struct Value {
  enum class Of : std::uint8_t {
    constant,  // `bits` in each lane
    home,      // of `reg`
    lanes,     // of `reg`, in the frame or the cache
    row,       // 32 lanes at `offset` from one of the warp's bases
  };
  Of of = Of::constant;
  Shape shape = Shape::uniform();
  unsigned bytes = 4;  // of a lane
  std::uint64_t bits = 0;
  std::uint32_t reg = ptx::none;
  std::uint32_t base = 0, offset = 0;
  // One value for each half, or for the whole warp.
  bool is_scalar() const { return shape.is_affine(); }
};

class Emitter {
 public:
  Emitter(const Places& places, asmjit::CodeHolder& holder);
  // Labels of the entries, to be resolved once the code has an address.
  struct EntryLabels {
    std::uint32_t op;
    asmjit::Label enter, resume;
  };
  // Throws Unwanted.
  const std::vector<EntryLabels>& run(const Patience& patience = {});
  std::vector<std::unique_ptr<const Spread>> spreads;  // the code refers to them

  X::Assembler a;
  const Places& places;
  const Code& code;

  // --- registers with one purpose ---
  const X::Gp warp = X::rbx, frame = X::rbp, homes = X::r12, shared = X::r13, worker = X::r14,
              generation = X::r15;
  // At the stack pointer.
  static constexpr int shared_end_at = 0, parameters_at = 8, saved_at = 16, guard_at = 24,
                       arrived_at = 40, taken_at = arrived_at + 4 * 24,
                       frame_bytes = taken_at + 4 * 24;
  static_assert(frame_bytes % 16 == 8);
  // Those of its caller, in the order in which it stores them above that (unwind.cpp).
  static constexpr std::array<X::Gp, 6> kept() {
    return {X::rbx, X::rbp, X::r12, X::r13, X::r14, X::r15};
  }

  // --- values (values.cpp) ---
  Value value(Ref ref, const ptx::Operand& operand, unsigned bytes);
  Value value_of(std::uint32_t reg);
  // The value of lane 0 or of lane 16, in `to`.
  void scalar(const Value& v, int half, const X::Gp& to);
  // A part of its lanes: 16 of 32 bits, 8 of 64 bits. In `scratch` unless the cache holds them.
  X::Zmm lanes(const Value& v, unsigned part, const X::Zmm& scratch);
  void set_home(std::uint32_t reg, int half, const X::Gp& from);
  X::Mem home(std::uint32_t reg, int half, unsigned bytes) const;
  // The vector registers of a result, whose lanes are about to be written. `raw`: a NaN may have
  // any payload, and becomes the canonical one where its bits are seen.
  std::array<X::Zmm, 4> result(std::uint32_t reg, bool raw = false);
  // The same, but not in place of lanes that the register has now.
  std::array<X::Zmm, 4> fresh_result(std::uint32_t reg);
  // The handler, to which control goes in any case, writes the register's lanes to the frame.
  void forget(std::uint32_t reg) {
    std::erase_if(cached_, [reg](const Cached& c) { return c.reg == reg; });
  }
  // Brings what the result is merged with into the cache.
  void prepare_result(std::uint32_t reg);
  // Leaves so many vector registers free.
  void make_room(unsigned count);
  void add_constant(const X::Gp& to, std::int64_t value);
  // A vector register that holds nothing, until the next one is taken. There must be one.
  X::Zmm free_now() { return X::Zmm(free_vector()); }
  // Brings the lanes of an operand into the cache, before vector registers for results are taken.
  void prepare(const Value& v);
  bool is_cached(std::uint32_t reg) const;
  // Gives a register that is a row of real numbers the canonical NaN.
  void settle(const Value& v);
  void broadcast(const X::Zmm& to, const X::Gp& from, unsigned bytes);
  // Adds lane * stride of a part of one half.
  void add_steps(const X::Zmm& to, std::int64_t stride, unsigned bytes, unsigned part);
  X::Mem slot(std::uint32_t reg, unsigned part = 0) const;
  X::Mem predicate(std::uint32_t reg) const { return X::dword_ptr(frame, offset_of(reg)); }
  std::int32_t offset_of(std::uint32_t reg) const {
    return static_cast<std::int32_t>(code.slots[reg] & ~3u);
  }
  X::Mem field(std::size_t offset, unsigned bytes) const {
    return X::Mem(warp, static_cast<std::int32_t>(offset), bytes);
  }
  X::Mem constant_vector(const std::array<std::uint64_t, 8>& words);
  static unsigned parts_of(unsigned bytes) { return bytes == 8 ? 4 : 2; }

  // --- calls and exits (calls.cpp) ---
  // Where a form goes whose fast path does not apply: its handler executes it, and the code behind
  // it goes on. Ask after prepare() and before result(), and go there before results are written,
  // unless they have vector registers that were free.
  asmjit::Label slow(const Site& site);
  // Where a form goes whose result has not the shape that its register should have: the handler
  // executes it, and the interpreter goes on.
  asmjit::Label leave(const Site& site);
  void load_pointer(const X::Gp& to, const void* value) {
    a.mov(to, reinterpret_cast<std::uintptr_t>(value));
  }

  // --- masks (masked.cpp) ---
  // Whether the op executes for some lanes only: those of active(), of which bits are in k5 and k6.
  bool is_masked() const { return region_ != nullptr || guarded_; }
  bool is_guarded() const { return guarded_; }
  // At least one lane does, unless a guard is false in all of them.
  X::Mem active() const {
    return guarded_ ? X::dword_ptr(X::rsp, guard_at) : field(offset_of_mask(), 4);
  }
  // The lanes of a part, for a masked instruction. In k7, or a register that stays.
  X::KReg active_part(unsigned part, unsigned bytes);
  // The assembler, with the lanes of a part as the mask of its next instruction.
  X::Assembler& masked(unsigned part, unsigned bytes) {
    if (is_masked()) a.k(active_part(part, bytes));
    return a;
  }
  // Writes a predicate from eax, for the lanes that execute the op. Changes ecx and edx.
  void set_predicate(std::uint32_t reg);

  static const X::Zmm nan() { return X::zmm31; }
  static X::Zmm scratch(unsigned n) { return X::Zmm(28 + n); }  // 0 to 2

 private:
  struct Cached {
    std::uint32_t reg;
    unsigned parts;
    std::array<std::uint8_t, 4> at;
    bool dirty, raw;
    std::uint64_t used;
  };
  static constexpr unsigned vectors = 28;
  // Code that is laid out behind the rest.
  struct Cold {
    asmjit::Label label;
    std::vector<Cached> before;  // the cache when control goes there
    const Region* region;        // and what is masked there
    bool guarded;
    std::function<void()> emit;
    bool returns = false;  // to `back`, where the cache is as in `after`
    asmjit::Label back = {};
    std::vector<Cached> after = {};
  };

  // values.cpp
  Cached* find(std::uint32_t reg);
  const Cached* find(std::uint32_t reg) const;
  Cached& load(std::uint32_t reg);
  Cached& take(std::uint32_t reg) { return take(reg, reg); }
  Cached& take(std::uint32_t reg, std::uint32_t name);
  std::uint8_t free_vector();
  void canonicalise(const Cached& c);
  void store(Cached& c);
  // Stores what is dirty and live before the op, or at any of two.
  void flush(std::uint32_t op, bool forget);
  void flush_for(std::uint32_t op, std::uint32_t other);
  void forget_dead(std::uint32_t op);
  bool is_live(std::uint32_t op, std::uint32_t reg) const {
    return (region_ ? places.masked_live : places.live).has(op, reg);
  }
  const Bits& dirty() const { return region_ ? places.masked_dirty : places.dirty; }
  void spread_home(std::uint32_t reg);

  // frame.cpp
  void prologue();
  void load_nan();
  void epilogue();
  void entry(std::uint32_t op);
  void check_home(std::uint32_t reg, const asmjit::Label& otherwise);
  void check_predicate(std::uint32_t reg, const asmjit::Label& otherwise);
  void load_home(std::uint32_t reg);
  void load_active_home(std::uint32_t reg);

  // calls.cpp
  void call_handler(std::uint32_t op);
  void call(std::uint32_t op);
  void phase(std::uint32_t op);
  void exit_behind(std::uint32_t op);
  void spread_all(std::uint32_t op);
  void spread_for_handler(std::uint32_t op);
  // Writes homes back: those that are live before the op, or before or behind it except what its
  // instruction writes.
  void spread_before(std::uint32_t op);
  void spread_behind(std::uint32_t op);
  void add_to(Spread& list, std::uint32_t reg) const;
  void spread_list(Spread list);
  void call_helper(const void* function);
  void reload_homes(std::uint32_t op);
  void mark_resume(std::uint32_t op);
  asmjit::Label cold(std::function<void()> emit);
  void end_form(std::size_t first_cold);
  void emit_cold();

  // branches.cpp
  void form(std::uint32_t op);
  void jump(std::uint32_t op);
  void branch(std::uint32_t op);
  void charge(std::uint32_t op);
  void diverge_at(std::uint32_t op);

  // masked.cpp
  static std::size_t offset_of_mask();
  bool keeps_lanes(std::uint32_t reg) const;
  std::array<X::Zmm, 4> merged_result(std::uint32_t reg, bool raw);
  void merge();
  void load_mask();
  void set_mask();
  void begin_guard(const Site& site);
  void end_guard();
  void region(const Region& r);
  void region_branch(std::uint32_t op);
  void region_jump(std::uint32_t op);
  void arrive(std::uint32_t label);
  void begin_label(std::uint32_t op);
  void go_to_next_label(std::uint32_t op);
  void rejoin(std::uint32_t op);
  X::Mem arrived(std::uint32_t label) const;
  X::Mem taken(std::uint32_t branch) const;

  std::vector<asmjit::Label> at_;  // by op; leaders only
  std::vector<EntryLabels> entries_;
  std::vector<Cached> cached_;
  std::vector<Cold> cold_;
  std::map<std::array<std::uint64_t, 8>, asmjit::Label> constants_;
  std::map<std::uint32_t, asmjit::Label> pauses_;  // by target
  std::uint64_t clock_ = 0;
  std::uint32_t op_ = Code::none;   // the form being emitted
  const Region* region_ = nullptr;  // in which lanes execute under masks
  bool guarded_ = false;            // the op executes for the lanes of its guard
  // At the labels of the region that is being emitted, and what all that goes there has in the
  // cache.
  std::map<std::uint32_t, asmjit::Label> region_labels_;
  std::map<std::uint32_t, std::vector<Cached>> region_caches_;
  struct Merge {
    std::uint32_t reg;
    bool raw;
  };
  std::vector<Merge> merges_;
  static constexpr std::uint32_t fresh_bit = std::uint32_t{1}
                                             << 30;  // marks new lanes of a register
};

}  // namespace inflight::machine::compile
