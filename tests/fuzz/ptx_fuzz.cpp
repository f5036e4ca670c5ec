// Feeds arbitrary bytes to the PTX parser. It may refuse them but never crash, and an accepted
// module has no index out of range.
#include <cstdint>
#include <memory>
#include <string>

#include "gpu/ptx/parse.hpp"
#include "tests/fuzz/ptx_mutator.hpp"
#include "tests/fuzz/reporting.hpp"

namespace {

using namespace inflight::ptx;
using inflight::fuzz::require;

struct Checker {
  const Module& m;
  const Function& f;

  void symbol(Operand::Kind kind, std::uint32_t index) const {
    using Kind = Operand::Kind;
    if (kind == Kind::reg) require(index < f.registers.size(), "a register exists");
    if (kind == Kind::variable) require(index < m.variables.size(), "a variable exists");
    if (kind == Kind::function) require(index < m.functions.size(), "a function exists");
    if (kind == Kind::label) require(index < f.labels.size(), "a label exists");
    if (kind == Kind::table) require(index < f.tables.size(), "a table exists");
    if (kind == Kind::special) require(!spelling(Special(index)).empty(), "a special exists");
  }

  void operand(const Operand& o) const {
    symbol(o.kind == Operand::Kind::address ? o.base : o.kind, o.index);
    require(o.second == none || o.second < f.registers.size(), "a second destination exists");
    if (o.kind != Operand::Kind::vector && o.kind != Operand::Kind::list) return;
    require(std::size_t(o.index) + o.count <= f.pool.size(), "elements are in the pool");
    for (unsigned i = 0; i < o.count; ++i) {
      const Operand& e = f.pool[o.index + i];
      require(e.kind != Operand::Kind::vector && e.kind != Operand::Kind::list, "lists are flat");
      operand(e);
    }
  }

  void instruction(const Instruction& i) const {
    require(!i.guarded || i.guard < f.registers.size(), "a guard exists");
    require(i.location == none || i.location < f.locations.size(), "a location exists");
    require(std::size_t(i.operands) + i.operand_count <= f.pool.size(), "operands are in the pool");
    for (const Operand& o : f.operands(i)) operand(o);
  }

  void variable(const Variable& v) const {
    require(v.initial.empty() || v.initial.size() == v.size, "initial bytes fill a variable");
    for (const Relocation& r : v.relocations)
      require(r.offset + std::size_t(r.size) <= v.initial.size(),
              "an address lies in its variable");
  }

  void table(const Table& t) const {
    const bool branches = t.kind == Table::Kind::branches;
    for (std::uint32_t e : t.entries)
      require(e < (branches ? f.labels.size() : m.functions.size()), "a target exists");
  }

  void run() const {
    for (const Instruction& i : f.body) instruction(i);
    for (const Label& l : f.labels) require(l.instruction <= f.body.size(), "a label has a place");
    for (const Table& t : f.tables) table(t);
    for (const Refusal& r : f.refusals) require(r.instruction < f.body.size(), "refusals exist");
    for (const Location& l : f.locations)
      require(l.inlined_at == none || l.inlined_at < f.locations.size(), "an inliner exists");
    for (auto* list : {&f.returns, &f.parameters})
      for (std::uint32_t v : *list) require(v < m.variables.size(), "a parameter exists");
  }
};

void check(const Module& m) {
  const Function no_function;
  for (const Variable& v : m.variables) Checker{m, no_function}.variable(v);
  for (const Function& f : m.functions) Checker{m, f}.run();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  const auto result = parse(std::move(text), "fuzz");
  if (result) {
    check(*result);
  } else {
    require(!result.error().message.empty(), "an error has a sentence");
    require(result.error().line > 0 && result.error().column > 0, "an error has a place");
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return inflight::fuzz::mutate_ptx(data, size, most, seed);
}
