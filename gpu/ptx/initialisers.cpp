// Initial values of variables (PTX ISA 5.4.4, 5.4.5).
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

// Parses what follows `=`.
bool Parser::initialiser(Variable& v, const Declaration& d, const Array& array) {
  if (v.type == Type::texref || v.type == Type::samplerref || v.type == Type::surfref)
    return reference_initialiser();
  if (v.space != Space::global && v.space != Space::constant)
    return lex_.fail("only .global and .const variables have initial values");
  const std::uint64_t left = Limits::initialised_bytes - initialised_;
  if (v.size > left)
    return lex_.fail(fmt::format("initialised variables of more than {} bytes are not supported",
                                 Limits::initialised_bytes));
  Fill f{&v, v.type, size_of(v.type), {}, v.unsized ? left : v.size};
  std::uint64_t stride = f.element;
  if (d.vector != 1) f.strides.push_back(stride), stride *= d.vector;
  for (std::size_t i = array.sizes.size(); i--; stride *= array.sizes[i]) {
    f.strides.insert(f.strides.begin(), stride);
    if (stride > left) return lex_.fail("this array is too large to be initialised");
  }
  std::uint64_t filled = 0;
  v.initial.resize(v.size);
  if (!fill(f, 0, 0, filled)) return false;
  if (v.unsized) v.size = (filled + f.strides[0] - 1) / f.strides[0] * f.strides[0];
  if (v.size > left) return lex_.fail("this array is too large to be initialised");
  v.unsized = false;
  v.initial.resize(v.size);
  initialised_ += v.size;
  return true;
}

// Skips a texture reference's `{addr_mode_0 = wrap, filter_mode = linear}`.
bool Parser::reference_initialiser() {
  return lex_.expect('{') && (lex_.skip_to('}') || lex_.expected("`}`"));
}

// Parses one value, or a braced list of the dimensions from `dimension` on, and stores it at
// `offset`. Sets `filled` to the offset after the last value.
bool Parser::fill(Fill& f, std::size_t dimension, std::uint64_t offset, std::uint64_t& filled) {
  if (lex_.peek() == '{') {
    if (dimension == f.strides.size()) return lex_.fail("there are too many braces here");
    return lex_.accept('{'), fill_list(f, dimension, offset, filled);
  }
  filled = offset + f.element;
  return fill_scalar(f, offset);
}

bool Parser::fill_list(Fill& f, std::size_t dimension, std::uint64_t offset,
                       std::uint64_t& filled) {
  const std::uint64_t stride = f.strides[dimension];
  const std::uint64_t end = dimension ? offset + f.strides[dimension - 1] : f.limit;
  std::uint64_t at = offset;
  filled = offset;
  if (lex_.accept('}')) return true;
  do {
    const bool nested = lex_.peek() == '{';
    if (nested && (at - offset) % stride) return lex_.fail("these braces start inside a row");
    const std::uint64_t size = nested ? stride : f.element;
    if (size > end - at) return lex_.fail("there are more values than the array has elements");
    if (!fill(f, dimension + 1, at, filled)) return false;
    at += size;
    filled = at;
  } while (lex_.accept(','));
  return lex_.expect('}');
}

bool Parser::fill_scalar(Fill& f, std::uint64_t offset) {
  const char* start = lex_.mark();
  if (is(*start, kWord) && !is(*start, kDigit) && !lex_.accept_word("WARP_SZ")) {
    Relocation r{};
    return symbol_address(r) && fill_address(f, offset, r, false);
  }
  lex_.rewind(start, lex_.line());
  Constant c;
  if (!constant(c)) return false;
  if (lex_.peek() == '(') return masked_address(f, offset, c.bits);
  return store(f, offset, c);
}

// Parses `symbol`, `symbol + 4` or `generic(symbol) - 8`.
bool Parser::symbol_address(Relocation& r) {
  std::string_view text;
  if (!name(text, "the name of a variable or function")) return false;
  r.generic = text == "generic" && lex_.accept('(');
  r.symbol = text;
  if (r.generic && !name(r.symbol, "the name of a variable or function")) return false;
  const Symbol s = symbols_.find(r.symbol, hash(r.symbol));
  if (s.kind != Symbol::Kind::variable && s.kind != Symbol::Kind::function)
    return lex_.fail_at(
        r.symbol.data(),
        fmt::format("`{}` is not a variable or function declared so far", r.symbol));
  if (!add_offset(r.addend)) return false;
  return !r.generic || (lex_.expect(')') && add_offset(r.addend));
}

// Parses the `+ 4 - 8` after a name.
bool Parser::add_offset(std::int64_t& value) {
  for (char c = lex_.peek(); c == '+' || c == '-'; c = lex_.peek()) {
    const char* start = lex_.mark();
    lex_.accept(c);
    Constant term;
    if (!expression(10, 0, term)) return false;
    if (term.kind != Literal::Kind::integer)
      return lex_.fail_at(start, "an offset is an integer, not a float");
    const std::uint64_t sum = std::uint64_t(value) + (c == '+' ? term.bits : 0 - term.bits);
    value = std::int64_t(sum);
  }
  return true;
}

// Parses what follows a mask. `0xff00(symbol)` is byte 1 of the address.
bool Parser::masked_address(Fill& f, std::uint64_t offset, std::uint64_t mask) {
  Relocation r{};
  const char* start = lex_.mark();
  if (!lex_.expect('(') || !symbol_address(r) || !lex_.expect(')')) return false;
  const int shift = mask ? std::countr_zero(mask) : 0;
  if (shift % 8 || mask >> shift != 0xff)
    return lex_.fail_at(start, fmt::format("0x{:x} is not a mask of one byte of an address", mask));
  if (f.element != 1) return lex_.fail_at(start, "a byte of an address initialises a .b8 or .u8");
  r.shift = std::uint8_t(shift);
  return fill_address(f, offset, r, true);
}

bool Parser::fill_address(Fill& f, std::uint64_t offset, Relocation r, bool masked) {
  if (is_float(f.type) || (!masked && f.element != 4 && f.element != 8))
    return lex_.fail_at(
        r.symbol.data(),
        fmt::format("an address does not fit a .{}: use .u64, or one byte of it: 0xff({})",
                    spelling(f.type), r.symbol));
  if (!reserve(f, offset)) return false;
  r.offset = std::uint32_t(offset), r.size = std::uint32_t(f.element);
  f.variable->relocations.push_back(r);
  return true;
}

bool Parser::reserve(Fill& f, std::uint64_t offset) {
  auto& bytes = f.variable->initial;
  if (offset + f.element > f.limit) return lex_.fail("this array is too large to be initialised");
  if (offset + f.element > bytes.size()) bytes.resize(offset + f.element);
  return true;
}

namespace {

// The bits that a constant gives a variable of that type, as in ptxas. A .b32 or .f32 gets the
// double rounded to f32. A .b64 or .f64 gets the double's bits.
bool fits(Type type, Literal::Kind kind) {
  const bool is_integer = kind == Literal::Kind::integer;
  if (is_float(type)) return !is_integer && (type == Type::f32 || type == Type::f64);
  return is_integer || type == Type::b32 || type == Type::b64;
}

std::uint64_t bits_for(Type type, Literal::Kind kind, std::uint64_t bits) {
  if (kind != Literal::Kind::f64 || size_of(type) != 4) return bits;
  return std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(bits)));
}

}  // namespace

bool Parser::store(Fill& f, std::uint64_t offset, const Constant& c) {
  if (!fits(f.type, c.kind))
    return lex_.fail(fmt::format("{} cannot initialise a .{}",
                                 c.kind == Literal::Kind::integer ? "an integer" : "a float",
                                 spelling(f.type)));
  if (!reserve(f, offset)) return false;
  const std::uint64_t bits = bits_for(f.type, c.kind, c.bits);
  std::memcpy(f.variable->initial.data() + offset, &bits, std::min<std::size_t>(f.element, 8));
  return true;
}

}  // namespace inflight::ptx
