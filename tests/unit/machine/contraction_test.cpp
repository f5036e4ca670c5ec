// Finds the products that the assembler joins with sums.
#include "gpu/machine/instruction/contraction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/machine/described_kernel.hpp"

namespace inflight::machine {
namespace {

using testing::ElementsAre;

// What each add and sub of the body is: "a*b+c" with signs, or "sum" if it is not joined. After
// them, "product" for each mul that must be computed. The registers are a to z.
std::vector<std::string> found(const std::string& body, const std::string& target = "sm_90") {
  std::string registers;
  for (char r = 'a'; r <= 'z'; ++r) registers += std::string(r == 'a' ? "" : ", ") + r;
  const DescribedKernel kernel(".visible .entry k() {\n.reg .f32 " + registers +
                                   "; .reg .f64 %d<9>; .reg .pred %p<4>; .reg .b64 %rd<4>;\n" +
                                   body + "\n}\n",
                               target);
  if (!kernel.function) return {};
  const ptx::Function& written = kernel.module->functions.back();
  const Function* const function = kernel.function.get();
  const auto name = [&](const ptx::Operand* o) {
    return o->kind == ptx::Operand::Kind::reg ? std::string(written.registers[o->index].name)
                                              : "constant";
  };
  std::vector<std::string> sums, products;
  for (const Instruction& in : function->body) {
    if (in.opcode == ptx::Opcode::mul && !in.contracted) products.emplace_back("product");
    if (in.opcode != ptx::Opcode::add && in.opcode != ptx::Opcode::sub) continue;
    const auto* const c = in.as<Contraction>();
    sums.push_back(c ? (c->minus_product ? "-" : "") + name(c->factors[0]) + "*" +
                           name(c->factors[1]) + (c->minus_addend ? "-" : "+") + name(c->addend)
                     : "sum");
  }
  sums.insert(sums.end(), products.begin(), products.end());
  return sums;
}

const std::string keep = " st.global.f32 [%rd1], z;";

TEST(Contraction, ASumTakesItsProduct) {
  EXPECT_THAT(found("mul.f32 m, a, b; add.f32 z, m, c;" + keep), ElementsAre("a*b+c"));
  EXPECT_THAT(found("mul.f32 m, a, b; sub.f32 z, m, c;" + keep), ElementsAre("a*b-c"));
  EXPECT_THAT(found("mul.f32 m, a, b; sub.f32 z, c, m;" + keep), ElementsAre("-a*b+c"));
  EXPECT_THAT(found("mul.f32 m, a, 0f40400000; add.f32 z, m, 0f3F800000;" + keep),
              ElementsAre("a*constant+constant"));
}

TEST(Contraction, CopiesAndNegationsBetweenThemChangeNothing) {
  EXPECT_THAT(found("mul.f32 m, a, b; mov.f32 n, m; add.f32 z, n, c;" + keep),
              ElementsAre("a*b+c"));
  EXPECT_THAT(found("mul.f32 m, a, b; neg.f32 n, m; sub.f32 z, n, c;" + keep),
              ElementsAre("-a*b-c"));
  EXPECT_THAT(found("mul.f32 m, a, b; abs.f32 n, m; add.f32 z, n, c;" + keep),
              ElementsAre("sum", "product"));
}

TEST(Contraction, OnlyWithoutRoundingModifiersAndWithEqualFlushing) {
  EXPECT_THAT(found("mul.rn.f32 m, a, b; add.f32 z, m, c;" + keep), ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; add.rn.f32 z, m, c;" + keep), ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.ftz.f32 m, a, b; add.f32 z, m, c;" + keep), ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.sat.f32 m, a, b; add.f32 z, m, c;" + keep), ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; add.sat.f32 z, m, c;" + keep), ElementsAre("a*b+c"));
}

TEST(Contraction, NothingElseMayUseTheProduct) {
  EXPECT_THAT(found("mul.f32 m, a, b; add.f32 z, m, c; st.global.f32 [%rd1], m;" + keep),
              ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; add.f32 y, m, c; sub.f32 z, y, m;" + keep),
              ElementsAre("a*b+c", "-a*b+y"));
  EXPECT_THAT(found("mul.f32 m, a, b; add.f32 z, m, m;" + keep), ElementsAre("sum", "product"));
}

TEST(Contraction, OfTwoProductsTheOneWithFewerUsesOrTheFirst) {
  const std::string both = "mul.f32 m, a, b; mul.f32 n, c, d; add.f32 y, m, n;";
  EXPECT_THAT(found(both + "mov.f32 z, y;" + keep), ElementsAre("a*b+n", "product"));
  EXPECT_THAT(found(both + "add.f32 z, m, y;" + keep), ElementsAre("c*d+m", "sum", "product"));
  EXPECT_THAT(found(both + "add.f32 z, n, y;" + keep), ElementsAre("a*b+n", "sum", "product"));
}

TEST(Contraction, WithinAStretchWithoutBranches) {
  const std::string test = "setp.gt.f32 %p1, a, b;";
  EXPECT_THAT(found(test + "mul.f32 m, a, b; @%p1 bra L; mov.f32 d, c; L: add.f32 z, m, c;" + keep),
              ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; bra L; L: add.f32 z, m, c;" + keep), ElementsAre("a*b+c"));
  EXPECT_THAT(found("mul.f32 m, a, b; membar.cta; add.f32 z, m, c;" + keep),
              ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; div.rn.f32 d, a, b; add.f32 z, m, d;" + keep),
              ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; div.approx.f32 d, a, b; add.f32 z, m, d;" + keep),
              ElementsAre("a*b+d"));
  EXPECT_THAT(
      found("mov.f32 m, a; L: add.f32 z, m, c;" + test + "mul.f32 m, a, b; @%p1 bra L;" + keep),
      ElementsAre("sum", "product"));
}

TEST(Contraction, GuardsAndFactorsThatChange) {
  const std::string test = "setp.gt.f32 %p1, a, b;";
  EXPECT_THAT(found(test + "mul.f32 m, a, b; @%p1 add.f32 z, m, c;" + keep), ElementsAre("a*b+c"));
  EXPECT_THAT(found(test + "@%p1 mul.f32 m, a, b; add.f32 z, m, c;" + keep),
              ElementsAre("sum", "product"));
  EXPECT_THAT(found("mul.f32 m, a, b; mov.f32 a, c; add.f32 z, m, c;" + keep),
              ElementsAre("sum", "product"));
}

TEST(Contraction, NotInCodeForADebugger) {
  EXPECT_THAT(found("mul.f32 m, a, b; add.f32 z, m, c;" + keep, "sm_90, debug"),
              ElementsAre("sum", "product"));
}

}  // namespace
}  // namespace inflight::machine
