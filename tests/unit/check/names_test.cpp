// Names in readable form.
#include "gpu/check/names.hpp"

#include <gtest/gtest.h>

namespace inflight::check {
namespace {

TEST(Names, AreTheSourceS) {
  EXPECT_EQ(demangled("_Z5scalePfi"), "scale(float*, int)");
  EXPECT_EQ(demangled("plain"), "plain");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  for (const char* name : {"s", "i", "Pi", "f", "v", "x", "St"}) EXPECT_EQ(demangled(name), name);
  EXPECT_EQ(readable("_Z5scalePfi"), "scale(float*, int)");
  EXPECT_EQ(readable("_Z7reverseB2v1B3cw5Pf"), "reverse(float*)");  // demangled: with [abi:...]
}

// nvcc's mangled name of f<S<S<...>>>(S<...>). Each level doubles the readable text.
std::string nested(int depth, const std::string& leaf) {
  std::string type = leaf;
  for (int i = 0; i < depth; ++i) type = "N7cutlass5layerI" + type + type + "EE";
  return "_ZN7cutlass13device_kernelI" + type + "EEvNT_6ParamsE";
}

TEST(Names, OfManyCharactersKeepWhatTellsThemApart) {
  const std::string one = nested(5, "f"), two = nested(5, "d");
  ASSERT_GT(demangled(one).size(), 500u);
  const std::string first = readable(one), second = readable(two);
  EXPECT_LT(first.size(), 200u);
  EXPECT_EQ(first.find("void cutlass::device_kernel<cutlass::layer<"), 0u) << first;
  EXPECT_NE(first, second);
  EXPECT_EQ(first.substr(first.size() - 9), "#" + short_hash(one));
}

// The C++ library's demangler fails on these.
TEST(Names, OfThousandsOfCharactersKeepTheirBeginning) {
  const std::string one = nested(10, "f");
  ASSERT_EQ(demangled(one), one);
  EXPECT_EQ(readable(one), "cutlass::device_kernel<...>(...) #" + short_hash(one));
  std::string local = one;
  local.replace(0, 3, "_ZN12_GLOBAL__N_1");
  EXPECT_EQ(readable(local),
            "(anonymous namespace)::cutlass::device_kernel<...>(...) #" + short_hash(local));
}

TEST(Names, LoseTheInnermostArgumentsFirst) {
  const std::string text = readable(nested(3, "f"), 60);
  EXPECT_EQ(text.find("void cutlass::device_kernel<"), 0u) << text;
  EXPECT_NE(text.find("<...>"), text.npos) << text;
}

// Angle characters that are not brackets do not affect the others.
TEST(Names, OperatorsAreNoBrackets) {
  const std::string name = "_Z1fIXadL_Z" + std::string("lsRSoi") + "EEEvv";
  const std::string text =
      readable("plain_name<with->arrow, operator<< and more>(int, int, int)", 30);
  EXPECT_EQ(text.find("plain_name<...>(...)"), 0u) << text;
  EXPECT_FALSE(readable(name, 4).empty());
}

TEST(Names, WithoutAnyBracketAreCutAtTheEnd) {
  const std::string name(1000, 'k');
  const std::string text = readable(name, 50);
  EXPECT_EQ(text, std::string(50, 'k') + "... #" + short_hash(name));
  EXPECT_FALSE(readable("_Z" + name, 50).empty());
  EXPECT_FALSE(readable("_ZN99999999999999999999" + name, 50).empty());
}

}  // namespace
}  // namespace inflight::check
