// Every form of operand.
#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::function;
using testing::kernel;
using testing::kPrologue;
using testing::later_kernel;
using testing::show;
using testing::shown;
using testing::try_parse;

struct Case {
  const char* text;
  const char* means;
};

TEST(Operands, AreReadAsWritten) {
  const Case cases[] = {
      {"add.s32 %r1, %r2, %r3;", "add.s32 %r1 %r2 %r3"},
      {"add.s32 %r1, %r2, -7;", "add.s32 %r1 %r2 -7"},
      {"add.s32 %r1,%r2,0x10;", "add.s32 %r1 %r2 16"},
      {"and.b32 %r1, %r2, ~0;", "and.b32 %r1 %r2 -1"},
      {"mov.u32 %r1, 4294967295;", "mov.u32 %r1 4294967295"},
      {"mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;", "mov.u64 %rd1 -1"},
      {"mov.u32 %r1, 0b110;", "mov.u32 %r1 6"},
      {"mov.u32 %r1, 017;", "mov.u32 %r1 15"},
      {"mov.u32 %r1, 4*(WARP_SZ-1);", "mov.u32 %r1 124"},
      {"mov.u32 %r1, WARP_SZ;", "mov.u32 %r1 32"},
      {"mov.u32 %r1, (3 > 2) ? 1 << 4 : 0;", "mov.u32 %r1 16"},
      {"mov.f32 %f1, 0f3F800000;", "mov.f32 %f1 f32:1065353216"},
      {"mov.f32 %f1, -0f3F800000;", "mov.f32 %f1 f32:3212836864"},
      {"mov.f64 %fd1, 0d0000000000000002;", "mov.f64 %fd1 f64:2"},
      {"mov.f64 %fd1, 1.5;", "mov.f64 %fd1 f64:4609434218613702656"},
      {"mov.u32 %r1, %tid.x;", "mov.u32 %r1 %tid.x"},
      {"mov.u32 %r1, %laneid;", "mov.u32 %r1 %laneid"},
      {"mov.u64 %rd1, %clock64;", "mov.u64 %rd1 %clock64"},
      {"mov.u32 %r1, %envreg3;", "mov.u32 %r1 %envreg3"},
      {"mov.b32 %r1, %reserved_smem_offset_1;", "mov.b32 %r1 %reserved_smem_offset_1"},
      {"mov.v4.u32 {%r1,%r2,%r3,_}, %ctaid;",
       "mov.v4.u32 {%r1,%r2,%r3,_} {%ctaid.x,%ctaid.y,%ctaid.z,0}"},
      {"mov.u64 %rd1, table;", "mov.u64 %rd1 var:table"},
      {"mov.u64 %rd1, table+8;", "mov.u64 %rd1 var:table+8"},
      {"mov.u64 %rd1, table+8-4;", "mov.u64 %rd1 var:table+4"},
      {"mov.b32 %r1, {%h0, %h1};", "mov.b32 %r1 {%h0,%h1}"},
      {"mov.b32 {%h0, _}, %r1;", "mov.b32 {%h0,_} %r1"},
      {"ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r1 [%rd1]"},
      {"ld.global.u32 %r1, [%rd1+4];", "ld.global.u32 %r1 [%rd1+4]"},
      {"ld.global.u32 %r1, [%rd1 + -8];", "ld.global.u32 %r1 [%rd1+-8]"},
      {"ld.global.u32 %r1, [%rd1-8];", "ld.global.u32 %r1 [%rd1+-8]"},
      {"ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];",
       "ld.global.v4.f32 {%f1,%f2,%f3,%f4} [%rd1+16]"},
      {"ld.global.v4.u32 {%r1,_,_,%r2}, [%rd1];", "ld.global.v4.u32 {%r1,_,_,%r2} [%rd1]"},
      {"ld.param.u64 %rd1, [a];", "ld.param.u64 %rd1 [var:a]"},
      {"ld.shared.u32 %r1, [s+12];", "ld.shared.u32 %r1 [var:s+12]"},
      {"ld.u32 %r1, [0];", "ld.u32 %r1 [0]"},
      {"ld.u32 %r1, [0x1000+16];", "ld.u32 %r1 [4112]"},
      {"st.local.v2.u32 [depot], {%r1, 5};", "st.local.v2.u32 [var:depot] {%r1,5}"},
      {"st.global.f32 [%rd1], 0f00000000;", "st.global.f32 [%rd1] f32:0"},
      {"setp.lt.s32 %p1, %r1, %r2;", "setp.lt.s32 %p1 %r1 %r2"},
      {"setp.lt.s32 %p1|%p2, %r1, %r2;", "setp.lt.s32 %p1|%p2 %r1 %r2"},
      {"setp.lt.and.s32 %p1, %r1, %r2, !%p3;", "setp.lt.and.s32 %p1 %r1 %r2 !%p3"},
      {"setp.lt.s32 %p1|_, %r1, %r2;", "setp.lt.s32 %p1 %r1 %r2"},
      {"shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", "shfl.sync.idx.b32 %r1|%p1 %r2 0 31 -1"},
      {"elect.sync _|%p1, 0xffffffff;", "elect.sync _|%p1 4294967295"},
      {"elect.sync _ | %p1, -1;", "elect.sync _|%p1 -1"},
      {"@%p1 mov.u32 %r1, %r2;", "@%p1 mov.u32 %r1 %r2"},
      {"@!%p2 mov.u32 %r1, %r2;", "@!%p2 mov.u32 %r1 %r2"},
      {"atom.global.add.u32 _, [%rd1], 1;", "atom.global.add.u32 _ [%rd1] 1"},
      {"cp.async.ca.shared.global [%r1], [%rd1+4], 4, 0;",
       "cp.async.ca.shared.global [%r1] [%rd1+4] 4 0"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
       "[%rd1, {%r2, %r3}], [%r4];",
       "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1] [%rd1] "
       "{%r2,%r3} [%r4]"},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r4];",
       "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1] {%r2} [%r4]"},
      {"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
       "[%rd1, {%r2,%r3,%r4,%r5}], [%r6], {%h0, %h1};",
       "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1] "
       "[%rd1] {%r2,%r3,%r4,%r5} [%r6] {%h0,%h1}"},
      {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, %rd2, {%f5,%f6}];",
       "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4} [%rd1] [%rd2] {%f5,%f6}"},
      {"vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;",
       "vabsdiff4.u32.u32.u32.add %r1 %r2 %r3 %r4"},
      {"bar.sync 0;", "bar.sync 0"},
      {"# 5 \"a.cu\"\nvmad.s32.s32.s32 %r1, -%r2, %r3, %r4;", "vmad.s32.s32.s32 %r1 !%r2 %r3 %r4"},
      {"ld.shared.b32 %r1, s[2];", "ld.shared.b32 %r1 [var:s+8]"},
      {"mov.u32 %r1, %ntid.w;", "mov.u32 %r1 0"},
      {"@%p1 prmt\n.b32 .f4e %r1, %r2, %r3, 0;", "@%p1 prmt.b32.f4e %r1 %r2 %r3 0"},
      {"ret;", "ret"},
      {"bra END; END: ret;", "bra label:END"},
      {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;",
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1] 64"},
  };
  for (const Case& c : cases) EXPECT_EQ(shown(c.text), c.means);
}

TEST(Operands, TextureReadsSayWhetherTexelsAreResident) {
  const Module m = kernel(
      "@!%p2 tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4} | %p1, [%rd1, {%f5,%f6}];\n"
      "tld4.r.2d.v4.f32.f32 {%f1,_,_,%f4}|%p1, [%rd1, {%f5,%f6}];");
  const Function& f = function(m);
  ASSERT_EQ(f.body.size(), 4u);
  EXPECT_TRUE(f.refusals.empty());
  for (const unsigned i : {1u, 3u}) {
    EXPECT_EQ(f.body[i].name, "setp.eq.u32");
    EXPECT_EQ(f.registers[f.operands(f.body[i])[0].index].type, Type::pred);
  }
  EXPECT_TRUE(f.body[1].guarded && f.body[1].guard_negated);
  EXPECT_EQ(f.body[1].guard, f.body[0].guard);
}

TEST(Operands, VideoInstructionsSelectBytes) {
  const Module m = kernel(
      "vadd.s32.u32.s32 %r1, %r2.b3, %r3.h1; vadd4.u32.u32.u32 %r1.b10, "
      "%r2.b7654, %r3.b3210, %r4;");
  const Function& f = function(m);
  auto part = [&](unsigned i, unsigned o) {
    return Selector::of(f.operands(f.body.at(i))[o].value);
  };
  EXPECT_EQ(part(0, 0).unit, 0);
  EXPECT_EQ(part(0, 1).unit, 'b');
  EXPECT_EQ(part(0, 1).count, 1);
  EXPECT_EQ(part(0, 1).parts[0], 3);
  EXPECT_EQ(part(0, 2).unit, 'h');
  EXPECT_EQ(part(1, 0).count, 2);
  EXPECT_EQ(part(1, 1).parts, (std::array<std::uint8_t, 4>{7, 6, 5, 4}));
}

TEST(Operands, VectorRegistersHaveComponents) {
  const Module m = kernel(".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 %f1, v.x, v.w;");
  const Function& f = function(m);
  const Operand whole = f.operands(f.body.at(0))[0];
  ASSERT_EQ(whole.kind, Operand::Kind::vector);
  ASSERT_EQ(whole.count, 4);
  const auto add = f.operands(f.body.at(1));
  EXPECT_EQ(add[1].index, f.pool[whole.index].index);
  EXPECT_EQ(add[2].index, f.pool[whole.index + 3].index);
  EXPECT_EQ(f.registers.at(add[2].index).type, Type::f32);
}

TEST(Operands, VectorRegistersComeInRangesAndAsParameters) {
  const Module m = testing::module_of(
      ".func (.reg .v2 .u32 out) f(.reg .v4 .f32 in) { .reg .v2 .b32 %v<3>;\n"
      "mov.b32 %v2.y, out.x; mov.f32 in.w, in.x; mov.b64 %v1, %v2; ret; }");
  const Function& f = function(m, "f");
  auto index = [&](unsigned i, unsigned o) { return f.operands(f.body.at(i))[o].index; };
  EXPECT_EQ(f.body.at(3).name, "ld.param.b32");  // of in.w
  EXPECT_EQ(index(4, 1), 0u);                    // parameters have the first registers
  EXPECT_EQ(index(5, 1), 2u);
  EXPECT_EQ(index(5, 0), 5u);
  EXPECT_EQ(f.pool[f.operands(f.body.at(6))[1].index + 1].index, index(4, 0));
}

TEST(Operands, WhatPtxasTakesAndNobodyWritesIsRefusedByName) {
  const Module m = kernel(
      ".reg .f32 f; mov.f32 f, f+1; mov.b64 %rd1, {%r1, s[%r2]}; mov.u32 %r1, -%r2;\n"
      "ld.global.v2.u32 %r1, [%rd1]; ld.global.v2.u32 {%r1}, [%rd1];\n"
      "st.global.u32 [%rd1], {%r1, %r2};\n"
      ".reg .v2 .b16 v; mov.b64 %rd1, {v, v};");
  const Function& f = function(m);
  std::vector<std::string> reasons;
  for (const Refusal& r : f.refusals) reasons.push_back(r.reason);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{
                "a register plus a constant is supported for one integer and in an address only",
                "an array element whose index is a register is not supported here: compute its "
                "address",
                "only `vmad` takes a negated register",
                "`ld.global.v2.u32` moves 2 elements, but its operand has a different number",
                "`ld.global.v2.u32` moves 2 elements, but its operand has a different number",
                "`st.global.u32` moves 1 element, but its operand has a different number",
                "a vector register as one element of a list is not supported"}));
}

TEST(Operands, AnElementByARegisterIsAnAddressComputedBefore) {
  const Module m = kernel(
      ".reg .s16 h; .reg .f32 f;\n"
      "ld.shared.b32 %r1, s[%r2];\n"
      "to: @%p1 ld.shared.b32 %r1, s[h+-1];\n"
      "mov.u64 %rd1, s[%rd2];");
  const Function& f = function(m);
  std::vector<std::string> names;
  for (const Instruction& i : f.body) names.emplace_back(i.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mov.u64", "mad.wide.u32", "ld.shared.b32",
                                             "cvt.s32.s16", "add.u32", "mov.u64", "mad.wide.u32",
                                             "ld.shared.b32", "mov.u64", "mad.lo.u64", "mov.u64"}));
  EXPECT_TRUE(f.refusals.empty());
  EXPECT_EQ(f.labels.at(0).instruction, 3u);
  EXPECT_FALSE(f.body.at(3).guarded);
  EXPECT_TRUE(f.body.at(7).guarded);
  EXPECT_EQ(f.operands(f.body.at(4))[2].value, -1);
  const Operand at = f.operands(f.body.at(2))[1];
  EXPECT_EQ(at.kind, Operand::Kind::address);
  EXPECT_EQ(at.index, f.operands(f.body.at(1))[0].index);
}

TEST(Operands, AnUnknownInstructionLeavesNothingInFrontOfIt) {
  const Module m = later_kernel("frob.b32 s[%r2], somewhere; mov.u32 %r1, 1;");
  const Function& f = function(m);
  ASSERT_EQ(f.body.size(), 2u);
  EXPECT_EQ(f.body[0].opcode, Opcode::unknown);
  EXPECT_EQ(f.operands(f.body[1])[1].value, 1);
}

TEST(Operands, EnvironmentRegistersKeepTheirNumber) {
  const Module m = kernel("mov.u32 %r1, %envreg17; mov.u32 %r1, %envreg2;");
  const Function& f = function(m);
  const Operand high = f.operands(f.body.at(0))[1], low = f.operands(f.body.at(1))[1];
  EXPECT_EQ(high.index, unsigned(Special::envreg_other));
  EXPECT_EQ(high.value, 17);
  EXPECT_EQ(low.index, unsigned(Special::envreg2));
}

TEST(Operands, OnlyNamedRegistersOfARangeExist) {
  const Module m = kernel(".reg .b32 %x<1000000>; mov.u32 %x7, %x999999; mov.u32 %x7, 1;");
  const Function& f = function(m);
  EXPECT_EQ(f.registers.size(), 2u);
  EXPECT_EQ(f.registers[0].name, "%x7");
  EXPECT_EQ(f.operands(f.body[0])[0].index, f.operands(f.body[1])[0].index);
}

TEST(Operands, WrongCountsAreRefusedNotFatal) {
  const Module m = kernel("add.s32 %r1, %r2;\n mov.u32 %r1, 1;");
  const Function& f = function(m);
  ASSERT_EQ(f.refusals.size(), 1u);
  EXPECT_EQ(f.refusals[0].instruction, 0u);
  EXPECT_EQ(f.refusals[0].reason, "`add.s32` has 2 operands; it takes 3");
  EXPECT_EQ(f.body[0].opcode, Opcode::unknown);
  EXPECT_EQ(f.body[1].opcode, Opcode::mov);
}

TEST(Operands, UnknownInstructionsOfLaterPtxStayWithTheirName) {
  const Module m = later_kernel(
      "frob.u32 %r1, [%rd1+4];\n"
      "frob.strange %r1, <<what>> #, nowhere;\n"
      "@%p1 add.v2.u32 %r1, %r2, %r3;\n"
      "mov.u32 %r1, %pm3;\n"
      "ret;");
  const Function& f = function(m);
  ASSERT_EQ(f.body.size(), 5u);
  ASSERT_EQ(f.refusals.size(), 4u);
  EXPECT_EQ(show(m, f, f.body[0]), "frob.u32 %r1 [%rd1+4]");
  EXPECT_EQ(show(m, f, f.body[1]), "frob.strange");
  EXPECT_EQ(show(m, f, f.body[2]), "@%p1 add.v2.u32 %r1 %r2 %r3");
  EXPECT_EQ(f.refusals[3].reason, "the performance counter `%pm3` is not supported");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f.body[i].opcode, Opcode::unknown) << i;
  EXPECT_EQ(f.body[4].opcode, Opcode::ret);
}

// As by ptxas. The forms of PTX after 9.5 are not known.
TEST(Operands, FormsThatNoAssemblerTakesAreRefused) {
  const auto refused = [](std::string_view version, std::string_view instruction) {
    const auto m = try_parse(std::string(version) + "\n.target sm_90a\n.address_size 64\n" +
                             std::string(kPrologue) + std::string(instruction) + "\n}\n");
    return m ? std::string() : m.error().message;
  };
  constexpr std::string_view last = ".version 9.5", later = ".version 9.6";
  EXPECT_EQ(refused(last, "mul.low.s32 %r1, %r2, %r3;"),
            "`.low` in `mul.low.s32` is not a known modifier; did you mean `.lo`?");
  EXPECT_EQ(refused(later, "mul.low.s32 %r1, %r2, %r3;"), "");
  EXPECT_EQ(refused(last, "mul.shift.s32 %r1, %r2, %r3;"),
            "`.shift` in `mul.shift.s32` is not a known modifier");
  EXPECT_EQ(refused(last, "@%p1 add.v2.u32 %r1, %r2, %r3;"),
            "`.v2` in `add.v2.u32` is not a word of `add`");
  EXPECT_EQ(refused(last, "add.b32 %r1, %r2, %r3;"),
            "`.b32` in `add.b32` is not a word of `add`; did you mean `.u32`?");
  EXPECT_EQ(refused(last, "mul.lo.lo.s32 %r1, %r2, %r3;"), "`mul.lo.lo.s32` says `.lo` twice");
  EXPECT_EQ(refused(last, "mul.lo.rn.s32 %r1, %r2, %r3;"), "");  // at the kernel that reaches it
  EXPECT_EQ(refused(last, "setp.gt.or.f16 %p1, %h1, %h2, %p2;"), "");
  EXPECT_EQ(refused(last, "addd.u32 %r1, %r2, %r3;"),
            "`addd.u32` is not a known instruction; did you mean `add`?");
  EXPECT_EQ(refused(last, "frob.u32 %r1;"), "");
  EXPECT_EQ(refused(later, "addd.u32 %r1;"), "");
  EXPECT_NE(refused(last, "cp.async.bulk.prefetch.tensor.6d.L2.global [%rd1, {%r1}];"), "");
}

// The assembler takes words in any order.
TEST(Operands, WordsMayStandInAnyOrder) {
  const Module m = kernel("add.s32.sat %r1, %r2, %r3; ld.u32.global %r1, [%rd1];");
  const Function& f = function(m);
  EXPECT_TRUE(f.refusals.empty());
  EXPECT_TRUE(f.body.at(0).mods.has(Mod::sat));
  EXPECT_EQ(f.body.at(1).space(), Space::global);
}

TEST(Operands, InstructionsKnowTheirLine) {
  const Module m = kernel("ret;\n\n ret; /* \n */ ret;");
  const Function& f = function(m);
  EXPECT_EQ(f.body[1].line, f.body[0].line + 2);
  EXPECT_EQ(f.body[2].line, f.body[0].line + 3);
}

}  // namespace
}  // namespace inflight::ptx
