// Shared by the tests of the PTX component: parse a text, or the body of one kernel.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "gpu/ptx/parse.hpp"

namespace inflight::ptx::testing {

inline tl::expected<Module, Error> try_parse(std::string text) {
  return parse(std::make_shared<const std::string>(std::move(text)), "test");
}

inline std::string with_header(std::string_view text) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n" + std::string(text);
}

// A module of the text after a header of three lines. The test fails if it does not parse.
inline Module module_of(std::string_view text) {
  auto m = try_parse(with_header(text));
  if (m) return std::move(*m);
  ADD_FAILURE() << m.error().line << ":" << m.error().column << ": " << m.error().message;
  Module none_parsed;
  none_parsed.functions.resize(1);
  none_parsed.functions[0].body.resize(1);
  none_parsed.variables.resize(1);
  return none_parsed;
}

inline constexpr std::string_view kPrologue =
    ".global .align 4 .b8 table[64];\n"
    ".visible .entry k(.param .u64 a)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<4>;\n"
    ".reg .b16 %h<4>; .reg .b128 %q<2>; .local .align 8 .b8 depot[16]; .shared .b32 s[4];\n";

// The kernel `k` with that body and registers %p0..3, %r0..19, %rd0..9, %f0..9, %fd0..3, %h0..3,
// %q0..1, variables table (.global), a (.param), depot (.local) and s (.shared).
inline std::string kernel_text(std::string_view body) {
  return with_header(std::string(kPrologue) + std::string(body) + "\n}\n");
}

// The same in PTX of a version whose forms assembled.def does not hold: unknown ones stay.
inline Module later_kernel(std::string_view body) {
  std::string text = kernel_text(body);
  text.replace(text.find("9.0"), 3, "9.9");
  auto m = try_parse(std::move(text));
  if (m) return std::move(*m);
  ADD_FAILURE() << m.error().line << ":" << m.error().column << ": " << m.error().message;
  return {};
}

inline Module kernel(std::string_view body) {
  return module_of(std::string(kPrologue) + std::string(body) + "\n}\n");
}

inline const Function& function(const Module& m, std::string_view name = "k") {
  for (const Function& f : m.functions)
    if (f.name == name) return f;
  ADD_FAILURE() << "no function " << name;
  return m.functions.at(0);
}

inline const Variable& variable(const Module& m, std::string_view name) {
  for (const Variable& v : m.variables)
    if (v.name == name) return v;
  ADD_FAILURE() << "no variable " << name;
  return m.variables.at(0);
}

// An operand as text, which makes tests read like instructions.
inline std::string show(const Module& m, const Function& f, const Operand& o);

inline std::string show_list(const Module& m, const Function& f, const Operand& o) {
  std::string text;
  for (unsigned i = 0; i < o.count; ++i)
    text += (i ? "," : "") + show(m, f, f.pool.at(o.index + i));
  return text;
}

inline std::string show_address(const Module& m, const Function& f, const Operand& o) {
  const std::string offset = o.value ? "+" + std::to_string(o.value) : "";
  if (o.base == Operand::Kind::reg) return std::string(f.registers.at(o.index).name) + offset;
  if (o.base == Operand::Kind::variable)
    return "var:" + std::string(m.variables.at(o.index).name) + offset;
  return std::to_string(o.value);
}

inline std::string show(const Module& m, const Function& f, const Operand& o) {
  using Kind = Operand::Kind;
  const std::string second =
      o.second == none ? "" : "|" + std::string(f.registers.at(o.second).name);
  const std::string sign = o.negated ? "!" : "";
  switch (o.kind) {
    case Kind::sink:
      return "_" + second;
    case Kind::reg:
      return sign + std::string(f.registers.at(o.index).name) + second;
    case Kind::special:
      return std::string(spelling(Special(o.index)));
    case Kind::integer:
      return std::to_string(o.value);
    case Kind::f32:
      return "f32:" + std::to_string(o.value);
    case Kind::f64:
      return "f64:" + std::to_string(o.value);
    case Kind::variable:
      return "var:" + std::string(m.variables.at(o.index).name) +
             (o.value ? "+" + std::to_string(o.value) : "");
    case Kind::function:
      return "func:" + std::string(m.functions.at(o.index).name);
    case Kind::label:
      return "label:" + std::string(f.labels.at(o.index).name);
    case Kind::address:
      return "[" + show_address(m, f, o) + "]";
    case Kind::vector:
      return "{" + show_list(m, f, o) + "}";
    case Kind::list:
      return "(" + show_list(m, f, o) + ")";
    case Kind::table:
      return "table:" + std::string(f.tables.at(o.index).name);
  }
  return "?";
}

inline std::string show(const Module& m, const Function& f, const Instruction& in) {
  std::string text;
  if (in.guarded)
    text = std::string("@") + (in.guard_negated ? "!" : "") +
           std::string(f.registers.at(in.guard).name) + " ";
  text += in.name;
  for (const Operand& o : f.operands(in)) text += " " + show(m, f, o);
  return text;
}

// The first instruction of a kernel with that body.
inline std::string shown(std::string_view body) {
  const Module m = kernel(body);
  const Function& f = function(m);
  if (f.body.empty()) return "nothing";
  return show(m, f, f.body[0]);
}

}  // namespace inflight::ptx::testing
