// Constant expressions: C's operators on 64-bit integers (PTX ISA 4.6).
#include <fmt/format.h>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

enum class Operator : std::uint8_t {
  or_else,
  and_also,
  or_,
  xor_,
  and_,
  equal,
  unequal,
  less,
  at_most,
  greater,
  at_least,
  left,
  right,
  plus,
  minus,
  times,
  over,
  modulo,
};

struct OperatorName {
  std::string_view text;
  Operator op;
  int precedence;
};

// Two-character operators come before one-character ones: the first match counts.
constexpr OperatorName kOperators[] = {
    {"||", Operator::or_else, 1}, {"&&", Operator::and_also, 2}, {"==", Operator::equal, 6},
    {"!=", Operator::unequal, 6}, {"<=", Operator::at_most, 7},  {">=", Operator::at_least, 7},
    {"<<", Operator::left, 8},    {">>", Operator::right, 8},    {"|", Operator::or_, 3},
    {"^", Operator::xor_, 4},     {"&", Operator::and_, 5},      {"<", Operator::less, 7},
    {">", Operator::greater, 7},  {"+", Operator::plus, 9},      {"-", Operator::minus, 9},
    {"*", Operator::times, 10},   {"/", Operator::over, 10},     {"%", Operator::modulo, 10},
};

const OperatorName* operator_at(const char* p) {
  if (*p == ',' || *p == ';' || *p == ']') return nullptr;  // where most constants end
  for (const OperatorName& o : kOperators)
    if (*p == o.text[0] && (o.text.size() == 1 || p[1] == o.text[1])) return &o;
  return nullptr;
}

template <class T>
std::uint64_t compare(Operator op, T a, T b) {
  switch (op) {
    case Operator::less:
      return a < b;
    case Operator::at_most:
      return a <= b;
    case Operator::greater:
      return a > b;
    case Operator::at_least:
      return a >= b;
    default:
      return 0;
  }
}

std::uint64_t divide(std::uint64_t a, std::uint64_t b, bool is_unsigned, bool want_remainder) {
  if (is_unsigned) return want_remainder ? a % b : a / b;
  if (b == ~std::uint64_t{0}) return want_remainder ? 0 : 0 - a;  // -1: INT64_MIN / -1 wraps
  return std::uint64_t(want_remainder ? std::int64_t(a) % std::int64_t(b)
                                      : std::int64_t(a) / std::int64_t(b));
}

std::uint64_t shift_right(std::uint64_t a, std::uint64_t n, bool is_unsigned) {
  if (n > 63) return !is_unsigned && a >> 63 ? ~std::uint64_t{0} : 0;
  return is_unsigned ? a >> n : std::uint64_t(std::int64_t(a) >> n);
}

// The caller rules out a division by zero.
std::uint64_t apply(Operator op, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  switch (op) {
    case Operator::or_else:
      return a || b;
    case Operator::and_also:
      return a && b;
    case Operator::or_:
      return a | b;
    case Operator::xor_:
      return a ^ b;
    case Operator::and_:
      return a & b;
    case Operator::equal:
      return a == b;
    case Operator::unequal:
      return a != b;
    case Operator::left:
      return b > 63 ? 0 : a << b;
    case Operator::right:
      return shift_right(a, b, is_unsigned);
    case Operator::plus:
      return a + b;
    case Operator::minus:
      return a - b;
    case Operator::times:
      return a * b;
    case Operator::over:
      return divide(a, b, is_unsigned, false);
    case Operator::modulo:
      return divide(a, b, is_unsigned, true);
    default:
      break;
  }
  return is_unsigned ? compare(op, a, b) : compare(op, std::int64_t(a), std::int64_t(b));
}

bool is_predicate(Operator op) {
  return op <= Operator::and_also || (op >= Operator::equal && op <= Operator::at_least);
}

}  // namespace

bool Parser::constant(Constant& value) { return expression(0, 0, value); }

bool Parser::constant_integer(std::uint64_t& value, std::string_view what) {
  const char* start = lex_.mark();
  Constant c;
  if (!constant(c)) return false;
  if (c.kind != Literal::Kind::integer)
    return lex_.fail_at(start, fmt::format("expected {}: an integer, not a float", what));
  value = c.bits;
  return true;
}

// Parses operators of precedence `lowest` or higher. 0 includes the conditional operator.
bool Parser::expression(int lowest, unsigned depth, Constant& left) {
  if (!unary(depth, left)) return false;
  for (;;) {
    lex_.skip();
    const char* at = lex_.raw();
    if (lowest == 0 && *at == '?') {
      Constant yes, no;
      lex_.accept('?');
      if (depth > Limits::nesting) return lex_.fail("this expression is nested too deeply");
      if (!expression(0, depth + 1, yes) || !lex_.expect(':') || !expression(0, depth + 1, no))
        return false;
      left = left.bits ? yes : no;
      continue;
    }
    const OperatorName* o = operator_at(at);
    if (!o || o->precedence < lowest) return true;
    lex_.rewind(at + o->text.size(), lex_.line());
    Constant right;
    if (!expression(o->precedence + 1, depth, right)) return false;
    if (left.kind != Literal::Kind::integer || right.kind != Literal::Kind::integer)
      return lex_.fail_at(at, "only integers may be combined in a constant expression");
    if ((o->op == Operator::over || o->op == Operator::modulo) && !right.bits)
      return lex_.fail_at(at, "this constant expression divides by zero");
    const bool shift = o->op == Operator::left || o->op == Operator::right;
    const bool is_unsigned = left.is_unsigned || (right.is_unsigned && !shift);
    left.bits = apply(o->op, left.bits, right.bits, is_unsigned);
    left.is_unsigned = is_unsigned && !is_predicate(o->op);
  }
}

bool Parser::unary(unsigned depth, Constant& value) {
  if (depth > Limits::nesting) return lex_.fail("this expression is nested too deeply");
  const char* at = lex_.mark();
  const char c = *at;
  if (c == '(') return parenthesised(depth, value);
  if (c == '-' || c == '+' || c == '!' || c == '~') {
    lex_.accept(c);
    if (!unary(depth + 1, value)) return false;
    if (c == '+') return true;
    if (c == '-' && value.kind != Literal::Kind::integer)
      return value.bits ^= std::uint64_t{1} << (value.kind == Literal::Kind::f32 ? 31 : 63), true;
    if (value.kind != Literal::Kind::integer)
      return lex_.fail_at(at, fmt::format("`{}` applies to integers", c));
    value.bits = c == '-' ? 0 - value.bits : c == '!' ? !value.bits : ~value.bits;
    return true;
  }
  if (!is(c, kDigit) && c != '.')
    return lex_.accept_word("WARP_SZ") ? (value = {Literal::Kind::integer, false, 32}, true)
                                       : lex_.expected("a constant");
  Literal l;
  if (!lex_.literal(l)) return false;
  value = {l.kind, l.is_unsigned, l.bits};
  return true;
}

// Parses `(expression)`, or a cast `(.u64) expression`.
bool Parser::parenthesised(unsigned depth, Constant& value) {
  lex_.accept('(');
  if (lex_.peek() == '.' && !is(lex_.ahead(), kDigit)) return cast(lex_.dotted(), depth, value);
  return expression(0, depth + 1, value) && lex_.expect(')');
}

bool Parser::cast(std::string_view type, unsigned depth, Constant& value) {
  if (type != ".s64" && type != ".u64")
    return lex_.fail_at(type.data(), "a constant is cast to .s64 or .u64");
  if (!lex_.expect(')') || !unary(depth + 1, value)) return false;
  if (value.kind != Literal::Kind::integer)
    return lex_.fail_at(type.data(), "only integers are cast");
  value.is_unsigned = type == ".u64";
  return true;
}

}  // namespace inflight::ptx
