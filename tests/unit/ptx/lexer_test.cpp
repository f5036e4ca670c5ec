// Words, literals, comments and positions.
#include "gpu/ptx/lexer.hpp"

#include <gtest/gtest.h>

namespace inflight::ptx {
namespace {

struct Number {
  const char* text;
  Literal::Kind kind;
  std::uint64_t bits;
  bool is_unsigned = false;
};

TEST(Lexer, ReadsEveryKindOfNumber) {
  using Kind = Literal::Kind;
  const Number numbers[] = {
      {"0", Kind::integer, 0},
      {"42", Kind::integer, 42},
      {"42U", Kind::integer, 42, true},
      {"0x1F", Kind::integer, 31},
      {"0XffU", Kind::integer, 255, true},
      {"0755", Kind::integer, 0755},
      {"0b101", Kind::integer, 5},
      {"18446744073709551615", Kind::integer, ~std::uint64_t{0}, true},
      {"0f3f800000", Kind::f32, 0x3f800000},
      {"0FBF800000", Kind::f32, 0xbf800000},
      {"0d3ff0000000000000", Kind::f64, 0x3ff0000000000000},
      {"0D0000000000000001", Kind::f64, 1},
      {"1.5", Kind::f64, 0x3ff8000000000000},
      {"1e3", Kind::f64, 0x408f400000000000},
      {"2.", Kind::f64, 0x4000000000000000},
      {"0.25", Kind::f64, 0x3fd0000000000000},
      {".5", Kind::f64, 0x3fe0000000000000},
      {"25e-1", Kind::f64, 0x4004000000000000},
  };
  for (const Number& n : numbers) {
    const std::string text = std::string(n.text) + ";";
    Lexer lex(text);
    Literal l;
    ASSERT_TRUE(lex.literal(l)) << n.text << ": " << lex.error().message;
    EXPECT_EQ(l.kind, n.kind) << n.text;
    EXPECT_EQ(l.bits, n.bits) << n.text;
    EXPECT_EQ(l.is_unsigned, n.is_unsigned) << n.text;
    EXPECT_EQ(lex.peek(), ';') << n.text;
  }
}

TEST(Lexer, RefusesMalformedNumbers) {
  for (const char* text : {"0f3f80", "0f3f80000000", "0d3ff", "0xg", "09", "18446744073709551616",
                           "12ab", "0b2", "1e", "1.5x", "0x", "1e999"}) {
    const std::string owned = text;
    Lexer lex(owned);
    Literal l;
    EXPECT_FALSE(lex.literal(l)) << text;
    EXPECT_FALSE(lex.error().message.empty()) << text;
  }
}

TEST(Lexer, SkipsCommentsAndCountsTheirLines) {
  const std::string text = " // one\n/* two\nthree */ word /* open";
  Lexer lex(text);
  EXPECT_EQ(lex.word(), "word");
  EXPECT_EQ(lex.line(), 3u);
  EXPECT_TRUE(lex.at_end());
}

TEST(Lexer, TakesWordsAndDottedWords) {
  const std::string text = "$L__BB0_1 %r1 .shared::cta .v4 _x 9a";
  Lexer lex(text);
  EXPECT_EQ(lex.word(), "$L__BB0_1");
  EXPECT_EQ(lex.word(), "%r1");
  EXPECT_EQ(lex.dotted(), ".shared::cta");
  EXPECT_EQ(lex.dotted(), ".v4");
  EXPECT_EQ(lex.word(), "_x");
  EXPECT_EQ(lex.word(), "");  // no word begins with a digit
}

TEST(Lexer, SaysWhereAndWhatItFound) {
  const std::string text = "\n  abc.def;";
  Lexer lex(text);
  EXPECT_FALSE(lex.expect(','));
  EXPECT_EQ(lex.error().message, "expected `,`, found `abc.def`");
  EXPECT_EQ(lex.error().line, 2u);
  EXPECT_EQ(lex.error().column, 3u);
}

TEST(Lexer, KeepsTheFirstError) {
  const std::string text = "\x01";
  Lexer lex(text);
  lex.expected("a name");
  lex.fail("later");
  EXPECT_EQ(lex.error().message, "expected a name, found the byte 0x01");
}

TEST(Lexer, ReadsAZeroByteInTheTextAsAByte) {
  const std::string text("a\0b", 3);
  Lexer lex(text);
  EXPECT_EQ(lex.word(), "a");
  EXPECT_FALSE(lex.at_end());
  EXPECT_FALSE(lex.expect(';'));
  EXPECT_EQ(lex.error().message, "expected `;`, found the byte 0x00");
}

TEST(Lexer, StringsEndOnTheirLine) {
  const std::string text = "\"a b\" \"open\n\"";
  Lexer lex(text);
  std::string_view s;
  EXPECT_TRUE(lex.string(s));
  EXPECT_EQ(s, "a b");
  EXPECT_FALSE(lex.string(s));
  EXPECT_EQ(lex.error().column, 7u);
}

}  // namespace
}  // namespace inflight::ptx
