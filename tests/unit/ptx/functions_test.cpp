// Functions, calls, scopes, labels, tables and source positions.
#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::function;
using testing::kernel;
using testing::module_of;
using testing::show;

TEST(Functions, KernelsHaveParametersAndLimits) {
  const Module m = module_of(
      ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .align 16 .b8 big[48],\n"
      " .param .f32 x, .param .u64 .ptr q)\n.maxntid 256, 2\n.minnctapersm 3\n.maxnreg 64\n"
      ".reqnctapercluster 2, 1, 1 .explicitcluster .maxclusterrank 8 .blocksareclusters\n"
      ".pragma \"x\";\n{ ret; }\n.entry empty { }\n.entry forward(.param .u32 z) .reqntid 32;");
  const Function& k = function(m);
  EXPECT_TRUE(k.entry);
  EXPECT_TRUE(k.has_body);
  EXPECT_EQ(k.linkage, Linkage::visible);
  ASSERT_EQ(k.parameters.size(), 4u);
  const Variable& p = m.variables[k.parameters[0]];
  EXPECT_EQ(p.name, "p");
  EXPECT_EQ(p.alignment, 8u);
  EXPECT_EQ(p.space, Space::param);
  EXPECT_EQ(p.function, 0u);
  EXPECT_EQ(m.variables[k.parameters[1]].size, 48u);
  EXPECT_EQ(m.variables[k.parameters[1]].alignment, 16u);
  EXPECT_EQ(k.maxntid, (std::array<std::uint32_t, 3>{256, 2, 1}));
  EXPECT_EQ(k.minnctapersm, 3u);
  EXPECT_EQ(k.maxnreg, 64u);
  EXPECT_EQ(k.reqnctapercluster[0], 2u);
  EXPECT_TRUE(k.explicitcluster);
  EXPECT_EQ(k.maxclusterrank, 8u);
  EXPECT_TRUE(k.blocksareclusters);
  EXPECT_TRUE(function(m, "empty").has_body);
  EXPECT_FALSE(function(m, "forward").has_body);
  EXPECT_EQ(function(m, "forward").reqntid, (std::array<std::uint32_t, 3>{32, 1, 1}));
}

TEST(Functions, CallsNameResultsCalleeArgumentsAndPrototype) {
  const Module m = module_of(
      ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 a, .param .b64 b);\n"
      ".func nothing() { ret; }\n"
      ".entry k() { .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
      "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0;\n"
      "st.param.b64 [param0], %rd1; call.uni (retval0), vprintf, (param0, param1);\n"
      "ld.param.b32 %r1, [retval0]; }\n"
      "call nothing;\n"
      "call nothing, ();\n"
      "{ .param .b64 param0; .param .align 8 .b8 param1[16]; .param .b32 retval0; proto: "
      ".callprototype (.param .b32 _) _ "
      "(.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;\n"
      "call (retval0), %rd2, (param0, param1), proto; }\n"
      "ret; }");
  const Function& k = function(m);
  EXPECT_EQ(show(m, k, k.body[1]), "call.uni (var:retval0) func:vprintf (var:param0,var:param1)");
  EXPECT_EQ(show(m, k, k.body[3]), "call func:nothing");
  EXPECT_EQ(show(m, k, k.body[4]), "call func:nothing ()");
  EXPECT_EQ(show(m, k, k.body[5]), "call (var:retval0) %rd2 (var:param0,var:param1) table:proto");
  ASSERT_EQ(k.tables.size(), 1u);
  EXPECT_EQ(k.tables[0].returns.at(0).size, 4u);
  EXPECT_EQ(k.tables[0].parameters.at(1).size, 16u);
  // the two param0 are two variables
  const auto first = k.pool[k.operands(k.body[1])[2].index].index;
  const auto second = k.pool[k.operands(k.body[5])[2].index].index;
  EXPECT_NE(first, second);
  EXPECT_EQ(m.variables[first].function, m.variables[second].function);
}

TEST(Functions, ADeclarationAndItsDefinitionAreOne) {
  const Module m = module_of(
      ".func (.param .b32 r) f(.param .b32 x);\n"
      ".entry k() { .reg .b32 %r<2>; { .param .b32 a; .param .b32 b; call (b), f, (a); } ret; }\n"
      ".visible .func (.param .b32 func_retval0) f(.param .b32 f_param_0) .noreturn\n"
      "{ .reg .b32 %r<2>; ld.param.b32 %r1, [f_param_0]; st.param.b32 [func_retval0], %r1; ret; }\n"
      ".func (.param .b32 r) f(.param .b32 x);");
  ASSERT_EQ(m.functions.size(), 2u);
  const Function& f = function(m, "f");
  EXPECT_TRUE(f.has_body);
  EXPECT_TRUE(f.noreturn);
  EXPECT_EQ(f.linkage, Linkage::visible);
  EXPECT_EQ(m.variables[f.parameters.at(0)].name, "f_param_0");
  EXPECT_EQ(m.variables[f.returns.at(0)].name, "func_retval0");
  EXPECT_EQ(show(m, f, f.body[1]), "st.param.b32 [var:func_retval0] %r1");
}

TEST(Functions, RepeatedDeclarationsAreOne) {
  const Module m = module_of(
      ".extern .func (.param .b32 r) f(.param .b32 x);\n"
      ".extern .func (.param .b32 s) f(.param .b32 y);");
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.variables.size(), 2u);
  EXPECT_EQ(m.variables[function(m, "f").parameters.at(0)].name, "x");
}

TEST(Functions, OldParametersAreRegisters) {
  const Module m = module_of(
      ".func (.reg .f32 r) f (.reg .f32 a, .reg .b64 b) { .reg .f32 t; add.f32 t, a, a; "
      "mov.f32 r, t; ret; }");
  const Function& f = function(m, "f");
  EXPECT_EQ(m.variables[f.returns.at(0)].space, Space::param);
  EXPECT_EQ(m.variables[f.parameters.at(0)].space, Space::param);
  ASSERT_GE(f.registers.size(), 4u);
  EXPECT_EQ(f.registers[0].name, "r");
  EXPECT_EQ(f.registers[1].name, "a");
  EXPECT_EQ(f.registers[2].name, "b");
  EXPECT_EQ(f.body.at(0).name, "ld.param.b32");
  EXPECT_EQ(f.operands(f.body.at(1))[0].index, 2u);
  EXPECT_EQ(f.operands(f.body.at(3))[0].index, 0u);
  EXPECT_EQ(f.body.at(4).name, "st.param.b32");  // in front of the return
  EXPECT_EQ(f.operands(f.body.at(4))[1].index, 0u);
  EXPECT_EQ(f.body.at(5).opcode, Opcode::ret);
  EXPECT_EQ(f.body.size(), 6u);
}

TEST(Functions, AliasesNameAFunction) {
  const Module m = module_of(
      ".func f() { ret; }\n.visible .func g();\n.visible .func h();\n.alias g, f;\n.alias h, g;");
  EXPECT_EQ(function(m, "g").alias_of, 0u);
  EXPECT_EQ(function(m, "h").alias_of, 0u);
  EXPECT_EQ(function(m, "f").alias_of, none);
}

TEST(Scopes, InnerNamesHideOuterOnes) {
  const Module m = kernel(
      ".reg .b32 x; mov.u32 x, 1;\n"
      "{ .reg .b64 x; .reg .b64 %r<4>; mov.u64 x, 2; mov.u64 %r1, 0; mov.u32 %r9, 0;\n"
      "  { .reg .f32 %r1; mov.f32 %r1, 0f00000000; } mov.u64 %r1, 1; }\n"
      "mov.u32 x, 3; mov.u32 %r1, 4;");
  const Function& f = function(m);
  std::vector<Type> types;
  for (const Instruction& i : f.body) types.push_back(f.registers[f.operands(i)[0].index].type);
  EXPECT_EQ(types, (std::vector<Type>{Type::b32, Type::b64, Type::b64, Type::b32, Type::f32,
                                      Type::b64, Type::b32, Type::b32}));
  EXPECT_EQ(f.operands(f.body[0])[0].index, f.operands(f.body[6])[0].index);
  EXPECT_EQ(f.operands(f.body[2])[0].index, f.operands(f.body[5])[0].index);
  EXPECT_NE(f.operands(f.body[2])[0].index, f.operands(f.body[7])[0].index);
}

TEST(Scopes, LeadingZerosMakeAnotherName) {
  const Module m = kernel(".reg .b32 %r01; mov.u32 %r01, 0; mov.u32 %r1, 0;");
  const Function& f = function(m);
  EXPECT_NE(f.operands(f.body[0])[0].index, f.operands(f.body[1])[0].index);
}

TEST(Scopes, RangesOverlookLeadingZeros) {
  const Module m = kernel(
      ".reg .b32 %x<20>; mov.u32 %x1, 0; mov.u32 %x01, 0; mov.u32 %x0019, 0; mov.u32 %x19, 0;\n"
      "mov.u32 %x0, 0; mov.u32 %x00, 0;");
  const Function& f = function(m);
  auto index = [&](unsigned i) { return f.operands(f.body.at(i))[0].index; };
  EXPECT_EQ(index(0), index(1));
  EXPECT_EQ(index(2), index(3));
  EXPECT_EQ(index(4), index(5));
  EXPECT_NE(index(0), index(4));
}

TEST(Scopes, RangesMayEndInDigits) {
  const Module m = kernel(".reg .f64 %r1x<3>; .reg .f64 %y1<30>; mov.f64 %y129, %r1x2;");
  const Function& f = function(m);
  EXPECT_EQ(f.registers[f.operands(f.body[0])[0].index].type, Type::f64);
}

// Inline assembly repeats its labels, each in its own braces.
TEST(Labels, AreFoundInTheInnermostScope) {
  const Module m = kernel(
      "{ L: bra L; @%p1 bra DONE; DONE: }\n{ L: bra L; bra OUT; @%p1 bra DONE; DONE: }\nOUT: ret;");
  const Function& f = function(m);
  auto target = [&](unsigned i) { return f.labels[f.operands(f.body[i])[0].index]; };
  EXPECT_EQ(target(0).instruction, 0u);
  EXPECT_EQ(target(1).instruction, 2u);
  EXPECT_EQ(target(2).instruction, 2u);
  EXPECT_EQ(target(3).name, "OUT");
  EXPECT_EQ(target(3).instruction, 5u);
  EXPECT_EQ(target(4).instruction, 5u);
  EXPECT_EQ(f.labels.size(), 5u);
}

TEST(Labels, AnInnerLabelBelowHidesAnOuterOneAbove) {
  const Module m = kernel("L: { bra L; mov.u32 %r1, 0; L: } ret;");
  const Function& f = function(m);
  EXPECT_EQ(f.labels[f.operands(f.body[0])[0].index].instruction, 2u);
}

TEST(Labels, MayEndTheBodyAndBeNamedLikeAnything) {
  const Module m = kernel("bra table; bra ret; table: ret: END:");
  const Function& f = function(m);
  EXPECT_EQ(show(m, f, f.body[0]), "bra label:table");
  EXPECT_EQ(f.labels.back().instruction, 2u);
}

TEST(Tables, ListLabelsAndFunctions) {
  const Module m = module_of(
      ".func f() { ret; } .func g() { ret; }\n"
      ".entry k() { .reg .b32 %r1; .reg .b64 %rd1;\n"
      "$T: .branchtargets $A, $B, $A;\nbrx.idx %r1, $T;\n$A: ret;\n$B: ret;\n"
      "C: .calltargets f, g;\ncall %rd1, (), C; }");
  const Function& k = function(m);
  EXPECT_EQ(show(m, k, k.body[0]), "brx.idx %r1 table:$T");
  ASSERT_EQ(k.tables.size(), 2u);
  EXPECT_EQ(k.tables[0].entries, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(k.labels[1].name, "$B");
  EXPECT_EQ(k.tables[1].entries, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Locations, FollowTheInstructions) {
  const Module m = module_of(
      ".file 1 \"a.cu\"\n.entry k() {\nret;\n.loc 1 10 5\nret;\nret;\n"
      ".loc 1 3 2, function_name $L__info_string0, inlined_at 1 10 5\nret;\n"
      ".loc 1 4 2, function_name $L__info_string1+0, inlined_at 9 9 9\nret;\n}\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,51\n.b8 102,0\n"
      "$L__info_string1: .b8 103\n.b8 0\n}\n");
  const Function& k = function(m);
  auto at = [&](unsigned i) { return k.locations.at(k.body.at(i).location); };
  EXPECT_EQ(k.body[0].location, none);
  EXPECT_EQ(at(1).line, 10u);
  EXPECT_EQ(at(1).column, 5u);
  EXPECT_EQ(k.body[1].location, k.body[2].location);
  EXPECT_EQ(at(3).function, "_Z3f");
  EXPECT_EQ(at(3).inlined_at, k.body[1].location);
  EXPECT_EQ(at(4).function, "g");
  EXPECT_EQ(k.locations.at(at(4).inlined_at).file, 9u);
}

// A header's line 20 is inlined at lines 5 and 6. Coming back to them names the line only.
TEST(Locations, OfAnInlinedLineBelongToTheCallNamedLast) {
  const Module m = module_of(
      ".file 1 \"a.cu\"\n.file 2 \"h.h\"\n.entry k() {\n"
      ".loc 1 5 3\n.loc 2 20 1, function_name a, inlined_at 1 5 3\n"
      ".loc 2 90 1, function_name b, inlined_at 2 20 1\nret;\n"
      ".loc 1 6 3\n.loc 2 20 1, function_name a, inlined_at 1 6 3\n"
      ".loc 2 90 1, function_name b, inlined_at 2 20 1\nret;\n"
      ".loc 1 5 3\nret;\n.loc 2 90 1, function_name b, inlined_at 2 20 1\nret;\n"
      ".loc 1 6 3\nret;\n.loc 2 90 1, function_name b, inlined_at 2 20 1\nret;\n}\n");
  const Function& k = function(m);
  const auto caller = [&](unsigned i) {
    const Location* at = &k.locations.at(k.body.at(i).location);
    while (at->inlined_at != none) at = &k.locations.at(at->inlined_at);
    return at->line;
  };
  EXPECT_EQ(caller(0), 5u);
  EXPECT_EQ(caller(1), 6u);
  EXPECT_EQ(caller(3), 5u);
  EXPECT_EQ(caller(5), 6u);
}

TEST(Locations, OfInlineAssemblyAreThoseOfItsStatement) {
  const Module m = module_of(
      ".file 1 \"a.py\"\n.entry k() {\n.loc 1 5 16 // a.py:5:16\n"
      "// begin inline asm\n.loc 1 5 16\nret;\n"
      ".loc 1 6 16 // a.py:6:16\nret;\n.loc 1 7 16\nret;\n// end inline asm\nret;\n.loc 1 6 3\n"
      "// begin inline asm\nret;\n.loc 1 7 3\nret;\n\n// end inline asm\n.loc 1 8 1\nret;\n}\n");
  const Function& k = function(m);
  std::vector<std::uint32_t> lines;
  for (const Instruction& in : k.body) lines.push_back(k.locations.at(in.location).line);
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{5, 5, 5, 5, 6, 6, 8}));
}

TEST(Functions, BodiesHaveTheirOwnVariables) {
  const Module m = kernel(".shared .align 8 .b64 bar; .extern .shared .b8 dyn[]; .local .b8 z[3];");
  EXPECT_EQ(testing::variable(m, "bar").function, 0u);
  EXPECT_EQ(testing::variable(m, "z").space, Space::local);
  EXPECT_TRUE(testing::variable(m, "dyn").unsized);
}

// Names outlive the parser because they are views of the text that the module owns.
TEST(Functions, NamesLiveAsLongAsTheModule) {
  std::vector<Module> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(kernel("ret;"));
  const Module copy = kept[1];
  kept.clear();
  EXPECT_EQ(function(copy).name, "k");
}

}  // namespace
}  // namespace inflight::ptx
