// The parsed form of a PTX text: variables, functions, instructions. parse() builds it and the
// machine reads it. Names are views into the text, which the module keeps alive.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/ptx/opcodes.hpp"
#include "gpu/ptx/types.hpp"

namespace inflight::ptx {

inline constexpr std::uint32_t none = 0xffffffff;  // an absent index

enum class Linkage : std::uint8_t { local, visible, weak, external, common };

struct Register {
  Type type;
  std::string_view name;
};

// Which bytes of a register a video instruction reads (PTX ISA 9.7.17). Stored in Operand::value.
struct Selector {
  char unit = 0;                        // 'b' of `.b0`, 'h' of `.h10`; 0: the whole register
  std::uint8_t count = 0;               // digits
  std::array<std::uint8_t, 4> parts{};  // in the order written
  static constexpr Selector of(std::int64_t v) {
    Selector s;
    s.unit = char(v >> 56), s.count = std::uint8_t(v >> 48 & 7);
    for (int i = 0; i < 4; ++i) s.parts[i] = std::uint8_t(v >> 8 * i & 255);
    return s;
  }
  constexpr std::int64_t value() const {
    std::int64_t v = std::int64_t(unit) << 56 | std::int64_t(count) << 48;
    for (int i = 0; i < 4; ++i) v |= std::int64_t(parts[i]) << 8 * i;
    return v;
  }
};

// One operand as written. `[map, {x, y}]` makes two operands, an address and a vector, and
// `[tex, sampler, {x}]` makes three. The kind decides what `index` and `value` mean.
struct Operand {
  enum class Kind : std::uint8_t {
    sink,      // `_`; second: the q of `_|q`, or none
    reg,       // index: Function::registers; second: the q of `p|q`, or none; value: a Selector
    special,   // index: a Special; value: the n of %envreg<n>
    integer,   // value: the bits, sign-extended
    f32,       // value: the bits of a 0f literal
    f64,       // value: the bits of a 0d or decimal literal
    variable,  // index: Module::variables; value: added offset (`mov.u64 %rd, table+8`)
    function,  // index: Module::functions
    label,     // index: Function::labels
    address,   // `[base+offset]`; base says what index is (reg, variable, integer); value: offset
    vector,    // `{a, b}`: Function::pool[index, index+count)
    list,      // `(a, b)` of a call: same as vector; count may be 0
    table,     // index: Function::tables (.branchtargets, .calltargets, .callprototype)
  };
  Kind kind = Kind::sink;
  Kind base = Kind::sink;
  bool negated = false;  // `!p`; `-r` of vmad
  std::uint16_t count = 0;
  std::uint32_t index = none;
  std::uint32_t second = none;
  std::int64_t value = 0;
};

struct Instruction {
  Opcode opcode = Opcode::unknown;
  std::uint8_t vector = 1;  // .v2, .v4, .v8
  std::uint8_t type_count = 0;
  std::uint8_t space_count = 0;
  std::array<Type, 4> types{};           // in the order written
  std::array<Space, 2> spaces{};         // in the order written; {} is generic
  ModSet mods;                           // every other modifier; `.row.col` is one: row_col
  std::array<std::uint16_t, 3> shape{};  // m, n, k of `.m64n128k16` (wgmma has no Mod for it)
  bool guarded = false, guard_negated = false;
  std::uint32_t guard = none;  // @p: Function::registers
  std::uint32_t operands = 0;  // first in Function::pool
  std::uint16_t operand_count = 0;
  std::uint32_t line = 0;         // in the PTX text, from 1
  std::uint32_t location = none;  // Function::locations
  std::string_view name;          // the full opcode as written: `ld.global.nc.f32`
  Type type(unsigned i = 0) const { return types[i]; }
  Space space(unsigned i = 0) const { return i < space_count ? spaces[i] : Space::generic; }
};

// The reason, in one sentence, why an instruction became Opcode::unknown.
struct Refusal {
  std::uint32_t instruction;  // Function::body
  std::string reason;
};

// An address inside an initialiser: the bytes [offset, offset+size) hold symbol + addend.
struct Relocation {
  std::uint32_t offset, size;  // size: 8, 4 (the low half), or 1 (a masked byte)
  std::string_view symbol;
  std::int64_t addend;
  bool generic;            // `generic(symbol)`
  std::uint8_t shift = 0;  // bits below a masked byte: 8 for 0xff00(symbol)
};

struct Variable {
  std::string_view name;
  Space space = Space::generic;
  Type type = Type::none;
  Linkage linkage = Linkage::local;
  std::uint32_t alignment = 1;  // bytes
  std::uint64_t size = 0;       // bytes; 0 for an extern array of unknown size
  bool managed = false;
  bool unsized = false;            // `extern .shared .b8 s[]`
  std::uint32_t function = none;   // the function it is declared in, if any
  std::vector<std::byte> initial;  // empty (all zeros), or of `size` bytes
  std::vector<Relocation> relocations;
  std::uint32_t line = 0;
};

struct Label {
  std::string_view name;
  std::uint32_t instruction;  // index of the instruction that follows
};

// A labelled .branchtargets, .calltargets or .callprototype.
struct Table {
  enum class Kind : std::uint8_t { branches, calls, prototype };
  std::string_view name;
  Kind kind;
  std::vector<std::uint32_t> entries;         // label ids, or function ids
  std::vector<Variable> returns, parameters;  // of a .callprototype
};

// `.loc file line column [, function_name ..., inlined_at ...]`
struct Location {
  std::uint32_t file, line, column;
  std::string_view function;        // linkage name of the inlined function, if any
  std::uint32_t inlined_at = none;  // Function::locations
};

struct Function {
  std::string_view name;
  Linkage linkage = Linkage::local;
  bool entry = false, has_body = false, noreturn = false;
  std::uint32_t alias_of = none;  // `.alias a, b`: the function that a names
  // Indices into Module::variables, in order. Their space is param or, as in
  // `.func (.reg .f32 r) f (.reg .f32 a)`, reg. If reg, `registers` of a function with a body
  // starts with them: returns, then parameters.
  std::vector<std::uint32_t> returns, parameters;
  std::vector<Register> registers;  // only those that the body uses
  std::vector<Operand> pool;
  std::vector<Instruction> body;
  std::vector<Label> labels;
  std::vector<Table> tables;
  std::vector<Location> locations;
  std::vector<Refusal> refusals;  // ordered by instruction
  std::array<std::uint32_t, 3> maxntid{}, reqntid{}, reqnctapercluster{};
  std::uint32_t language = 0;  // that it was compiled from
  std::uint32_t minnctapersm = 0, maxnreg = 0, maxclusterrank = 0;
  bool explicitcluster = false, blocksareclusters = false;
  std::uint32_t line = 0;
  std::span<const Operand> operands(const Instruction& i) const {
    return {pool.data() + i.operands, i.operand_count};
  }
};

struct File {
  std::uint32_t index;
  std::string_view path;
};

struct Module {
  std::shared_ptr<const std::string> text;
  std::string name;  // the file it came from, for messages; empty: unknown
  int version_major = 0, version_minor = 0;
  std::string_view target;  // "sm_90a"
  int target_number = 0;    // 90
  bool debug = false;       // .target has `debug`: the assembler must not optimise
  unsigned address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<File> files;
  std::shared_ptr<const std::deque<std::string>> strings;  // names that do not occur in `text`
};

}  // namespace inflight::ptx
