// Short texts are cheap to parse, and time grows linearly with the text.
#include <ctime>

#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::kernel_text;
using testing::try_parse;
using testing::with_header;

std::string repeat(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string error_of(std::string text) {
  const auto m = try_parse(std::move(text));
  return m ? "none" : m.error().message;
}

TEST(Limits, HugeDeclarationsAreErrors) {
  EXPECT_EQ(error_of(with_header(".global .b8 x[1152921504606846976];")),
            "an array of 1152921504606846976 elements is not possible");
  EXPECT_EQ(error_of(with_header(".global .b64 x[1048576][1048576];")),
            "`x` is larger than the 2^40 bytes that are supported");
  EXPECT_EQ(error_of(with_header(".global .b8 x[4294967296] = {1};")),
            "initialised variables of more than 268435456 bytes are not supported");
  EXPECT_EQ(error_of(with_header(".global .b8 x[][1000000000] = {{1},{2}};")),
            "this array is too large to be initialised");
  EXPECT_EQ(error_of(kernel_text(".reg .b32 %x<4000000000>;")),
            "4000000000 registers are more than the 16777216 that are supported");
}

TEST(Limits, InitialisedBytesAreCountedOverTheModule) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += ".global .b8 x" + std::to_string(i) + "[10000000] = {1};\n";
  EXPECT_EQ(error_of(with_header(text)),
            "initialised variables of more than 268435456 bytes are not supported");
}

TEST(Limits, NestingIsBounded) {
  EXPECT_EQ(error_of(kernel_text(repeat("{", 100000))), "scopes are nested too deeply");
  EXPECT_EQ(error_of(kernel_text("mov.u32 %r1, " + repeat("(", 100000))),
            "this expression is nested too deeply");
  EXPECT_EQ(error_of(kernel_text("mov.u32 %r1, " + repeat("-", 100000) + "1;")),
            "this expression is nested too deeply");
  EXPECT_EQ(error_of(kernel_text("mov.u32 %r1, " + repeat("1?1:", 100000) + "1;")),
            "this expression is nested too deeply");
  EXPECT_EQ(error_of(with_header(".global .b8 x" + repeat("[1]", 100000) + ";")),
            "an array has too many dimensions");
  EXPECT_EQ(error_of(with_header(".global .b8 x[2] = " + repeat("{", 100000))),
            "there are too many braces here");
}

TEST(Limits, LongListsAreErrors) {
  EXPECT_EQ(error_of(kernel_text("mov.b32 %r1, {" + repeat("1,", 70000) + "1};")),
            "this list is too long");
  EXPECT_EQ(error_of(kernel_text("mov.b32 " + repeat("%r1,", 70000) + "1;")),
            "an instruction has too many operands");
}

// The time of this process only, however busy the machine is.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds(const std::string& text) {
  const double start = processor_seconds();
  EXPECT_NE(error_of(text), "");
  return processor_seconds() - start;
}

// A generous limit that a quadratic parser exceeds by far.
void expect_fast(const std::string& text) { EXPECT_LT(seconds(text), 5.0) << text.substr(0, 200); }

TEST(Limits, ManyOfAnythingStayFast) {
  std::string ranges, labels, variables, calls;
  for (int i = 0; i < 100000; ++i) {
    const std::string n = std::to_string(i);
    ranges += ".reg .b32 a" + n + "_<9>; mov.u32 a" + n + "_1, 0;\n";
    labels += "L" + n + ": bra L" + std::to_string(99999 - i) + ";\n";
    variables += ".global .b32 g" + n + " = " + n + ";\n";
    calls += "{ .reg .b32 %r<7>; .param .b32 p; mov.u32 %r1, 0; bra OUT; }\n";
  }
  EXPECT_EQ(error_of(kernel_text(ranges)), "none");
  expect_fast(kernel_text(ranges));
  expect_fast(kernel_text(labels));
  expect_fast(with_header(variables));
  expect_fast(kernel_text(calls + "OUT: ret;"));
  expect_fast(kernel_text(repeat("{", 60) + calls + repeat("}", 60) + "OUT: ret;"));
  expect_fast(kernel_text(repeat("frob.x %r1, #;\n", 100000)));
  expect_fast(kernel_text(repeat("ret;\n", 100000) + "mov.u32 %r1, nowhere;"));
  expect_fast(with_header(repeat(".func f();\n", 100000)));
}

TEST(Limits, WholeTextsCutAnywhereAreRefusedNotFatal) {
  const std::string text = kernel_text(
      "@%p1 bra L; ld.global.v2.u32 {%r1, %r2}, [%rd1+8]; L: { .reg .b32 x; mov.u32 x, 0x1F; }\n"
      "T: .branchtargets L; brx.idx %r1, T; .loc 1 2 3, function_name a, inlined_at 1 2 3\n"
      "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, %rd2, {%f5,%f6}]; /* c */ // d\n");
  EXPECT_EQ(error_of(text), "none");
  const std::size_t complete = text.rfind('}');
  for (std::size_t n = with_header("").size() + 1; n <= complete; ++n) error_of(text.substr(0, n));
  EXPECT_EQ(error_of(text.substr(0, complete)), "the body of `k` has no closing `}`");
}

}  // namespace
}  // namespace inflight::ptx
