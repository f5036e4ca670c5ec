// Every error is a sentence with its position.
#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::kernel_text;
using testing::try_parse;
using testing::with_header;

struct Case {
  const char* text;
  const char* message;
};

void expect_errors(std::initializer_list<Case> cases, std::string (*wrap)(std::string_view)) {
  for (const Case& c : cases) {
    const auto m = try_parse(wrap(c.text));
    ASSERT_FALSE(m) << c.text;
    EXPECT_EQ(m.error().message, c.message) << c.text;
    EXPECT_GT(m.error().line, 0u);
    EXPECT_GT(m.error().column, 0u);
  }
}

std::string as_is(std::string_view text) { return std::string(text); }

TEST(Errors, OfTheHead) {
  expect_errors(
      {
          {"", "there is no `.version` directive"},
          {"hello", "expected a directive such as `.version`, found `hello`"},
          {".global .u32 x;", "a PTX text starts with `.version`, not with `.global`"},
          {".version x", "expected a version such as 9.0, found `x`"},
          {".version 9", "expected a version such as 9.0, found `9`"},
          {".version 0.1", "there is no PTX version 0"},
          {".version 9.0 .target", "expected a target such as sm_90, found the end of the text"},
          {".version 9.0 .target sm_90 .address_size 48", "an address has 32 or 64 bits"},
      },
      as_is);
}

TEST(Errors, OfTheModule) {
  expect_errors(
      {
          {".frob 3", "`.frob` is not a directive allowed here"},
          {".visible 7", "expected a declaration after the linkage, found `7`"},
          {"x", "expected a directive, found `x`"},
          {".global x;", "expected a type such as `.b32`, found `x`"},
          {".global .u32 7;", "expected the name of a variable, found `7`"},
          {".global .u32 x", "expected `;`, found the end of the text"},
          {".global .pred x;", "only a register can be a .pred"},
          {".global .frob .u32 x;", "`.frob` does not apply to a variable"},
          {".global .align 3 .u32 x;", "an alignment is a power of two"},
          {".global .u32 x; .global .u32 x;", "`x` is already defined on line 4"},
          {".weak .global .u32 x; .weak .global .u32 x;", "`x` is already defined on line 4"},
          {".common .global .u32 x; .weak .global .u32 x;", "`x` is already defined on line 4"},
          {".global .u32 x; .const .u32 x;", "`x` is declared on line 4 in another state space"},
          {".extern .global .u32 x; .global .f32 x;",
           "`x` is declared on line 4 with another type"},
          {".extern .global .u32 x[]; .global .b8 x[4];",
           "`x` is declared on line 4 with another type"},
          {".extern .global .u32 x[8]; .global .u32 x[4];",
           "`x` is declared on line 4 with another size"},
          {".global .u32 x[4]; .extern .global .u32 x[8];",
           "`x` is declared on line 4 with another size"},
          {".global .u32 x[];", "`x` has no size: only an extern array may have none"},
          {".global .u32 x[0];", "an array of 0 elements is not possible"},
          {".global .u32 x[2][];", "only an array's first dimension may have no size"},
          {".global .u32 x[1.5];", "expected the size of an array: an integer, not a float"},
          {".global .u32 x[1/0];", "this constant expression divides by zero"},
          {".global .u32 x = y;", "`y` is not a variable or function declared so far"},
          {".global .u32 x[2] = {1,2,3};", "there are more values than the array has elements"},
          {".global .u32 x[2] = {{1}};", "there are too many braces here"},
          {".global .u32 x = {1;", "there are too many braces here"},
          {".global .u8 x[2][2] = {1, {2}};", "these braces start inside a row"},
          {".global .u16 y; .global .u16 x = y;",
           "an address does not fit a .u16: use .u64, or one byte of it: 0xff(y)"},
          {".global .u8 y; .global .u8 x = y;",
           "an address does not fit a .u8: use .u64, or one byte of it: 0xff(y)"},
          {".global .u8 y; .global .u8 x = 0xf0(y);",
           "0xf0 is not a mask of one byte of an address"},
          {".global .f16 x = 1.0;", "a float cannot initialise a .f16"},
          {".global .u32 x = 1.0;", "a float cannot initialise a .u32"},
          {".global .b16 x = 1.0;", "a float cannot initialise a .b16"},
          {".global .f64 x = 1;", "an integer cannot initialise a .f64"},
          {".shared .u32 x = 1;", "only .global and .const variables have initial values"},
          {".alias a, b;", "`b` is not a function declared so far"},
          {".func f() { ret; } .alias f, f;", "`f` is an alias of itself"},
          {".func f() { ret; } .func g() { ret; } .alias f, g;",
           "`f` has a body, so it cannot be an alias"},
          {".file 1 x", "expected a string in quotes, found `x`"},
          {".file 1 \"x", "this string has no closing quote"},
          {".section .debug_info { .b8 1",
           "expected `}` at the end of this section, found the end "
           "of the text"},
      },
      [](std::string_view t) { return with_header(t); });
}

TEST(Errors, OfFunctions) {
  expect_errors(
      {
          {".entry", "expected the name of a function, found the end of the text"},
          {".entry k(", "expected a `.param` or `.reg` parameter, found the end of the text"},
          {".entry k(.param .u32 a, .param .u32 a) { }", "two parameters are named `a`"},
          {".entry k() .frob 3 { }", "`.frob` does not apply to a function"},
          {".entry k() .maxntid x { }", "expected a number of threads or blocks, found `x`"},
          {".entry k() .maxntid 1,1,1,1 { }", "at most three dimensions are allowed here"},
          {".entry k() { ret; } .entry k() { }", "`k` already has a body, on line 4"},
          {".global .u32 k; .entry k() { }", "`k` is already a variable"},
          {".entry k() { ret;", "the body of `k` has no closing `}`"},
          {".entry k() { { ret; }", "the body of `k` has no closing `}`"},
          {".entry k() { bra L; }", "`L` is not declared in `k`"},
          {".entry k() { { L: } bra L; }", "`L` is not declared in `k`"},
          {".entry k() { L: L: }", "`L` is already declared in this scope"},
          {".entry k() { call f; }", "`f` is not declared in `k`"},
          {".entry k() { T: .calltargets f; }", "`f` is not a function declared so far"},
          {".entry k() .maxnreg 99999999999 { }", "expected an integer: an integer below 2^32"},
      },
      [](std::string_view t) { return with_header(t); });
}

TEST(Errors, OfBodies) {
  expect_errors(
      {
          {"add.s32 %r1, %r2, %r99;", "`%r99` is not declared"},
          {"add.s32 %r1, %r2, x;", "`x` is not declared in `k`"},
          {"add.s32 %r1 %r2;", "expected `;`, found `%r2`"},
          {"add.s32 %r1, , %r2;", "expected an operand, found `,`"},
          {"ld.global.u32 %r1, [%rd1;", "expected `]`, found `;`"},
          {"ld.global.u32 %r1, [nowhere];",
           "`nowhere` is not a register or variable declared so far"},
          {"ld.global.u32 %r1, [%rd1+%rd2];", "expected a constant, found `%rd2`"},
          {"ld.global.u32 %r1, [%rd1+1.5];", "an offset is an integer, not a float"},
          {"mov.b32 %r1, {%h0, {%h1}};", "expected an operand, found `{`"},
          {"ld.shared.u32 %r1, s[%r1;", "expected `]`, found `;`"},
          {"mov.b32 %r1, (%h0);", "expected a constant, found `%h0`"},
          {"mov.b32 %r1, {%h0, %h1;", "expected `}`, found `;`"},
          {"@%r1 ret;", "`%r1` guards an instruction but is not a predicate"},
          {"@%px ret;", "`%px` is not a register declared so far"},
          {"@%p1 ;", "expected an instruction, found `;`"},
          {"setp.eq.s32 %p1|x, %r1, %r2;", "`x` is not a register declared so far"},
          {"vadd.s32.s32.s32 %r1, %r2.b9, %r3;", "`.b9` is not a part of a register"},
          {".reg .v2 .f32 v; mov.f32 %f1, v.z;", "`.z` is not a component of this register"},
          {".reg .b32 %r<3>;", "`%r` is already declared in this scope"},
          {".reg .b32 q; .reg .b32 q;", "`q` is already declared in this scope"},
          {".entry x() { }", "`.entry` is not a directive allowed in a function"},
          {".loc 1 2", "expected a column, found `}`"},
          {".loc 1 2 3, inlined_at 1 2 3", "expected `function_name`, found `inlined_at`"},
          {"\xff", "expected an instruction, a directive or a label, found the byte 0xff"},
          {"mov.u32 %r1, 0x1ffffffffffffffff;", "this integer is larger than 64 bits"},
          {"mov.f32 %f1, 0f3f8;", "a float literal 0f has exactly 8 hexadecimal digits"},
      },
      kernel_text);
}

TEST(Errors, PointAtTheOffender) {
  const auto m =
      try_parse(with_header(".entry k() {\n.reg .b32 %r<4>;\n  add.s32 %r1, %r2, %r7;\n}"));
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().line, 6u);
  EXPECT_EQ(m.error().column, 21u);
}

TEST(Errors, VersionsOfNoDriverAreNamed) {
  const auto m = try_parse(".version 1.3\n.target sm_13\n");
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().message, "PTX before version 1.4 is not accepted by current drivers");
}

TEST(Errors, ANullTextIsOne) {
  const auto m = parse(nullptr, "x");
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().message, "there is no text to parse");
}

}  // namespace
}  // namespace inflight::ptx
