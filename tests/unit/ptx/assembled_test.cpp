// Instructions that ptxas takes and refuses, as recorded from it: data/assembled.txt. A `+` line is
// one that ptxas 13.0 or 13.5 takes for some chip; a `-` line is one that neither takes for any.
// Nor a `~` line, but its words are all the instruction's own, in a combination that is none: it is
// left to the kernel that reaches it.
#include "gpu/ptx/assembled.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>

#include "gpu/ptx/instructions.hpp"
#include "support.hpp"

namespace inflight::ptx {
namespace {

using testing::try_parse;

constexpr std::string_view kBefore =
    ".version 9.4\n.target sm_100a\n.address_size 64\n"
    ".global .texref tx; .global .samplerref sm; .global .surfref sf;\n"
    ".global .align 16 .b8 g[64]; .shared .align 128 .b8 s[1024]; .const .align 16 .b8 c[64];\n"
    ".visible .entry k(.param .align 16 .b8 a[64])\n{\n"
    ".reg .b8 %c<9>; .reg .b16 %h<20>; .reg .b32 %r<160>; .reg .b64 %d<160>; .reg .b128 %q<9>;\n"
    ".reg .f32 %f<160>; .reg .f64 %e<160>; .local .align 16 .b8 l[64];\n"
    ".reg .pred %p<9>;\nL:\n";

std::string mistake_in(std::string_view instruction) {
  const auto m = try_parse(std::string(kBefore) + std::string(instruction) + ";\n}\n");
  return m ? std::string() : m.error().message;
}

struct Answer {
  char kind = 0;  // as in the file
  std::string instruction;
};

std::vector<Answer> recorded() {
  std::vector<Answer> answers;
  std::ifstream in(INFLIGHT_TEST_DATA "/assembled.txt");
  for (std::string line; std::getline(in, line);) answers.push_back({line[0], line.substr(2)});
  return answers;
}

Opcode opcode_of(const std::string& instruction) {
  return decode(std::string_view(instruction).substr(0, instruction.find(' '))).base;
}

TEST(Assembled, WhatPtxasTakesAndMereCombinationsAreLoaded) {
  for (const Answer& each : recorded())
    if (each.kind != '-') EXPECT_EQ(mistake_in(each.instruction), "") << each.instruction;
}

TEST(Assembled, WhatPtxasRefusesIsRefused) {
  for (const Answer& each : recorded())
    if (each.kind == '-') EXPECT_NE(mistake_in(each.instruction), "") << each.instruction;
}

TEST(Assembled, EveryInstructionInTheTableHasAnswersOfBothKinds) {
  std::map<Opcode, std::set<bool>> kinds;
  for (const Answer& each : recorded()) kinds[opcode_of(each.instruction)].insert(each.kind == '+');
  for (unsigned o = 1; o < unsigned(Opcode::count_); ++o) {
    const bool listed = is_listed(Opcode(o)) || has_words(Opcode(o));
    if (listed && Opcode(o) != Opcode::call && Opcode(o) != Opcode::brx_idx)
      EXPECT_EQ(kinds[Opcode(o)].size(), 2u) << spelling(Opcode(o));
  }
}

// 2022 forms: those of 418 programs and those of a library's PTX wrappers.
TEST(Assembled, EveryFormInUseIsTaken) {
  std::ifstream in(INFLIGHT_TEST_DATA "/forms.txt");
  int forms = 0;
  for (std::string line; std::getline(in, line); ++forms)
    EXPECT_EQ(decode(line).assembler_refusal, "") << line;
  EXPECT_EQ(forms, 2022);
}

// ptxas 13.0 was asked for its words, so a word that it lacks is a mistake up to PTX 9.0 only.
TEST(Assembled, WordsOfLaterPtxAreLeftToTheKernelThatReachesThem) {
  const auto loads = [](int minor) {
    return bool(try_parse(
        fmt::format(".version 9.{}\n.target sm_120a\n.address_size 64\n"
                    ".visible .entry k() {{ .reg .b16 %h; .reg .f32 %f; "
                    "cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 %h, %f, %f, %h; ret; }}",
                    minor)));
  };
  EXPECT_FALSE(loads(0));
  EXPECT_TRUE(loads(1));
  EXPECT_TRUE(loads(5));
}

TEST(Assembled, InstructionsOfTheAssemblerAloneAreNotUnknown) {
  EXPECT_EQ(unknown_opcode_mistake("clmad.lo.u64"), "");
  EXPECT_EQ(unknown_opcode_mistake("fabric.submit"), "");
  EXPECT_EQ(unknown_opcode_mistake("_ldldu.b32"), "");
  EXPECT_NE(unknown_opcode_mistake("addd.u64"), "");
}

}  // namespace
}  // namespace inflight::ptx
