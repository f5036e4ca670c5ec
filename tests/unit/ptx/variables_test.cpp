// Module directives, variables and their initial values.
#include <cstring>

#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::module_of;
using testing::try_parse;
using testing::variable;
using testing::with_header;

std::string bytes(const Variable& v) {
  std::string text;
  constexpr char digits[] = "0123456789abcdef";
  for (std::byte b : v.initial) text += {digits[unsigned(b) >> 4], digits[unsigned(b) & 15]};
  return text;
}

TEST(Directives, HeadSaysVersionTargetAndAddressSize) {
  const auto m =
      try_parse("// c\n.version 8.4 .target sm_80, texmode_independent, debug\n.address_size 64");
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->version_major, 8);
  EXPECT_EQ(m->version_minor, 4);
  EXPECT_EQ(m->target, "sm_80");
  EXPECT_EQ(m->address_size, 64u);
  EXPECT_EQ(m->name, "test");
}

TEST(Directives, FilesPragmasAndSectionsAreRead) {
  const Module m = module_of(
      ".file 1 \"/a/b.cu\"\n.file 2 \"c.h\", 1700000000, 1234\n.pragma \"nounroll\", \"x\";\n"
      ".section .debug_abbrev { .b8 1\n.b8 17,1\n $L: .b32 x+4 }\n"
      ".section .debug_info{}\n@@DWARF .section .debug_pubnames\n@@DWARF .byte 1, 2\n");
  ASSERT_EQ(m.files.size(), 2u);
  EXPECT_EQ(m.files[0].index, 1u);
  EXPECT_EQ(m.files[1].path, "c.h");
}

TEST(Directives, ASourceSectionMayHaveAnyText) {
  const Module m = module_of(
      ".visible .entry k() .language 7 .reqntid 128\n{\nret;\n}\n.nv_intermediate_source_section "
      "{\n a { \"} %x <\n.source_end\n}\n.global .u32 after;\n");
  EXPECT_EQ(m.functions.at(0).language, 7u);
  EXPECT_EQ(variable(m, "after").line, 12u);
}

TEST(Variables, ARangeDeclaresItsNames) {
  const Module m = module_of(
      ".global .u32 g<3>, h;\n.visible .entry k()\n{\n.param .u64 %P<2>; .shared .v2 .f32 s<2>;\n"
      "st.param.u64 [%P1], 7; st.shared.f32 [s0], 0f00000000; st.global.u32 [g2], 1; ret;\n}\n");
  EXPECT_EQ(variable(m, "g0").size, 4u);
  EXPECT_EQ(variable(m, "g2").space, Space::global);
  EXPECT_EQ(variable(m, "h").size, 4u);
  EXPECT_EQ(variable(m, "%P1").space, Space::param);
  EXPECT_EQ(variable(m, "s1").size, 8u);
}

// As ptxas does.
TEST(Variables, ARangeHasNeitherArraysNorInitialValues) {
  EXPECT_FALSE(try_parse(with_header(".global .u32 g<3> = 3;")));
  EXPECT_FALSE(try_parse(with_header(".global .u32 g<3>[2];")));
  const auto twice = try_parse(with_header(".global .u32 g1, h;\n.global .u64 g<3>;"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().line, 5u);
  EXPECT_FALSE(try_parse(with_header(".shared .u32 s<60000>, t<6000>;")));
  // Errors at a name that is not in the text.
  for (const char* text : {".visible .entry k(.param .u32 p<2>, .param .u32 p1) { ret; }",
                           ".visible .entry k() { .reg .u32 s<3>; .shared .u32 s<3>; ret; }",
                           ".visible .entry k() { .shared .u32 s<3>; .shared .u32 s<3>; ret; }",
                           ".visible .entry k() { .extern .shared .u32 s<3>; ret; }",
                           ".visible .entry k() { .shared .pred s<3>; ret; }",
                           ".visible .entry k() { .param .pred s<3>; ret; }"}) {
    const auto parsed = try_parse(with_header(text));
    if (!parsed) EXPECT_LT(parsed.error().line, 20u) << text;
  }
}

TEST(Variables, ScalarsArraysAndVectors) {
  const Module m = module_of(
      ".global .u32 a, b;\n.visible .const .align 16 .f32 c[3][5];\n.shared .v4 .f32 v;\n"
      ".global .v2 .u16 w[4];\n.global .align 64 .b8 buf[WARP_SZ*4];\n.weak .global .f64 d;\n"
      ".common .global .u32 e;\n.extern .shared .align 16 .b8 dyn[];\n.extern .global .u64 far;\n");
  EXPECT_EQ(variable(m, "a").size, 4u);
  EXPECT_EQ(variable(m, "b").line, 4u);
  const Variable& c = variable(m, "c");
  EXPECT_EQ(c.size, 60u);
  EXPECT_EQ(c.alignment, 16u);
  EXPECT_EQ(c.space, Space::constant);
  EXPECT_EQ(c.linkage, Linkage::visible);
  EXPECT_EQ(variable(m, "v").size, 16u);
  EXPECT_EQ(variable(m, "v").alignment, 16u);
  EXPECT_EQ(variable(m, "w").size, 16u);
  EXPECT_EQ(variable(m, "w").alignment, 4u);
  EXPECT_EQ(variable(m, "buf").size, 128u);
  EXPECT_EQ(variable(m, "d").linkage, Linkage::weak);
  EXPECT_EQ(variable(m, "e").linkage, Linkage::common);
  EXPECT_TRUE(variable(m, "dyn").unsized);
  EXPECT_EQ(variable(m, "dyn").size, 0u);
  EXPECT_EQ(variable(m, "dyn").alignment, 16u);
  EXPECT_EQ(variable(m, "far").linkage, Linkage::external);
  for (const Variable& each : m.variables) EXPECT_EQ(each.function, none);
}

TEST(Variables, ManagedAndTextures) {
  const Module m = module_of(
      ".visible .global .attribute(.managed) .align 4 .b8 man[16];\n"
      ".global .texref t = { addr_mode_0 = wrap, filter_mode = linear };\n.global .surfref u;\n"
      ".tex .u64 legacy;\n.global .attribute(.unified(19, 95)) .u32 x;");
  EXPECT_TRUE(variable(m, "man").managed);
  EXPECT_EQ(variable(m, "t").type, Type::texref);
  EXPECT_TRUE(variable(m, "t").initial.empty());
  EXPECT_FALSE(variable(m, "u").managed);
  EXPECT_EQ(variable(m, "legacy").space, Space::tex);
}

TEST(Initialisers, HoldNumbersAsTheTypeDoes) {
  const Module m = module_of(
      ".global .u8 a = 255; .global .s16 b = -2; .global .u32 c = 0x12345678;\n"
      ".global .u64 d = 1; .global .f32 e = 0f3F800000; .global .f32 f = 1.0; .global .b32 g = "
      "2.0;\n"
      ".global .f64 h = 0d3FF0000000000000; .global .f64 i = -1.0; .global .b32 j = 0f3F800000;\n"
      ".global .b64 k = 0d3FF0000000000000; .global .s32 l = -(1 << 4) + 3 * 5 % 4;\n"
      ".global .u32 n = (.u64) 7 / 2; .global .s32 o = !0 + ~0;");
  EXPECT_EQ(bytes(variable(m, "a")), "ff");
  EXPECT_EQ(bytes(variable(m, "b")), "feff");
  EXPECT_EQ(bytes(variable(m, "c")), "78563412");
  EXPECT_EQ(bytes(variable(m, "d")), "0100000000000000");
  EXPECT_EQ(bytes(variable(m, "e")), "0000803f");
  EXPECT_EQ(bytes(variable(m, "f")), "0000803f");
  EXPECT_EQ(bytes(variable(m, "g")), "00000040");
  EXPECT_EQ(bytes(variable(m, "h")), "000000000000f03f");
  EXPECT_EQ(bytes(variable(m, "i")), "000000000000f0bf");
  EXPECT_EQ(bytes(variable(m, "j")), "0000803f");
  EXPECT_EQ(bytes(variable(m, "k")), "000000000000f03f");
  EXPECT_EQ(bytes(variable(m, "l")), "f3ffffff");
  EXPECT_EQ(bytes(variable(m, "n")), "03000000");
  EXPECT_EQ(bytes(variable(m, "o")), "00000000");
}

TEST(Initialisers, FillArraysByRows) {
  const Module m = module_of(
      ".global .u8 a[4] = {1, 2}; .global .u8 b[2][3] = {{1}, {4, 5, 6}};\n"
      ".global .u8 c[2][3] = {1, 2, 3, 4}; .global .u16 d[] = {1, 2, 3};\n"
      ".global .u8 e[][2] = {{1, 2}, {3}}; .global .v2 .u8 f[2] = {{1, 2}, {3, 4}};\n"
      ".global .u8 g[2][2][2] = {{{1,2},{3,4}},{{5,6},{7}}}; .global .u32 h[3] = {};\n"
      ".const .v4 .f32 i = {1.0, 0f00000000, 0.0, 0f3F800000};");
  EXPECT_EQ(bytes(variable(m, "a")), "01020000");
  EXPECT_EQ(bytes(variable(m, "b")), "010000040506");
  EXPECT_EQ(bytes(variable(m, "c")), "010203040000");
  EXPECT_EQ(bytes(variable(m, "d")), "010002000300");
  EXPECT_EQ(variable(m, "d").size, 6u);
  EXPECT_FALSE(variable(m, "d").unsized);
  EXPECT_EQ(bytes(variable(m, "e")), "01020300");
  EXPECT_EQ(bytes(variable(m, "f")), "01020304");
  EXPECT_EQ(bytes(variable(m, "g")), "0102030405060700");
  EXPECT_EQ(bytes(variable(m, "h")), "000000000000000000000000");
  EXPECT_EQ(bytes(variable(m, "i")), "0000803f00000000000000000000803f");
}

TEST(Initialisers, HoldAddresses) {
  const Module m = module_of(
      ".func f;\n.global .u32 x[4];\n"
      ".global .u64 a = x; .global .u64 b[3] = {0, x+8, generic(x)-4};\n"
      ".global .u64 c = generic(x+12); .global .u64 d = f; .global .u32 e = x;\n"
      ".global .u8 g[3] = {7, 0xFF(x), 0xFF00(generic(x)+1)};");
  const auto& b = variable(m, "b");
  ASSERT_EQ(b.relocations.size(), 2u);
  EXPECT_EQ(b.relocations[0].offset, 8u);
  EXPECT_EQ(b.relocations[0].size, 8u);
  EXPECT_EQ(b.relocations[0].symbol, "x");
  EXPECT_EQ(b.relocations[0].addend, 8);
  EXPECT_FALSE(b.relocations[0].generic);
  EXPECT_EQ(b.relocations[1].addend, -4);
  EXPECT_TRUE(b.relocations[1].generic);
  EXPECT_EQ(b.initial.size(), 24u);
  EXPECT_EQ(variable(m, "c").relocations.at(0).addend, 12);
  EXPECT_TRUE(variable(m, "c").relocations.at(0).generic);
  EXPECT_EQ(variable(m, "d").relocations.at(0).symbol, "f");
  EXPECT_EQ(variable(m, "e").relocations.at(0).size, 4u);
  const auto& g = variable(m, "g");
  ASSERT_EQ(g.relocations.size(), 2u);
  EXPECT_EQ(g.relocations[0].offset, 1u);
  EXPECT_EQ(g.relocations[0].size, 1u);
  EXPECT_EQ(g.relocations[0].shift, 0);
  EXPECT_EQ(g.relocations[1].shift, 8);
  EXPECT_EQ(g.relocations[1].addend, 1);
  EXPECT_TRUE(g.relocations[1].generic);
}

TEST(Variables, ADefinitionReplacesItsDeclaration) {
  const Module m = module_of(
      ".extern .global .u32 x;\n.visible .global .u32 x = 5;\n.extern .global .u32 x;\n"
      ".weak .global .u32 w = 3;\n.extern .global .u32 w;\n"
      ".entry k() { .reg .u64 %d; mov.u64 %d, x; }");
  ASSERT_EQ(m.variables.size(), 2u);
  EXPECT_EQ(variable(m, "x").linkage, Linkage::visible);
  EXPECT_EQ(bytes(variable(m, "x")), "05000000");
  EXPECT_EQ(variable(m, "w").linkage, Linkage::weak);
  EXPECT_EQ(bytes(variable(m, "w")), "03000000");
}

TEST(Variables, ADeclarationMayHaveNoSizeOrAnotherAlignment) {
  const Module m = module_of(
      ".extern .global .align 4 .u32 x[];\n.visible .global .align 16 .u32 x[4];\n"
      ".extern .global .align 8 .u32 x[];\n");
  ASSERT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(variable(m, "x").size, 16u);
  EXPECT_EQ(variable(m, "x").alignment, 16u);
}

}  // namespace
}  // namespace inflight::ptx
