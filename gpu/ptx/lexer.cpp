// Lexer: comments, strings, number literals and error positions.
#include "gpu/ptx/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>

namespace inflight::ptx {

// Starts at a '/' and skips a comment. An unclosed /* runs to the end of the text.
bool Lexer::comment() {
  const char next = ahead();
  if (next == '/') {
    const char* text = p_ + 2;
    skip_line();
    if (*text == ' ') note({text, std::size_t(p_ - text)});
    return true;
  }
  if (next != '*') return false;
  for (p_ += 2; p_ < end_; ++p_) {
    if (p_[0] == '*' && p_[1] == '/') return p_ += 2, true;
    line_ += *p_ == '\n';
  }
  return true;
}

// LLVM writes these two comments around the text of inline assembly.
void Lexer::note(std::string_view text) {
  if (text == " begin inline asm") in_assembly_ = true;
  if (text == " end inline asm") in_assembly_ = false;
}

void Lexer::skip_line() {
  const void* end = std::memchr(p_, '\n', end_ - p_);
  p_ = end ? static_cast<const char*>(end) : end_;
}

bool Lexer::skip_to(char c) {
  for (; p_ < end_; ++p_) {
    line_ += *p_ == '\n';
    if (*p_ == c) return ++p_, true;
  }
  return false;
}

bool Lexer::skip_past(std::string_view text) {
  const auto at = std::string_view(p_, std::size_t(end_ - p_)).find(text);
  if (at == std::string_view::npos) return false;
  const char* const after = p_ + at + text.size();
  line_ += std::uint32_t(std::count(p_, after, '\n'));
  p_ = after;
  return true;
}

bool Lexer::expect(char c) { return accept(c) || expected(fmt::format("`{}`", c)); }

bool Lexer::accept_word(std::string_view text) {
  const char* start = mark();
  if (take(kWord) == text) return true;
  p_ = start;
  return false;
}

std::string_view Lexer::dotted() {
  if (peek() != '.') return {p_, 0};
  const char* start = p_++;
  take(kWord);
  while (p_[0] == ':' && p_[1] == ':') p_ += 2, take(kWord);
  return {start, std::size_t(p_ - start)};
}

bool Lexer::string(std::string_view& text) {
  if (!accept('"')) return expected("a string in quotes");
  const char* start = p_;
  while (p_ < end_ && *p_ != '"' && *p_ != '\n') ++p_;
  if (p_ == end_ || *p_ != '"') return fail_at(start - 1, "this string has no closing quote");
  text = {start, std::size_t(p_++ - start)};
  return true;
}

bool Lexer::fail_at(const char* where, std::string message) {
  if (failed()) return false;
  message_ = std::move(message);
  // The names of a range's variables are not in the text.
  const bool inside = !std::less<>()(where, begin_) && !std::less<>()(end_, where);
  where_ = inside ? where : p_;
  return false;
}

Error Lexer::error() const {
  const std::string_view before(begin_, where_ - begin_);
  const auto start = before.rfind('\n');
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (start == before.npos ? 0 : start + 1) + 1;
  return {message_, std::uint32_t(line), std::uint32_t(column)};
}

std::string Lexer::found() {
  if (p_ == end_) return "the end of the text";
  constexpr std::size_t kShown = 60;
  const char* start = p_;
  const char* q = p_;
  while (is(*q, kOpcode) && std::size_t(q - start) < kShown) ++q;
  if (q > start)
    return fmt::format("`{}`{}", std::string_view(start, q - start), is(*q, kOpcode) ? "..." : "");
  const auto c = std::uint8_t(*p_);
  return c > 32 && c < 127 ? fmt::format("`{}`", *p_) : fmt::format("the byte 0x{:02x}", c);
}

bool Lexer::expected(std::string_view what) {
  skip();
  return fail(fmt::format("expected {}, found {}", what, found()));
}

// Parses the bits of a float after 0f or 0d: exactly `digits` hexadecimal digits (PTX ISA 4.5.2).
bool Lexer::float_bits(unsigned digits, Literal& out) {
  const auto [end, error] = std::from_chars(p_, std::min(p_ + digits, end_), out.bits, 16);
  if (error != std::errc{} || end != p_ + digits || is(*end, kWord))
    return fail_at(p_ - 2, fmt::format("a float literal 0{} has exactly {} hexadecimal digits",
                                       digits == 8 ? 'f' : 'd', digits));
  out.kind = digits == 8 ? Literal::Kind::f32 : Literal::Kind::f64;
  p_ = end;
  return true;
}

bool Lexer::decimal_float(Literal& out) {
  double value = 0;
  const auto [end, error] = std::from_chars(p_, end_, value);
  if (error != std::errc{} || is(*end, kWord))
    return fail("this decimal number is malformed, or no f64 can hold it");
  out.kind = Literal::Kind::f64;
  out.bits = std::bit_cast<std::uint64_t>(value);
  p_ = end;
  return true;
}

bool Lexer::radix(unsigned base, Literal& out) {
  const char* start = p_;
  auto [end, error] = std::from_chars(p_, end_, out.bits, int(base));
  if (error == std::errc::result_out_of_range)
    return fail_at(start, "this integer is larger than 64 bits");
  out.is_unsigned = out.bits >> 63;
  if (end != start && (*end == 'U' || *end == 'u')) out.is_unsigned = true, ++end;
  if (error != std::errc{} || is(*end, kWord)) return fail_at(start, "this number is malformed");
  p_ = end;
  return true;
}

bool Lexer::literal(Literal& out) {
  skip();
  out = {};
  if (!is(*p_, kDigit) && *p_ != '.') return expected("a number");
  const char* q = p_;
  std::uint64_t value = 0;
  for (; is(*q, kDigit); ++q) value = 10 * value + std::uint64_t(*q - '0');
  // Most numbers are decimal integers, and short.
  constexpr std::ptrdiff_t kShort = 18;
  if ((*p_ != '0' || q == p_ + 1) && q - p_ <= kShort && !is(*q, kWord) && *q != '.' && q != p_)
    return out.bits = value, p_ = q, true;
  const char next = ahead() | 0x20;
  if (*p_ == '0' && q == p_ + 1) {
    if (next == 'x') return p_ += 2, radix(16, out);
    if (next == 'f') return p_ += 2, float_bits(8, out);
    if (next == 'd') return p_ += 2, float_bits(16, out);
    if (next == 'b') return p_ += 2, radix(2, out);
  }
  if (*q == '.' || *q == 'e' || *q == 'E') return decimal_float(out);
  return *p_ == '0' ? radix(8, out) : radix(10, out);
}

}  // namespace inflight::ptx
