// Calls, addresses and heads of functions that the driver's assembler refuses (`ptxas` of CUDA 13.0
// was run on every text here), and similar ones that it accepts.
#include <fmt/format.h>

#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::try_parse;
using testing::with_header;

// The error in a text, or an empty string.
std::string mistake(std::string_view text) {
  const auto m = try_parse(with_header(text));
  return m ? std::string() : m.error().message;
}

// A kernel that calls `f` with one parameter. It declares `actual` and passes `x`.
std::string passed(std::string_view formal, std::string_view declared, std::string_view x = "x") {
  return mistake(
      fmt::format(".func f({}) {{ ret; }} .visible .entry k() {{ .reg .b32 %r; .reg .b64 "
                  "%rd; .reg .b16 %h; .reg .f32 %f; .reg .pred %p; {}; call f, ({}); "
                  "ret; }}",
                  formal, declared, x));
}

TEST(Checks, ArgumentsHaveTheSizeOfTheParameter) {
  const std::string b32 = ".param .b32 p";
  EXPECT_EQ(passed(b32, ".param .b32 x"), "");
  EXPECT_EQ(passed(b32, ".param .f32 x"), "");
  EXPECT_EQ(passed(b32, ".param .u32 x"), "");
  EXPECT_EQ(passed(b32, ".param .b64 x"), "`call`: `x` is .b64 where .b32 is declared");
  EXPECT_EQ(passed(b32, ".param .b8 x"), "`call`: `x` is .b8 where .b32 is declared");
  EXPECT_EQ(passed(b32, ".param .b8 x[4000]"),
            "`call`: `x` is 4000 bytes aligned to 1 where .b32 is declared");
  EXPECT_EQ(passed(".param .u32 p", ".param .f32 x"), "`call`: `x` is .f32 where .u32 is declared");
  EXPECT_EQ(passed(".param .f32 p", ".param .s32 x"), "`call`: `x` is .s32 where .f32 is declared");
  EXPECT_EQ(passed(".param .b64 p", ".param .align 8 .b8 x[8]"),
            "`call`: `x` is 8 bytes aligned to 8 where .b64 is declared");
}

TEST(Checks, ArraysHaveTheParametersSizeAndAlignment) {
  const std::string eight = ".param .align 4 .b8 p[8]";
  EXPECT_EQ(passed(eight, ".param .align 4 .b8 x[8]"), "");
  EXPECT_EQ(passed(eight, ".param .align 4 .b32 x[2]"), "");
  EXPECT_EQ(passed(eight, ".param .align 8 .b8 x[8]"),
            "`call`: `x` is 8 bytes aligned to 8 where 8 bytes aligned to 4 is declared");
  EXPECT_EQ(passed(eight, ".param .align 4 .b8 x[16]"),
            "`call`: `x` is 16 bytes aligned to 4 where 8 bytes aligned to 4 is declared");
  EXPECT_EQ(passed(".param .align 4 .b8 p[]", ".param .align 4 .b8 x[8]"), "");
  EXPECT_EQ(
      passed(".param .align 4 .b8 p[]", ".param .align 8 .b8 x[8]"),
      "`call`: `x` is 8 bytes aligned to 8 where an array of any size aligned to 4 is declared");
}

TEST(Checks, CallsPassParametersRegistersAndConstants) {
  const std::string b32 = ".param .b32 p";
  EXPECT_EQ(passed(b32, "", "%r"), "");
  EXPECT_EQ(passed(b32, "", "%f"), "");
  EXPECT_EQ(passed(b32, "", "4"), "");
  EXPECT_EQ(passed(".param .f32 p", "", "0f00000000"), "");
  EXPECT_EQ(passed(b32, "", "%rd"), "`call`: `%rd` is .b64 where .b32 is declared");
  EXPECT_EQ(passed(b32, "", "%h"), "`call`: `%h` is .b16 where .b32 is declared");
  EXPECT_EQ(passed(b32, "", "_"), "`call`: `_` is passed as an argument");
  EXPECT_EQ(passed(".param .b8 p[4]", "", "4"), "`call`: a constant is passed for an array");
  for (const std::string space : {"local", "shared", "global", "const"})
    EXPECT_EQ(passed(b32, "." + space + " .b32 x"),
              "`call`: `x` is a ." + space +
                  " variable: calls pass .param variables, registers and constants");
  EXPECT_EQ(
      mistake(".func f(.param .b32 p) { ret; } .visible .entry k(.param .b32 x) { call f, (x); "
              "ret; }"),
      "`call`: `x` is a parameter of the calling function itself: copy it");
}

TEST(Checks, CallsHaveAsManyArgumentsAndResultsAsTheCallee) {
  const std::string f =
      ".func (.param .b32 r) f(.param .b32 p) { ret; } .visible .entry k() { .reg "
      ".b32 %r; .param .b32 x; .param .b64 y; ";
  EXPECT_EQ(mistake(f + "call (x), f, (x); ret; }"), "");
  EXPECT_EQ(mistake(f + "call (%r), f, (x); ret; }"), "");
  EXPECT_EQ(mistake(f + "call (_), f, (x); ret; }"), "");
  EXPECT_EQ(mistake(f + "call f, (x); ret; }"),
            "`call`: it has 0 results where the callee declares 1");
  EXPECT_EQ(mistake(f + "call (x), f; ret; }"),
            "`call`: it has 0 arguments where the callee declares 1");
  EXPECT_EQ(mistake(f + "call.uni (x), f, (x, x); ret; }"),
            "`call.uni`: it has 2 arguments where the callee declares 1");
  EXPECT_EQ(mistake(f + "call (y), f, (x); ret; }"), "`call`: `y` is .b64 where .b32 is declared");
}

TEST(Checks, CallsThroughRegistersFitTheirTable) {
  const std::string f =
      ".func f(.param .b32 p) { ret; } .visible .entry e() { ret; } .visible .entry "
      "k() { .reg .b64 %r; .reg .b32 %s; .param .b32 x; .param .b64 y; ";
  EXPECT_EQ(mistake(f + "P: .callprototype _ (.param .b32 _); call %r, (x), P; ret; }"), "");
  EXPECT_EQ(mistake(f + "T: .calltargets f; call %r, (x), T; ret; }"), "");
  EXPECT_EQ(mistake(f + "P: .callprototype _ (.param .b32 _); call %r, (y), P; ret; }"),
            "`call`: `y` is .b64 where .b32 is declared");
  EXPECT_EQ(mistake(f + "P: .callprototype _ (.param .b32 _); call %r, P; ret; }"),
            "`call`: it has 0 arguments where the callee declares 1");
  EXPECT_EQ(mistake(f + "T: .calltargets f; call %r, (y), T; ret; }"),
            "`call`: `y` is .b64 where .b32 is declared");
  const std::string undeclared =
      "`call`: a call through a register needs a .callprototype or .calltargets declared before";
  EXPECT_EQ(mistake(f + "call %r; ret; }"), undeclared);
  EXPECT_EQ(mistake(f + "call %r, (x), P; P: .callprototype _ (.param .b32 _); ret; }"),
            undeclared);
  EXPECT_EQ(mistake(f + "A: T: .branchtargets A; call %r, T; ret; }"),
            "`call`: `T` lists .branchtargets, not functions");
  EXPECT_EQ(mistake(f + "P: .callprototype _ (.param .b32 _); call f, (x), P; ret; }"),
            "`call`: a call by name takes no table of targets");
  EXPECT_EQ(mistake(f + "call e; ret; }"), "`call`: `e` is a kernel; only a .func can be called");
  EXPECT_EQ(mistake(f + "T: .calltargets f; brx.idx %s, T; ret; }"),
            "`brx.idx`: `T` is not a list of .branchtargets");
  EXPECT_EQ(mistake(f + "T: .callprototype _ (); brx.idx %s, T; ret; }"),
            "`brx.idx`: `T` is not a list of .branchtargets");
}

TEST(Checks, ATableOfBranchTargetsHoldsLabelsOnly) {
  EXPECT_EQ(
      mistake(".visible .entry k() { .reg .b32 %r; A: T: .branchtargets A; U: .branchtargets T; "
              "brx.idx %r, U; ret; }"),
      "`T` is not declared in `k`");
}

TEST(Checks, HeadsOfOneFunctionAgree) {
  const std::string f = ".func f(.param .b32 p); ";
  EXPECT_EQ(mistake(f + ".func f(.param .b32 q) { ret; }"), "");
  const std::string other = "`f` is declared with different parameters or results on line 4";
  EXPECT_EQ(mistake(f + ".func f(.param .b64 p) { ret; }"), other);
  EXPECT_EQ(mistake(f + ".func f() { ret; }"), other);
  EXPECT_EQ(mistake(f + ".func (.param .b32 r) f(.param .b32 p) { ret; }"), other);
  EXPECT_EQ(mistake(".func f(.param .b64 p) { ret; } " + f), other);
  const std::string g = ".visible .func g(.param .b32 p) { ret; } ";
  EXPECT_EQ(mistake(g + ".visible .func a(.param .b32 p); .alias a, g;"), "");
  EXPECT_EQ(mistake(g + ".visible .func a(.param .b64 p); .alias a, g;"),
            "`a` and `g` have different parameters or results");
}

// An H200 accepts 32,764 bytes and returns 218 for 32,768.
TEST(Checks, KernelsTakeSoManyBytesOfParameters) {
  const auto kernel = [](std::string_view parameters) {
    return mistake(fmt::format(".visible .entry k({}) {{ ret; }}", parameters));
  };
  EXPECT_EQ(kernel(".param .align 8 .b8 a[32764]"), "");
  EXPECT_EQ(kernel(".param .align 8 .b8 a[32768]"),
            "kernel `k` has 32768 bytes of parameters; it may have 32764");
  EXPECT_EQ(kernel(".param .b8 a[4294967297]"),
            "kernel `k` has 4294967297 bytes of parameters; it may have 32764");
  EXPECT_EQ(kernel(".param .b32 x, .param .align 32768 .b8 a[4]"),
            "kernel `k` has 32772 bytes of parameters; it may have 32764");
  EXPECT_EQ(kernel(".param .b8 a[]"), "a kernel's parameter has a size; `a` has none");
  const auto old = [](std::string_view head, int bytes) {
    const auto m =
        try_parse(fmt::format("{} .visible .entry k(.param .b8 a[{}]) {{ ret; }}", head, bytes));
    return m ? std::string() : m.error().message;
  };
  const std::string why =
      "kernel `k` has 4353 bytes of parameters; it may have 4352 (32764 from PTX "
      "8.1 and sm_70 on)";
  EXPECT_EQ(old(".version 8.0 .target sm_80", 4352), "");
  EXPECT_EQ(old(".version 8.0 .target sm_80", 4353), why);
  EXPECT_EQ(old(".version 8.1 .target sm_60", 4353), why);
  EXPECT_EQ(mistake(".func f(.param .b8 a[33000]) { ret; }"), "");
  EXPECT_EQ(mistake(".func f(.param .align 65536 .b8 a[4]) { ret; }"),
            "`a` is aligned to 65536 bytes; a parameter of a function is aligned to at most 128");
}

TEST(Checks, AddressesAreOfTheInstructionsStateSpace) {
  struct Named {
    std::string space, variable;
  };
  const std::vector<Named> variables{
      {"global", "g"}, {"const", "c"}, {"shared", "s"}, {"local", "l"}, {"param", "a"}};
  const auto kernel = [](const std::string& body) {
    return mistake(
        ".global .b32 g[4]; .const .b32 c[4]; .shared .b32 s[4]; .visible .entry k(.param "
        ".b32 a) { .reg .b32 %r; .local .b32 l[4]; .param .b32 p; " +
        body + " ret; }");
  };
  for (const Named& written : variables)
    for (const Named& v : variables) {
      const bool same = written.space == v.space;
      EXPECT_EQ(kernel("ld." + written.space + ".b32 %r, [" + v.variable + "];").empty(), same)
          << written.space << " " << v.variable;
      if (written.space == "global" || written.space == "shared") {
        EXPECT_EQ(kernel("atom." + written.space + ".add.u32 %r, [" + v.variable + "], 1;").empty(),
                  same)
            << written.space << " " << v.variable;
      }
    }
  EXPECT_EQ(kernel("ld.shared::cluster.b32 %r, [s];"), "");
  EXPECT_EQ(kernel("ld.b32 %r, [g];"), "");
  EXPECT_EQ(kernel("ld.b32 %r, [l];"), "");
  EXPECT_EQ(kernel("st.param.b32 [p], %r;"), "");
  EXPECT_EQ(kernel("ld.b32 %r, [a];"),
            "`ld.b32`: `a` is a .param variable, but the instruction is for another state space");
  EXPECT_EQ(
      kernel("st.local.b32 [g+4], %r;"),
      "`st.local.b32`: `g` is a .global variable, but the instruction is for another state space");
  EXPECT_EQ(mistake(".func f(.param .b32 p) { .reg .b32 %r; st.param.b32 [p], %r; ret; }"),
            "`st.param.b32`: `p` is a parameter, which the function cannot write");
}

TEST(Checks, OwnVariablesBelongToAFunction) {
  EXPECT_EQ(mistake(".local .b8 a[64]; .visible .entry k() { ret; }"), "");
  EXPECT_NE(mistake(".local .b32 a; .visible .entry k() { .reg .b32 %r; ld.local.b32 %r, [a]; }"),
            "");
  EXPECT_EQ(mistake(".extern .local .b8 a[];"),
            "a .local variable belongs to a function: it cannot be declared outside one");
  const std::string own = "a function's own variables cannot be extern";
  EXPECT_EQ(mistake(".visible .entry k() { .extern .param .b8 a[]; ret; }"), own);
  EXPECT_EQ(mistake(".visible .entry k() { .extern .local .b8 a[4]; ret; }"), own);
}

TEST(Checks, PrecisionIsSaidSincePtxOfOld) {
  const auto head = [](const char* version, const char* code) {
    return try_parse(std::string(version) + ".entry k() { .reg .f32 %f; .reg .f64 %d; " + code +
                     " ret; }");
  };
  const auto mods = [](const auto& module) { return module->functions[0].body[0].mods; };
  const char *first = ".version 1.4\n.target sm_13\n", *later = ".version 3.1\n.target sm_20\n";
  EXPECT_EQ(mods(head(first, "mad.f32 %f, %f, %f, %f;")), (ModSet{Mod::rn, Mod::ftz}));
  EXPECT_EQ(mods(head(first, "cvt.rn.f32.u32 %f, 1;")), ModSet{Mod::rn});
  EXPECT_EQ(mods(head(later, "mad.f32 %f, %f, %f, %f;")), ModSet{Mod::rn});
  EXPECT_EQ(mods(head(later, "add.f32 %f, %f, %f;")), ModSet{});
  for (const char* code :
       {"mad.f32 %f, %f, %f, %f;", "fma.f64 %d, %d, %d, %d;", "sin.f32 %f, %f;"}) {
    const std::string name(code, std::string_view(code).find(' '));
    EXPECT_EQ(mistake(std::string(".entry k() { .reg .f32 %f; .reg .f64 %d; ") + code + " ret; }"),
              "`" + name + "` needs a precision: a rounding such as `.rn`, or `.approx`");
  }
}
// --- wgmma ---

// A kernel with one wgmma.mma_async of this name, and these operands after `count` accumulators.
std::string multiplied(std::string_view name, unsigned count, std::string_view operands) {
  std::string accumulators;
  for (unsigned i = 0; i < count; ++i) accumulators += fmt::format("{}%f{}", i ? ", " : "", i);
  return mistake(
      fmt::format(".visible .entry k() {{ .reg .b32 %f<128>; .reg .b64 %rd; .reg .pred "
                  "%p; {} {{{}}}, {}; ret; }}",
                  name, accumulators, operands));
}

TEST(Checks, MultiplicationsOfWarpgroupsHaveTheirShapesAndTypes) {
  const std::string async = "wgmma.mma_async.sync.aligned.";
  const auto wrong = [](std::string_view name, std::string_view why) {
    return fmt::format("`{}`: {}", name, why);
  };
  const std::string half = async + "m64n16k16.f32.bf16.bf16";
  EXPECT_EQ(multiplied(half, 8, "%rd, %rd, %p, 1, -1, 0, 1"), "");
  EXPECT_EQ(multiplied(half, 8, "{%f0, %f1, %f2, %f3}, %rd, %p, 1, 1, 1"), "");
  EXPECT_EQ(multiplied(half, 4, "%rd, %rd, %p, 1, 1, 0, 0"),
            wrong(half, "the number of accumulators does not match its shape"));
  EXPECT_EQ(multiplied(half, 8, "%rd, %rd, %p, 2, 1, 0, 0"),
            wrong(half, "imm-scale-a and imm-scale-b must be -1 or 1"));
  EXPECT_EQ(multiplied(half, 8, "%rd, %rd, %p, 1, 1, 0"),
            wrong(half, "it has the wrong number of operands"));
  const std::string types = async + "m64n16k16.f16.bf16.bf16";
  EXPECT_EQ(multiplied(types, 4, "%rd, %rd, %p, 1, 1, 0, 0"),
            wrong(types, "it does not exist for these types"));
  const std::string depth = async + "m64n16k16.f32.tf32.tf32";
  EXPECT_EQ(multiplied(depth, 8, "%rd, %rd, %p, 1, 1"),
            wrong(depth, "it does not exist for these types and this shape"));
  // Integer types have no n = 40.
  const std::string width = async + "m64n40k32.s32.s8.u8";
  EXPECT_EQ(multiplied(width, 20, "%rd, %rd, %p"),
            wrong(width, "it does not exist for these types and this shape"));
  EXPECT_EQ(multiplied(async + "m64n24k32.s32.s8.u8", 12, "%rd, %rd, %p"), "");
  EXPECT_EQ(multiplied(async + "m64n8k256.s32.b1.b1.and.popc", 4, "%rd, %rd, %p"), "");
}

TEST(Checks, SparseMultiplicationsHaveASelector) {
  const std::string half = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16";
  EXPECT_EQ(multiplied(half, 4, "%rd, %rd, %f5, 1, %p, 1, 1, 0, 0"), "");
  EXPECT_EQ(multiplied(half, 4, "%rd, %rd, %f5, 2, %p, 1, 1, 0, 0"),
            "`" + half + "`: it has no such sparsity selector");
  const std::string bytes = "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8";
  EXPECT_EQ(multiplied(bytes, 4, "%rd, %rd, %f5, 0, %p"), "");
  EXPECT_EQ(multiplied(bytes, 4, "%rd, %rd, %f5, 1, %p"),
            "`" + bytes + "`: it has no such sparsity selector");
}

TEST(Checks, CopiesHaveTheirSizesAndPolicies) {
  const auto copied = [](std::string_view instruction) {
    return mistake(
        fmt::format(".visible .entry k() {{ .shared .align 16 .b8 s[16]; .reg .b64 %rd; .reg .b32 "
                    "%r; .reg .pred %p; {} ret; }}",
                    instruction));
  };
  const std::string cg = "cp.async.cg.shared.global", ca = "cp.async.ca.shared.global";
  EXPECT_EQ(copied(cg + " [s], [%rd], 16;"), "");
  EXPECT_EQ(copied(ca + " [s], [%rd], 4, %r;"), "");
  EXPECT_EQ(copied(ca + " [s], [%rd], 4, %p;"), "");
  EXPECT_EQ(copied(cg + ".L2::cache_hint [s], [%rd], 16, 8, %rd;"), "");
  EXPECT_EQ(copied(cg + " [s], [%rd], 8;"), "`" + cg + "`: it copies 8 bytes, not 16");
  EXPECT_EQ(copied(ca + " [s], [%rd], 12;"), "`" + ca + "`: it copies 12 bytes, not 4, 8 or 16");
  EXPECT_EQ(copied(ca + " [s], [%rd], 4, 8;"), "`" + ca + "`: it cannot read 8 bytes to copy 4");
  EXPECT_EQ(copied(cg + " [s], [%rd], 16, %rd;"),
            "`" + cg + "`: a cache policy needs .L2::cache_hint");
  EXPECT_EQ(copied(cg + ".L2::cache_hint [s], [%rd], 16;"),
            "`" + cg + ".L2::cache_hint`: .L2::cache_hint needs a cache policy");
  EXPECT_EQ(copied("cp.async.wait_group %r;"),
            "`cp.async.wait_group`: a number of groups is a constant");
}

TEST(Checks, ConstantsCannotBeWritten) {
  EXPECT_NE(mistake(".const .u32 c; .visible .entry k() { st.const.u32 [c], 1; ret; }"), "");
}

}  // namespace
}  // namespace inflight::ptx
