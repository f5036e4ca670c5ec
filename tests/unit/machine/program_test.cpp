// Linking: names, addresses, initialisers, shared layout, kernels' shapes.
#include "gpu/machine/decode/prepared.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

template <class T>
T value_at(std::uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T));
  return value;
}

const Symbol& symbol(const PtxRunner& r, std::string_view name) {
  const Symbol* s = r.program ? r.program->symbol(name) : nullptr;
  static const Symbol none;
  EXPECT_NE(s, nullptr) << name;
  return s ? *s : none;
}

TEST(Program, VariablesHaveTheirInitialValues) {
  PtxRunner r({R"(
.visible .global .align 4 .u32 a = 7;
.visible .global .align 8 .b8 bytes[6] = {1, 2, 3};
.visible .const .align 4 .f32 c[2] = {0f3F800000, 0f40000000};
.global .align 4 .u32 zero[1000];
.visible .global .align 128 .b8 wide[1];
)"});
  EXPECT_EQ(value_at<std::uint32_t>(symbol(r, "a").address), 7u);
  EXPECT_EQ(value_at<std::uint64_t>(symbol(r, "bytes").address) & 0xffffffffffff, 0x030201u);
  EXPECT_EQ(symbol(r, "bytes").size, 6u);
  EXPECT_EQ(value_at<float>(symbol(r, "c").address + 4), 2.0f);
  EXPECT_EQ(symbol(r, "c").space, ptx::Space::constant);
  EXPECT_EQ(value_at<std::uint32_t>(symbol(r, "zero").address + 3996), 0u);
  EXPECT_EQ(symbol(r, "wide").address % 128, 0u);
  const auto a = r.memory.find(symbol(r, "a").address);
  ASSERT_TRUE(a);
  EXPECT_EQ(a->name, "a");
  EXPECT_EQ(a->kind, AllocationKind::variable);
}

TEST(Program, ElementsByARegister) {
  PtxRunner r({R"(
.visible .global .align 8 .u64 wide[5] = {10, 11, 12, 13, 14};
.visible .const .align 2 .u16 narrow[5] = {20, 21, 22, 23, 24};
.visible .entry k(.param .u64 out) {
  .reg .u64 %o, %a, %b, %c, %l; .reg .u32 %t; .reg .s16 %s; .reg .u16 %h; .reg .pred %p;
  .shared .align 4 .u32 own[32];
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
  st.shared.u32 own[%t], %t;
  bar.sync 0;
  cvt.u64.u32 %l, %t;
  cvt.s16.u32 %s, %t;
  setp.lt.u32 %p, %t, 4;
  ld.global.u64 %a, wide[%t];
  @%p ld.global.u64 %a, wide[%l+1];
  ld.const.u16 %h, narrow[%s];
  mov.u64 %b, wide[%t];
  mov.u64 %c, wide;
  sub.u64 %b, %b, %c;
  ld.shared.u32 %t, own[%t];
  mad.wide.u32 %o, %t, 32, %o;
  st.global.u64 [%o], %a;
  st.global.u16 [%o+8], %h;
  st.global.u64 [%o+16], %b;
  st.global.u32 [%o+24], %t;
  ret;
})"});
  auto* const out = r.make<std::uint64_t>(20);
  const Outcome o = r.run("k", {1, 1, 1}, {5, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint64_t t = 0; t < 5; ++t) {
    EXPECT_EQ(out[4 * t], t < 4 ? 11 + t : 14) << t;
    EXPECT_EQ(out[4 * t + 1], 20 + t);
    EXPECT_EQ(out[4 * t + 2], 8 * t);
    EXPECT_EQ(out[4 * t + 3], t);
  }
}

TEST(Program, ManagedVariables) {
  PtxRunner r({".visible .global .attribute(.managed) .align 4 .u32 m = 3;"});
  EXPECT_TRUE(symbol(r, "m").managed);
  EXPECT_EQ(r.memory.find(symbol(r, "m").address)->kind, AllocationKind::managed);
}

TEST(Program, AddressesInInitialisers) {
  PtxRunner r({R"(
.visible .func f() { ret; }
.visible .global .align 4 .u32 x[4];
.visible .global .align 8 .u64 table[3] = {x+8, generic(x), f};
.visible .global .align 1 .b8 masked[3] = {0xFF(x), 0xFF00(x), 0xFF0000(x)};
)"});
  const std::uint64_t x = symbol(r, "x").address, table = symbol(r, "table").address;
  EXPECT_EQ(value_at<std::uint64_t>(table), x + 8);
  EXPECT_EQ(value_at<std::uint64_t>(table + 8), x);
  const auto f = r.program->function_at(value_at<std::uint64_t>(table + 16));
  EXPECT_EQ(f.function, 0u);
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(value_at<std::uint8_t>(symbol(r, "masked").address + i), (x >> (8 * i)) & 0xff);
}

TEST(Program, CodeAddressesGoBackToFunctions) {
  PtxRunner r(
      {".visible .func a() { ret; }\n.visible .func b() { ret; }", ".visible .func c() { ret; }"});
  for (const Program::FunctionRef ref : {Program::FunctionRef{0, 0}, {0, 1}, {1, 0}}) {
    EXPECT_EQ(r.program->function_at(r.program->code_address(ref)), ref);
    EXPECT_EQ(r.program->function_at(r.program->code_address(ref) + 4).module, ptx::none);
  }
  EXPECT_EQ(r.program->function_at(0).module, ptx::none);
  EXPECT_EQ(r.program->function_at(r.program->code_address({1, 0}) + 16).module, ptx::none);
  PtxRunner other({".visible .func a() { ret; }"});
  EXPECT_EQ(r.program->function_at(other.program->code_address({0, 0})).module, ptx::none);
}

TEST(Program, ExternNamesResolveAcrossModules) {
  PtxRunner r({R"(
.extern .global .align 4 .u32 shared_value;
.extern .func (.param .b32 r) twice(.param .b32 x);
)" + kernel_k(R"(
  ld.global.u32 %r3, [shared_value];
  { .param .b32 p; .param .b32 q;
  st.param.b32 [p], %r3;
  call (q), twice, (p);
  ld.param.b32 %r9, [q]; }
  st.global.u32 [%rd1], %r9;)"),
               R"(
.visible .global .align 4 .u32 shared_value = 21;
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; })"});
  auto* out = r.make<std::uint32_t>(1);
  const Outcome o = r.run("k", {}, {1, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(*out, 42u);
}

TEST(Program, DefinitionsAsTheLinkerChoosesThem) {
  PtxRunner twice({".visible .global .u32 v = 1;", ".visible .global .u32 v = 2;"});
  EXPECT_EQ(twice.error, "Multiple definition of 'v' in 'm1', first defined in 'm0'");
  PtxRunner functions({".visible .func f() { ret; }", ".visible .func f() { ret; }"});
  EXPECT_EQ(functions.error, "Multiple definition of 'f' in 'm1', first defined in 'm0'");
  PtxRunner weak(
      {".weak .global .u32 v = 1;", ".visible .global .u32 v = 2;", ".weak .global .u32 v = 3;"});
  EXPECT_EQ(value_at<std::uint32_t>(symbol(weak, "v").address), 2u);
  EXPECT_EQ(weak.program->place(0, 0).address, weak.program->place(2, 0).address);
  PtxRunner common({".common .global .b8 v[4];", ".common .global .b8 v[64];"});
  EXPECT_EQ(symbol(common, "v").size, 64u);
  PtxRunner local({".global .u32 v = 1;", ".global .u32 v = 2;"});
  EXPECT_NE(local.program->place(0, 0).address, local.program->place(1, 0).address);
  EXPECT_EQ(value_at<std::uint32_t>(local.program->place(1, 0).address), 2u);
}

// As nvlink. A type may differ, and a common definition's size.
TEST(Program, SizesOfANameMustMatchAcrossModules) {
  const std::string error = "Size doesn't match for 'v' in 'm1', first specified in 'm0'";
  const std::string four = ".global .u32 v[4];", eight = ".global .u32 v[8];";
  for (const char* linkage : {".extern ", ".weak ", ".common "}) {
    EXPECT_EQ(PtxRunner({linkage + four, ".visible " + eight}).error, error) << linkage;
    EXPECT_EQ(PtxRunner({".visible " + eight, linkage + four}).error, error) << linkage;
  }
  EXPECT_EQ(PtxRunner({".weak " + four, ".weak " + eight}).error, error);
  for (const char* other : {".extern .global .u32 v[];", ".extern .global .b8 v[16];",
                            ".extern .global .align 16 .u32 v[4];", ".global .u32 v[8];"})
    EXPECT_EQ(PtxRunner({other, ".visible " + four}).error, "") << other;
}

TEST(Program, WhatNobodyDefinesStopsOnlyTheKernelsThatNeedIt) {
  PtxRunner r({R"(
.extern .global .u32 missing;
.extern .func nowhere();
.visible .entry uses_variable() { .reg .b32 %r1; ld.global.u32 %r1, [missing]; ret; }
.visible .entry uses_function() { call nowhere; ret; }
.visible .entry fine() { ret; }
)"});
  EXPECT_TRUE(r.run("fine", {}, {}).ok());
  const Outcome variable = r.run("uses_variable", {}, {}),
                function = r.run("uses_function", {}, {});
  EXPECT_EQ(variable.kind, FaultKind::refused);
  EXPECT_NE(variable.report.find("missing"), std::string::npos) << variable.report;
  EXPECT_EQ(function.kind, FaultKind::refused);
  EXPECT_NE(function.report.find("nowhere"), std::string::npos) << function.report;
  PtxRunner initialiser({".extern .global .u32 gone; .visible .global .u64 p = gone;"});
  EXPECT_EQ(initialiser.error, "Undefined reference to 'gone' in 'm0'");
}

TEST(Program, EachKindOfRefusalIsToldOnceWithItsFirstPlace) {
  PtxRunner r({R"(.extern .func nowhere();
.extern .func nobody();
.visible .entry k() {
  call nowhere;
  call nobody;
  call nowhere;
  ret;
})"});
  const std::vector<std::string> reasons = unsupported(*r.program->kernel("k")).instructions;
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].find("k, line 7: "), 0u) << reasons[0];
  EXPECT_NE(reasons[0].find("nowhere"), std::string::npos) << reasons[0];
  EXPECT_EQ(reasons[1].find("k, line 8: "), 0u) << reasons[1];
  EXPECT_NE(reasons[1].find("nobody"), std::string::npos) << reasons[1];
}

TEST(Program, MemoryThatDoesNotSufficeIsAnErrorAndGivenBack) {
  PtxRunner r({".visible .global .b8 a[1048576];\n.visible .global .b8 big[100000000];"});
  EXPECT_NE(r.error.find("no memory for 'big'"), std::string::npos) << r.error;
  EXPECT_EQ(r.memory.used(0), 0u);
}

TEST(Program, KernelsAreDescribed) {
  PtxRunner r({R"(
.const .align 4 .b8 c[100];
.visible .entry k(.param .u8 a, .param .align 16 .b8 s[20], .param .u64 p)
.maxntid 8, 4, 2 .maxnreg 40
{ .local .align 8 .b8 l[24]; ret; }
.visible .entry exact() .reqntid 32, 2 { ret; }
)"});
  const Kernel* k = r.program->kernel("k");
  ASSERT_NE(k, nullptr);
  ASSERT_EQ(k->parameters.size(), 3u);
  EXPECT_EQ(k->parameters[1].offset, 16u);
  EXPECT_EQ(k->parameters[1].size, 20u);
  EXPECT_EQ(k->parameters[2].offset, 40u);
  EXPECT_EQ(k->parameter_bytes, 48u);
  EXPECT_EQ(k->max_threads, 64u);
  EXPECT_EQ(k->local_bytes, 24u);
  EXPECT_EQ(k->constant_bytes, 100u);
  EXPECT_EQ(k->max_registers, 40u);
  EXPECT_EQ(k->target, 90);
  EXPECT_EQ(k->ptx_version, 87);
  const Kernel* exact = r.program->kernel("exact");
  ASSERT_NE(exact, nullptr);
  EXPECT_EQ(exact->required_block, (std::array<std::uint32_t, 3>{32, 2, 1}));
  EXPECT_EQ(exact->max_threads, 64u);
  EXPECT_EQ(r.program->kernel("nothing"), nullptr);
}

// Kernels share no bytes of shared memory. Each needs only the variables that it reaches.
TEST(Program, SharedVariablesOverlapWhereNoKernelReachesBoth) {
  PtxRunner r({R"(
.shared .align 4 .b8 both[100];
.shared .align 16 .b8 of_f[64];
.extern .shared .align 128 .b8 dynamic[];
.visible .func f() { .reg .b32 %r1; mov.u32 %r1, of_f; ret; }
.visible .entry a() {
  .shared .align 4 .b8 mine[40000]; .reg .b32 %r<3>;
  mov.u32 %r1, mine; ld.shared.u8 %r2, [both]; ret; }
.visible .entry b() {
  .shared .align 4 .b8 mine[30000]; .reg .b32 %r<3>;
  mov.u32 %r1, mine; ld.shared.u8 %r2, [both+4]; call f; ret; }
.visible .entry c() { .reg .b32 %r1; mov.u32 %r1, dynamic; call f; ret; }
.visible .entry none() { ret; }
)"});
  ASSERT_NE(r.program, nullptr) << r.error;
  const auto bytes = [&](const char* name) { return r.program->kernel(name)->static_shared; };
  // `both` has one offset for a and b, so a may have a gap where b has of_f, but not more.
  EXPECT_GE(bytes("a"), 40100u);
  EXPECT_LE(bytes("a"), 40164u);
  EXPECT_GE(bytes("b"), 30164u);
  EXPECT_LE(bytes("b"), 30164u + 16u);
  EXPECT_LE(bytes("c"), 112u + 64u);
  EXPECT_EQ(bytes("none"), 0u);
  EXPECT_EQ(r.program->kernel("c")->dynamic_alignment, 128u);
  EXPECT_EQ(r.program->kernel("a")->dynamic_alignment, 16u);
}

TEST(Program, SharedVariablesReachedThroughAPointerCountToo) {
  PtxRunner r({R"(
.shared .align 4 .b8 hidden[2000];
.visible .func g() { .reg .b32 %r1; mov.u32 %r1, hidden; ret; }
.visible .global .u64 pointer = g;
.visible .entry k() {
  .reg .b64 %rd1;
  ld.global.u64 %rd1, [pointer];
  P: .callprototype _ ();
  call %rd1, P; ret; }
.visible .entry plain() { ret; }
)"});
  ASSERT_NE(r.program, nullptr) << r.error;
  EXPECT_EQ(r.program->kernel("k")->static_shared, 2000u);
  EXPECT_EQ(r.program->kernel("plain")->static_shared, 0u);
  EXPECT_TRUE(r.run("k", {}, {32, 1, 1}).ok());
}

// A function of another module, called through a pointer, uses it.
TEST(Program, KernelsThatReachReservedSharedMemoryHaveIt) {
  PtxRunner r({R"(
.visible .func touch() {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  mov.u32 %r1, %reserved_smem_offset_1;
  cvt.u64.u32 %rd1, %r1;
  cvta.shared.u64 %rd1, %rd1;
  red.add.u32 [%rd1+284], 1;
  ret; }
)",
               R"(
.extern .func touch();
.visible .global .u64 pointer = touch;
.visible .entry k() {
  .reg .b64 %rd1;
  ld.global.u64 %rd1, [pointer];
  P: .callprototype _ ();
  call %rd1, P; ret; }
.visible .entry without() { .reg .b32 %r<2>; mov.u32 %r1, 0; ld.shared.u32 %r1, [%r1]; ret; }
.visible .entry past() {
  .reg .b32 %r<3>; mov.u32 %r1, %reserved_smem_offset_end; ld.shared.u32 %r2, [%r1]; ret; }
)"});
  ASSERT_NE(r.program, nullptr) << r.error;
  EXPECT_TRUE(r.program->kernel("k")->uses_reserved_shared);
  EXPECT_FALSE(r.program->kernel("without")->uses_reserved_shared);
  EXPECT_EQ(r.program->kernel("k")->static_shared, 0u);
  const Outcome o = r.run("k", {4, 1, 1}, {64, 1, 1});
  EXPECT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(r.run("without", {}, {32, 1, 1}).kind, FaultKind::illegal_address);
  EXPECT_EQ(r.run("past", {}, {32, 1, 1}).kind, FaultKind::illegal_address);
}

// Halide's compiler counts the addresses of dynamic shared memory from 0 and names no variable.
TEST(Program, KernelsThatNameNoSharedVariableMayCountFromZero) {
  const std::string store = R"( {
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r1; st.shared.u32 [%r2+1024], %r1;
  ret; }
)";
  PtxRunner r({".extern .shared .align 16 .b8 all[];\n.visible .func f()" + store +
               ".visible .entry bare()" + store +
               ".visible .entry named() { .reg .b32 %r1; mov.u32 %r1, all; call f; ret; }\n"});
  ASSERT_NE(r.program, nullptr) << r.error;
  const Dim3 one{1, 1, 1}, block{256, 1, 1};
  const Outcome o = r.run("bare", one, block, {}, 1024);
  EXPECT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(r.run("bare", one, block).kind, FaultKind::illegal_address);
  EXPECT_EQ(r.run("named", one, block, {}, 1024).kind, FaultKind::illegal_address);
}

TEST(Program, SharedVariablesBeginAfterTheReservedBytesAndAreAligned) {
  PtxRunner r({kernel_k(R"(
  mov.u32 %r3, wide; st.global.u32 [%rd2], %r3;
  mov.u32 %r3, narrow; st.global.u32 [%rd2+4], %r3;)",
                        ".shared .align 2048 .b8 wide[64];\n.shared .align 4 .b8 narrow[4];")});
  auto* out = r.make<std::uint32_t>(64);
  const Outcome o = r.run("k", {}, {1, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(out[0], 2048u);
  EXPECT_EQ(out[1], 1024u);
}

TEST(Program, DynamicSharedMemoryFollowsTheStaticPart) {
  PtxRunner r(
      {kernel_k(R"(
  mov.u32 %r3, fixed; mov.u32 %r4, dynamic;
  shl.b32 %r5, %r1, 2; add.u32 %r6, %r4, %r5;
  st.shared.u32 [%r6], %r1;
  mov.u32 %r7, 99; st.shared.u32 [%r3], %r7;
  bar.sync 0;
  xor.b32 %r5, %r5, 124; add.u32 %r6, %r4, %r5;
  ld.shared.u32 %r9, [%r6];
  st.global.u32 [%rd2], %r9;)",
                ".shared .align 4 .b8 fixed[4];\n.extern .shared .align 16 .b8 dynamic[];")});
  auto* out = r.make<std::uint32_t>(32);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)}, 128);
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(out[l], 31 - l);
  EXPECT_EQ(r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)}, 124).kind,
            FaultKind::illegal_address);
}

// `outer` is known only by its address, and only `outer` knows `inner`.
TEST(Program, AFunctionCalledByItsAddressCallsOthers) {
  PtxRunner r(
      {kernel_k("mov.u64 %rd5, table; ld.global.u64 %rd6, [%rd5];"
                "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
                "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                "call (b), %rd6, (a), P; ld.param.b32 %r2, [b]; }"
                "st.global.u32 [%rd2], %r2;",
                R"(
.func (.param .b32 r) inner(.param .b32 a) {
  .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 5; st.param.b32 [r], %x; ret;
}
.func (.param .b32 r) outer(.param .b32 a) {
  .reg .b32 %x; ld.param.b32 %x, [a];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %x; call (q), inner, (p);
    ld.param.b32 %x, [q]; }
  add.u32 %x, %x, %x; st.param.b32 [r], %x; ret;
}
.global .align 8 .u64 table[1] = {outer};
)")});
  auto* out = r.make<std::uint32_t>(32);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(out[l], 2 * (l + 5));
}

TEST(Program, CodeIsDecodedOnceAndKept) {
  PtxRunner r({".visible .entry k() { ret; }\n.extern .func gone();"});
  const auto first = prepared(*r.program).code({0, 0}, {}),
             again = prepared(*r.program).code({0, 0}, {});
  ASSERT_TRUE(first && again);
  EXPECT_EQ(*first, *again);
  const auto observed = prepared(*r.program).code({0, 0}, {.executed = true});
  ASSERT_TRUE(observed);
  EXPECT_NE(*observed, *first);
  EXPECT_EQ(prepared(*r.program).code({0, 1}, {}).error(),
            "function 'gone' is declared, but no module defines it");
}

}  // namespace
}  // namespace inflight::machine
