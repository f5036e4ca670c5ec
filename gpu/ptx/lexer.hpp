// A cursor over PTX text: white space, words, punctuation, literals, errors (PTX ISA 4.2 to 4.5).
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "gpu/ptx/parse.hpp"

namespace inflight::ptx {

enum CharClass : std::uint8_t { kSpace = 1, kWord = 2, kDigit = 4, kOpcode = 8 };

inline constexpr std::array<std::uint8_t, 256> kCharClasses = [] {
  std::array<std::uint8_t, 256> t{};
  for (char c : {' ', '\t', '\r', '\v', '\f', '\n'}) t[std::uint8_t(c)] |= kSpace;
  for (int c = '0'; c <= '9'; ++c) t[c] |= kDigit | kWord | kOpcode;
  for (int c = 0; c < 26; ++c) t['a' + c] |= kWord | kOpcode, t['A' + c] |= kWord | kOpcode;
  for (char c : {'_', '$', '%'}) t[std::uint8_t(c)] |= kWord | kOpcode;
  for (char c : {'.', ':'}) t[std::uint8_t(c)] |= kOpcode;
  return t;
}();

constexpr bool is(char c, std::uint8_t classes) { return kCharClasses[std::uint8_t(c)] & classes; }

std::uint32_t hash(std::string_view);

// A number as written. Decimal floats are f64, as in PTX.
struct Literal {
  enum class Kind : std::uint8_t { integer, f32, f64 };
  Kind kind = Kind::integer;
  bool is_unsigned = false;  // written with U, or too large for s64
  std::uint64_t bits = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text)
      : begin_(text.data()), p_(begin_), end_(begin_ + text.size()) {}

  // Skips white space and comments. The functions below do this first, unless noted, and leave the
  // cursor directly after the text that they consumed.
  void skip();
  bool at_end() { return skip(), p_ == end_; }
  char peek() { return skip(), *p_; }  // 0 at the end
  char here() const { return *p_; }    // does not skip
  char ahead() const { return p_ < end_ ? p_[1] : 0; }
  bool accept(char c) { return peek() == c && p_ < end_ ? (++p_, true) : false; }
  bool expect(char c);                          // fails if absent
  bool accept_word(std::string_view);           // exactly this word
  std::string_view word();                      // empty if there is none
  std::string_view dotted();                    // `.word`, with the dot; empty if none
  std::string_view take(std::uint8_t classes);  // the longest run; does not skip
  bool string(std::string_view& text);          // "..." with no escapes
  bool literal(Literal&);                       // unsigned; a sign is an operator
  bool skip_to(char c);                         // to after the next c; false if there is none
  bool skip_past(std::string_view text);        // the same for a text; stays if there is none
  void skip_line();

  std::uint32_t line() const { return line_; }
  bool in_assembly() const { return in_assembly_; }  // LLVM's comments mark inline assembly
  const char* mark() { return skip(), p_; }
  const char* raw() const { return p_; }
  std::string_view since(const char* mark) const { return {mark, std::size_t(p_ - mark)}; }
  // Moves the cursor to `mark`, which is on line `line`.
  void rewind(const char* mark, std::uint32_t line) { p_ = mark, line_ = line; }

  // Records an error unless there is one already. Always returns false.
  bool fail(std::string message) { return fail_at(p_, std::move(message)); }
  bool fail_at(const char* where, std::string message);
  bool expected(std::string_view what);  // "expected <what>, found ..."
  bool failed() const { return !message_.empty(); }
  Error error() const;  // counts lines, so it is slow
  void forget_error() { message_.clear(); }

 private:
  bool comment();
  void note(std::string_view comment);
  std::string found();
  bool float_bits(unsigned digits, Literal&);
  bool decimal_float(Literal&);
  bool radix(unsigned base, Literal&);

  const char* begin_;
  const char* p_;
  const char* end_;
  std::uint32_t line_ = 1;
  bool in_assembly_ = false;
  std::string message_;  // the error, if there is one
  const char* where_ = nullptr;
};

inline void Lexer::skip() {
  for (;;) {
    while (is(*p_, kSpace)) line_ += *p_++ == '\n';
    if (*p_ != '/' || !comment()) return;
  }
}

inline std::string_view Lexer::take(std::uint8_t classes) {
  const char* start = p_;
  while (is(*p_, classes)) ++p_;
  return {start, std::size_t(p_ - start)};
}

inline std::string_view Lexer::word() {
  skip();
  return is(*p_, kDigit) ? std::string_view(p_, 0) : take(kWord);
}

[[gnu::always_inline]] inline std::uint32_t hash(std::string_view s) {
  constexpr std::uint64_t k = 0x9e3779b97f4a7c15;
  std::uint64_t h = s.size() * k;
  const char* p = s.data();
  std::size_t n = s.size();
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t w;
    std::memcpy(&w, p, 8);
    h = (h ^ w) * k, h ^= h >> 29;
  }
  std::uint64_t w = 0;
  if (n >= 4) {  // the two halves overlap
    std::uint32_t low, high;
    std::memcpy(&low, p, 4), std::memcpy(&high, p + n - 4, 4);
    w = std::uint64_t{high} << 32 | low;
  } else if (n > 0) {
    const auto at = [p](std::size_t i) { return std::uint64_t(std::uint8_t(p[i])); };
    w = at(0) | at(n / 2) << 8 | at(n - 1) << 16;
  }
  h = (h ^ w) * k;
  return std::uint32_t(h >> 32);
}

}  // namespace inflight::ptx
