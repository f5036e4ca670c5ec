// The table of instructions: complete, and right about every form that programs use.
#include "gpu/ptx/instructions.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace inflight::ptx {
namespace {

TEST(Instructions, EveryOpcodeHasARow) {
  for (unsigned o = 1; o < unsigned(Opcode::count_); ++o) {
    EXPECT_EQ(rule(Opcode(o)).opcode, Opcode(o)) << spelling(Opcode(o));
    EXPECT_LE(rule(Opcode(o)).min_operands, rule(Opcode(o)).max_operands) << spelling(Opcode(o));
    EXPECT_LE(rule(Opcode(o)).min_types, rule(Opcode(o)).max_types) << spelling(Opcode(o));
  }
}

TEST(Instructions, EveryWordOfEveryRowIsOne) {
  for (unsigned o = 1; o < unsigned(Opcode::count_); ++o)
    EXPECT_EQ(rule(Opcode(o)).mistake, "") << spelling(Opcode(o));
}

TEST(Instructions, EveryModifierBelongsToAnInstruction) {
  ModSet used;
  for (unsigned o = 1; o < unsigned(Opcode::count_); ++o) used = used | rule(Opcode(o)).mods;
  for (unsigned m = 0; m < unsigned(Mod::count_); ++m)
    EXPECT_TRUE(used.has(Mod(m))) << spelling(Mod(m));
}

TEST(Instructions, NoTwoWordsAreSpelledAlike) {
  std::map<std::string_view, int> count;
  for (unsigned m = 0; m < unsigned(Mod::count_); ++m) {
    const Word w = find_word(spelling(Mod(m)));
    EXPECT_EQ(w.kind, Word::Kind::mod) << spelling(Mod(m));
    EXPECT_EQ(w.value, m) << spelling(Mod(m));
  }
#define X(name, size, text)                                  \
  EXPECT_EQ(find_word(text).kind, Word::Kind::type) << text; \
  EXPECT_EQ(find_word(text).value, unsigned(Type::name)) << text;
  INFLIGHT_PTX_TYPES(X)
#undef X
}

// 2022 forms: those of 418 programs and those of a library's PTX wrappers.
TEST(Instructions, EveryFormInUseDecodes) {
  std::ifstream in(INFLIGHT_TEST_DATA "/forms.txt");
  ASSERT_TRUE(in);
  std::string line;
  int forms = 0;
  for (; std::getline(in, line); ++forms) {
    const Form f = decode(line);
    EXPECT_EQ(f.refusal, "");
    EXPECT_NE(f.instruction.opcode, Opcode::unknown) << line;
    EXPECT_TRUE(line.starts_with(spelling(f.base))) << line;
  }
  EXPECT_EQ(forms, 2022);
}

// Decoding keeps every component: the decoded set spells the same form again.
TEST(Instructions, DecodingLosesNothing) {
  std::ifstream in(INFLIGHT_TEST_DATA "/forms.txt");
  std::string line;
  while (std::getline(in, line)) {
    const Instruction i = decode(line).instruction;
    std::size_t letters = spelling(i.opcode).size();
    auto count = [&](std::string_view text) { letters += text.size() + 1; };
    i.mods.for_each([&](Mod m) { count(spelling(m)); });
    for (unsigned t = 0; t < i.type_count; ++t) count(spelling(i.types[t]));
    if (i.vector != 1) count("v4");
    static const std::map<Space, std::string_view> spaces = {
        {Space::constant, "const"},
        {Space::global, "global"},
        {Space::local, "local"},
        {Space::param, "param"},
        {Space::shared, "shared"},
        {Space::shared_cta, "shared::cta"},
        {Space::shared_cluster, "shared::cluster"}};
    for (unsigned s = 0; s < i.space_count; ++s) count(spaces.at(i.spaces[s]));
    if (i.opcode == Opcode::wgmma_mma_async)
      count("m" + std::to_string(i.shape[0]) + "n" + std::to_string(i.shape[1]) + "k" +
            std::to_string(i.shape[2]));
    if (line.find("::ld") != line.npos || line.find("::st") != line.npos ||
        line.find("thread_sync") != line.npos || line.find("::ordered") != line.npos)
      ++letters;  // joined by `::`, not by `.`
    EXPECT_EQ(letters, line.size()) << line;
  }
}

TEST(Instructions, KeepsTypesAndSpacesInOrder) {
  const Instruction i =
      decode("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes").instruction;
  EXPECT_EQ(i.opcode, Opcode::cp_async_bulk);
  ASSERT_EQ(i.space_count, 2);
  EXPECT_EQ(i.space(0), Space::shared_cluster);
  EXPECT_EQ(i.space(1), Space::global);
  EXPECT_EQ(i.mods, ModSet{Mod::mbarrier_complete_tx_bytes});
  const Instruction c = decode("cvt.rzi.ftz.s32.f32").instruction;
  ASSERT_EQ(c.type_count, 2);
  EXPECT_EQ(c.type(0), Type::s32);
  EXPECT_EQ(c.type(1), Type::f32);
  EXPECT_EQ(c.mods, (ModSet{Mod::rzi, Mod::ftz}));
  EXPECT_EQ(decode("ld.u32").instruction.space(), Space::generic);
}

TEST(Instructions, TakesTheLongestOpcode) {
  EXPECT_EQ(decode("cp.async.ca.shared.global").base, Opcode::cp_async);
  EXPECT_EQ(decode("cp.async.bulk.commit_group").base, Opcode::cp_async_bulk_commit_group);
  EXPECT_EQ(decode("cp.async.mbarrier.arrive.noinc.b64").base, Opcode::cp_async_mbarrier_arrive);
  EXPECT_EQ(decode("fence.proxy.async.global").base, Opcode::fence_proxy);
  EXPECT_EQ(decode("fence.acq_rel.gpu").base, Opcode::fence);
  EXPECT_EQ(decode("mbarrier.arrive.expect_tx.shared.b64").base, Opcode::mbarrier_arrive);
  EXPECT_EQ(decode("tcgen05.wait::ld.sync.aligned").instruction.mods,
            (ModSet{Mod::ld, Mod::sync, Mod::aligned}));
  EXPECT_EQ(decode("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32").base,
            Opcode::mma_sp);
}

TEST(Instructions, SparseMatrixProductsMaySaySoLater) {
  const Form f = decode(
      "mma.sync.aligned.kind::mxf4.sp::ordered_metadata.block_scale.scale_vec::2X.m16n8k128.row.col"
      ".f32.e2m1.e2m1.f32.ue8m0");
  EXPECT_EQ(f.refusal, "");
  EXPECT_EQ(f.base, Opcode::mma_sp);
  EXPECT_TRUE(f.instruction.mods.has(Mod::ordered_metadata));
}

// A set has no order, so the two layouts are one modifier.
TEST(Instructions, KeepsTheOrderOfLayouts) {
  const auto mods = [](const char* opcode) { return decode(opcode).instruction.mods; };
  EXPECT_TRUE(mods("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16").has(Mod::row_col));
  EXPECT_TRUE(mods("wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16").has(Mod::col_row));
  EXPECT_TRUE(mods("wmma.mma.sync.aligned.col.col.m16n16k16.f16.f16").has(Mod::col_col));
  EXPECT_TRUE(mods("wmma.load.a.sync.aligned.col.m16n16k16.f16").has(Mod::col));
}

TEST(Instructions, ReadsShapes) {
  EXPECT_EQ(decode("wgmma.mma_async.sync.aligned.m64n248k16.f32.f16.f16").instruction.shape,
            (std::array<std::uint16_t, 3>{64, 248, 16}));
  const Instruction i = decode("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").instruction;
  EXPECT_EQ(i.shape, (std::array<std::uint16_t, 3>{16, 8, 16}));
  EXPECT_TRUE(i.mods.has(Mod::m16n8k16));
}

struct Refused {
  const char* opcode;
  const char* why;
};

TEST(Instructions, RefusesByName) {
  const Refused refused[] = {
      {"frobnicate.u32", "`frobnicate.u32` is not a known instruction"},
      {"add.sparkle.u32", "`.sparkle` in `add.sparkle.u32` is not a known modifier"},
      {"add.global.u32", "`add` takes no `.global` (in `add.global.u32`)"},
      {"popc.u32", "`popc` takes no `.u32` (in `popc.u32`)"},
      {"ld.v3.u32", "`.v3` in `ld.v3.u32` is not a known modifier"},
      {"add.lo.u32", "`add` takes no `.lo` (in `add.lo.u32`)"},
      {"mul.wide", "`mul.wide` has 0 types; `mul` takes 1"},
      {"cvt.u32", "`cvt.u32` has 1 type; `cvt` takes 2 to 3"},
      {"mov.u32.u32", "`mov.u32.u32` has 2 types; `mov` takes 1"},
      {"mov.u32.u32.u32.u32.u32", "`mov.u32.u32.u32.u32.u32` has more than 4 types"},
      {"ld.global.shared.param.u32", "`ld.global.shared.param.u32` has more than 2 state spaces"},
      {"add..u32", "`add..u32` has a dot with nothing after it"},
      {"add.u32.", "`add.u32.` has a dot with nothing after it"},
      {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
       "`.m64n12k16` in `wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16` is not a known "
       "modifier"},
  };
  for (const Refused& r : refused) {
    const Form f = decode(r.opcode);
    EXPECT_EQ(f.refusal, r.why);
    EXPECT_EQ(f.instruction.opcode, Opcode::unknown) << r.opcode;
    EXPECT_EQ(f.instruction.name, r.opcode);
  }
}

TEST(Instructions, CacheGivesTheSameFormAgain) {
  FormCache cache;
  const Form& a = cache.find("add.u32", 1);
  for (int i = 0; i < 1000; ++i) {
    static std::deque<std::string> names;
    names.push_back("sub.u32.n" + std::to_string(i));
    cache.find(names.back(), 1);  // all with the same hash
  }
  EXPECT_EQ(&cache.find("add.u32", 1), &a);
  EXPECT_EQ(a.base, Opcode::add);
}

}  // namespace
}  // namespace inflight::ptx
