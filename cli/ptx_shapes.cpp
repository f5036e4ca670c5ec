// Describes a kernel, finds its shapes and puts them into words, line by line.
#include "cli/ptx_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::cli {
namespace {

BlockSize size_of_blocks(const ptx::Function& kernel, const std::optional<BlockSize>& asked) {
  if (asked) return *asked;
  if (kernel.reqntid[0] == 0) return {1, 1, 1};
  BlockSize required = kernel.reqntid;
  for (std::uint32_t& each : required) each = std::max(each, 1u);
  return required;
}

std::string_view rows_in_words(machine::BlockRows rows) {
  switch (rows) {
    case machine::BlockRows::line:
      return "one row";
    case machine::BlockRows::warps:
      return "rows of whole warps";
    case machine::BlockRows::halves:
      return "rows of whole half-warps";
    case machine::BlockRows::any:
      return "rows that end inside half-warps";
  }
  return "";
}

// How many of the registers that instructions write have which shape.
std::string sums(const machine::Function& function, const machine::Shapes& shapes) {
  std::vector<bool> written(shapes.registers.size());
  for (const machine::Instruction& in : function.body)
    for (const machine::RegisterUse& use : in.writes) written[use.reg] = true;
  unsigned all = 0, uniform = 0, affine = 0, monotone = 0;
  for (std::size_t r = 0; r < written.size(); ++r) {
    if (!written[r]) continue;
    const machine::Shape& shape = shapes.registers[r];
    ++all;
    uniform += shape.is_uniform();
    affine += shape.is_affine() && !shape.is_uniform();
    monotone += shape.kind == machine::Shape::Kind::monotone;
  }
  return fmt::format("{} registers: {} uniform, {} affine, {} monotone, {} lanes", all, uniform,
                     affine, monotone, all - uniform - affine - monotone);
}

std::string note(const machine::Function& function, const machine::Shapes& shapes,
                 std::uint32_t i) {
  const machine::Instruction& in = function.body[i];
  if (in.contracted) return "part of the sum";
  std::string text;
  const auto add = [&](std::string_view name, const machine::Shape& shape) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", name, machine::to_text(shape));
  };
  const auto& registers = function.text->registers;
  if (in.guard) add(registers[in.guard.reg].name, shapes.registers[in.guard.reg]);
  for (const machine::MemoryOperand& m : in.memory)
    if (m.address.base == machine::Address::Base::reg)
      add(fmt::format("[{}]", registers[m.address.index].name), shapes.registers[m.address.index]);
  for (const machine::RegisterUse& use : in.writes)
    add(registers[use.reg].name, shapes.registers[use.reg]);
  if (shapes.checked[i]) text += ", if no lane wraps";
  return text;
}

}  // namespace

ShapeListing list_shapes(const ptx::Module& module, const ptx::Function& kernel,
                         const std::optional<BlockSize>& block) {
  const auto function = machine::describe(module, kernel);
  const BlockSize size = size_of_blocks(kernel, block);
  const machine::BlockRows rows = machine::block_rows(size[0], size[1], size[2]);
  const machine::Shapes shapes = machine::find_shapes(*function, rows);
  ShapeListing listing;
  listing.title = fmt::format("blocks of {}; {}", rows_in_words(rows), sums(*function, shapes));
  for (std::uint32_t i = 0; i < function->body.size(); ++i) {
    const std::uint32_t line = function->body[i].text->line;
    if (shapes.apart[i]) listing.apart[line] = true;
    const std::string text = note(*function, shapes, i);
    if (text.empty()) continue;
    std::string& all = listing.notes[line];
    all += (all.empty() ? "" : "; ") + text;
  }
  return listing;
}

}  // namespace inflight::cli
