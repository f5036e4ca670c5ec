// Declarations of variables and registers (PTX ISA 5.1, 5.4).
#include <fmt/format.h>

#include <bit>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

bool multiply(std::uint64_t& value, std::uint64_t by) {
  return !__builtin_mul_overflow(value, by, &value) && value <= Limits::variable_bytes;
}

}  // namespace

// Parses what follows the state space.
bool Parser::variables(Space space, Linkage linkage) {
  Declaration d;
  d.variable.space = space;
  d.variable.linkage = linkage;
  d.variable.function = current_;
  // The driver of an H200 accepts a .local variable outside functions, but no code can use it.
  const bool homeless = space == Space::local && current_ == none;
  if (homeless && linkage == Linkage::external)
    return lex_.fail("a .local variable belongs to a function: it cannot be declared outside one");
  if (!attributes(d)) return false;
  do {
    Declaration one = d;
    Array array;
    if (!declarator(one, array)) return false;
    if (array.sizes.empty() && lex_.accept('<')) {
      std::uint32_t count = 0;
      if (!range_count(count, Limits::variables, "variables")) return false;
      if (!homeless && !add_range(one.variable, count)) return false;
      continue;
    }
    if (lex_.accept('=') && !initialiser(one.variable, one, array)) return false;
    if (one.variable.unsized && linkage != Linkage::external)
      return lex_.fail(
          fmt::format("`{}` has no size: only an extern array may have none", one.variable.name));
    const char* place = one.variable.name.data();
    if (!homeless && !add_variable(std::move(one.variable), place)) return false;
  } while (lex_.accept(','));
  return lex_.expect(';');
}

// Parses alignment, vector size, type and other attributes, in any order, up to the name.
bool Parser::attributes(Declaration& d) {
  d.variable.alignment = 0;
  for (const char* start = lex_.mark(); lex_.here() == '.'; start = lex_.mark())
    if (!attribute(d, lex_.dotted()))
      return lex_.failed() ? false
                           : lex_.fail_at(start, fmt::format("`{}` does not apply to a variable",
                                                             lex_.since(start)));
  if (d.variable.type == Type::none) return lex_.expected("a type such as `.b32`");
  if (d.variable.space != Space::reg && size_of(d.variable.type) == 0)
    return lex_.fail("only a register can be a .pred");
  if (!d.variable.alignment)
    d.variable.alignment = std::max(1u, size_of(d.variable.type) * d.vector);
  return true;
}

bool Parser::attribute(Declaration& d, std::string_view word) {
  if (word == ".ptr") return pointer_attributes();
  if (word == ".attribute") return managed_attribute(d);
  if (word == ".align") {
    const char* start = lex_.mark();
    if (!integer(d.variable.alignment, "an alignment")) return false;
    return std::has_single_bit(d.variable.alignment) ||
           lex_.fail_at(start, "an alignment is a power of two");
  }
  const Word w = find_word(word.substr(1));
  if (w.kind == Word::Kind::vector) return d.vector = w.value, true;
  if (w.kind == Word::Kind::type) return d.variable.type = Type(w.value), true;
  return false;
}

// Parses the list in `.attribute(.managed)` or `.attribute(.unified(a, b))`.
bool Parser::managed_attribute(Declaration& d) {
  if (!lex_.expect('(')) return false;
  do {
    const auto word = lex_.dotted();
    if (word == ".managed") {
      d.variable.managed = true;
    } else if (word == ".unified") {
      if (!lex_.expect('(') || !lex_.skip_to(')')) return lex_.expected("`)`");
    } else {
      return lex_.expected("the attribute .managed or .unified");
    }
  } while (lex_.accept(','));
  return lex_.expect(')');
}

// Parses what follows `.ptr`: attributes of a parameter's pointee. They do not affect execution.
bool Parser::pointer_attributes() {
  for (const char* start = lex_.mark(); lex_.here() == '.'; start = lex_.mark()) {
    const auto word = lex_.dotted();
    std::uint32_t alignment;
    if (word == ".align" && !integer(alignment, "an alignment")) return false;
    if (word == ".align") continue;
    if (find_word(word.substr(1)).kind == Word::Kind::space) continue;
    lex_.rewind(start, lex_.line());
    return true;
  }
  return true;
}

bool Parser::declarator(Declaration& d, Array& array) {
  d.variable.line = (lex_.skip(), lex_.line());
  if (!name(d.variable.name, "the name of a variable") || !dimensions(array)) return false;
  return variable_size(d, array, d.variable);
}

bool Parser::dimensions(Array& array) {
  while (lex_.accept('[')) {
    std::uint64_t size = 0;
    const char* start = lex_.mark();
    const bool open = lex_.peek() == ']';
    if (open && !array.sizes.empty())
      return lex_.fail("only an array's first dimension may have no size");
    if (!open && !constant_integer(size, "the size of an array")) return false;
    if (!open && (size == 0 || size > Limits::variable_bytes))
      return lex_.fail_at(start, fmt::format("an array of {} elements is not possible", size));
    if (array.sizes.size() == Limits::nesting) return lex_.fail("an array has too many dimensions");
    array.sizes.push_back(size);
    if (!lex_.expect(']')) return false;
  }
  return true;
}

bool Parser::variable_size(const Declaration& d, const Array& array, Variable& v) {
  v.unsized = !array.sizes.empty() && array.sizes[0] == 0;
  std::uint64_t size = size_of(v.type) * d.vector;
  for (std::uint64_t n : array.sizes)
    if (n && !multiply(size, n))
      return lex_.fail_at(
          v.name.data(),
          fmt::format("`{}` is larger than the 2^40 bytes that are supported", v.name));
  v.size = v.unsized ? 0 : size;
  return true;
}

// Parses the `3>` of `name<3>`, a number of `what`.
bool Parser::range_count(std::uint32_t& count, std::uint64_t most, std::string_view what) {
  const char* start = lex_.mark();
  if (!integer(count, fmt::format("a number of {}", what)) || !lex_.expect('>')) return false;
  return count <= most ||
         lex_.fail_at(start, fmt::format("{} {} are more than the {} that are supported", count,
                                         what, most));
}

// Adds `name0`, `name1` and so on, for `name<count>`.
bool Parser::add_range(const Variable& like, std::uint32_t count) {
  ranged_ += count;
  if (ranged_ > Limits::variables)
    return lex_.fail_at(like.name.data(), fmt::format("the ranges of this module hold more than "
                                                      "the {} variables that are supported",
                                                      Limits::variables));
  for (std::uint32_t i = 0; i < count; ++i) {
    Variable one = like;
    one.name = strings_->emplace_back(fmt::format("{}{}", like.name, i));
    if (!add_variable(std::move(one), like.name.data())) return false;
  }
  return true;
}

// Errors are reported at `place`, where the text declares it.
bool Parser::add_variable(Variable v, const char* place) {
  const std::uint32_t h = hash(v.name);
  const Symbol old = symbols_.find(v.name, h);
  const std::uint32_t depth = symbols_.depth();
  if (depth == 0 && old.kind == Symbol::Kind::variable) return merge_variable(old.index, v, place);
  const Symbol s{.kind = Symbol::Kind::variable,
                 .index = std::uint32_t(module_.variables.size()),
                 .depth = depth};
  if (!symbols_.declare(v.name, h, s))
    return lex_.fail_at(place, fmt::format("`{}` is already declared in this scope", v.name));
  module_.variables.push_back(std::move(v));
  return true;
}

// Merges a repeated module-scope name, a declaration and its definition. As ptxas, it compares
// types and sizes, but not alignments, and refuses a second definition, even if both are weak.
bool Parser::merge_variable(std::uint32_t index, Variable& v, const char* place) {
  Variable& old = module_.variables[index];
  if (old.space != v.space)
    return lex_.fail_at(
        place, fmt::format("`{}` is declared on line {} in another state space", v.name, old.line));
  if (old.type != v.type || (!old.unsized && !v.unsized && old.size != v.size))
    return lex_.fail_at(place, fmt::format("`{}` is declared on line {} with another {}", v.name,
                                           old.line, old.type != v.type ? "type" : "size"));
  if (v.linkage == Linkage::external) return true;
  if (old.linkage != Linkage::external)
    return lex_.fail_at(place, fmt::format("`{}` is already defined on line {}", v.name, old.line));
  old = std::move(v);
  return true;
}

// Parses what follows `.reg`.
bool Parser::registers() {
  Declaration d;
  d.variable.space = Space::reg;
  if (!attributes(d)) return false;
  do {
    if (!register_name(d.variable.type, d.vector)) return false;
  } while (lex_.accept(','));
  return lex_.expect(';');
}

bool Parser::register_name(Type type, unsigned vector) {
  std::string_view text;
  if (!name(text, "the name of a register")) return false;
  const std::uint32_t depth = symbols_.depth();
  bool fresh;
  if (lex_.accept('<')) {
    Symbol s{.kind = Symbol::Kind::range, .type = std::uint8_t(type), .depth = depth};
    s.width = std::uint8_t(vector);
    if (!range_count(s.count, Limits::registers, "registers")) return false;
    fresh = symbols_.declare_range(text, hash(text), s);
  } else {
    fresh = symbols_.declare(text, hash(text), make_register(text, type, vector, depth));
  }
  return fresh ||
         lex_.fail_at(text.data(), fmt::format("`{}` is already declared in this scope", text));
}

// Makes a register, or one for each element of a vector.
Symbol Parser::make_register(std::string_view text, Type type, unsigned width,
                             std::uint32_t depth) {
  Symbol s{.kind = width == 1 ? Symbol::Kind::reg : Symbol::Kind::vector,
           .type = std::uint8_t(type),
           .width = std::uint8_t(width),
           .index = std::uint32_t(registers_.size()),
           .depth = depth};
  for (unsigned i = 0; i < width; ++i) registers_.push_back({type, text});
  return s;
}

}  // namespace inflight::ptx
