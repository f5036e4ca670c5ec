// Tests the scanner of sources.
#include "tests/house/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inflight::house {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Source, CodeHasNoCommentsAndNoTexts) {
  EXPECT_EQ(code_of("a(); // b\nc();/* d\n e */f(\"g // h\", 'i', '\\'');"),
            "a();  \nc(); f( ,  ,  );");
  EXPECT_EQ(code_of("x = 1'000'000; y = R\"a(\")\" z)a\";"), "x = 1'000'000; y = R ;");
}

TEST(Source, WordsAreWhole) {
  EXPECT_TRUE(has_word("a.run(b)", "run"));
  EXPECT_FALSE(has_word("a.rerun(b)", "run"));
  EXPECT_FALSE(has_word("run_all()", "run"));
}

TEST(Source, ADefinitionIsNoCall) {
  constexpr auto code =
      "int f(int a = 1, V b = {0, 0}) { return g(a); }\n"
      "int h() { if (f(2)) { other(); } return x.f(3); }\n"
      "int C::f() const { return k(); }\n"
      "int f(int);\n";
  EXPECT_THAT(definitions_of(code, "f"), HasSubstr("g(a)"));
  EXPECT_THAT(definitions_of(code, "f"), Not(HasSubstr("other")));
  EXPECT_THAT(definitions_of(code, "C::f"), HasSubstr("k()"));
  EXPECT_THAT(definitions_of(code, "C::f"), Not(HasSubstr("g(a)")));
  EXPECT_THAT(definitions_of(code, "C::h"), HasSubstr("other"));
  EXPECT_THAT(definitions_of(code, "g"), IsEmpty());
}

TEST(Source, TablesMacrosAndClassesAreDefinitions) {
  EXPECT_THAT(definitions_of("constexpr Row rows[] = {{a, lower_a}};", "rows"),
              HasSubstr("lower_a"));
  EXPECT_THAT(definitions_of("EXPORT(name)(int a) { return run(a); }", "name"), HasSubstr("run"));
  EXPECT_THAT(definitions_of("ENTRY(home, name, (int a), { return run(a); })", "name"),
              HasSubstr("run"));
  EXPECT_THAT(definitions_of("struct V { void operator()(A) { run(); } };", "V"), HasSubstr("run"));
}

TEST(Source, TypesHaveTheirNamespaces) {
  const Types types = types_of(
      "class A;\n"
      "namespace n::m {\n"
      "struct B;  enum class E : int;  union U { int a; };\n"
      "class [[nodiscard]] C final : public B { class Inner; friend class F; };\n"
      "struct alignas(64) D { int e; };\n"
      "namespace { class G {}; }\n"
      "struct stat* s; void f(struct B* b) { struct Local; }\n"
      "template <class T> class H;\n"
      "using enum E;\n"
      "}\n"
      "struct Z {};\n");
  EXPECT_THAT(types.declared, ElementsAre("A", "n::m::B", "n::m::E"));
  EXPECT_THAT(types.defined, ElementsAre("n::m::U", "n::m::C", "n::m::D", "n::m::G", "Z"));
}

}  // namespace
}  // namespace inflight::house
