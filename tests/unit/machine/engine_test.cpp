// Another engine replaces a basic block: it uses the registers of the description and the decoded
// function, and continues at the next block.
#include <gtest/gtest.h>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/run/warp.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

constexpr const char* kernel = R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %n, %sum, %i, %t; .reg .b64 %p, %at; .reg .pred %q;
  ld.param.u64 %p, [out];
  mov.u32 %n, %tid.x;
  mov.u32 %i, 0;
  mov.u32 %sum, 0;
loop:
  mad.lo.u32 %sum, %i, %i, %sum;
  add.u32 %i, %i, 1;
  setp.le.u32 %q, %i, %n;
  @%q bra loop;
  mul.wide.u32 %at, %n, 4;
  add.u64 %at, %p, %at;
  st.global.u32 [%at], %sum;
  ret;
}
)";

int blocks_run = 0;  // by the function below
Ref i_at, n_at, sum_at;
const Op *loop_again, *behind_loop;

// The loop's body as a compiler would generate it: for the lanes of the mask, then the branch.
const Op* loop_by_hand(Warp& w, const Op*) {
  ++blocks_run;
  auto* const i = w.at<std::uint32_t>(i_at);
  auto* const n = w.at<std::uint32_t>(n_at);
  auto* const sum = w.at<std::uint32_t>(sum_at);
  std::uint32_t again = 0;
  for (int l = 0; l < lanes; ++l) {
    if (!(w.mask >> l & 1)) continue;
    sum[l] += i[l] * i[l];
    ++i[l];
    if (i[l] <= n[l]) again |= 1u << l;
  }
  if (again == w.mask) return w.jump(loop_again);
  if (again == 0) return w.jump(behind_loop);
  return w.diverge(loop_again, again, behind_loop);
}

Ref register_of(const Code& code, std::string_view name) {
  for (std::size_t r = 0; r < code.slots.size(); ++r)
    if (code.function->registers[r].name == name) return code.slots[r];
  return no_ref;
}

TEST(Engines, OneMayRunABasicBlockThatAnotherInterprets) {
  PtxRunner runner({kernel});
  const Kernel& k = *runner.program->kernel("k");
  const Code& code = **prepared(*runner.program).code({k.module, k.function}, {});
  const Flow& flow = code.description->flow;
  ASSERT_EQ(flow.blocks.size(), 4u);  // before, the loop, after, and the end
  i_at = register_of(code, "%i"), n_at = register_of(code, "%n"),
  sum_at = register_of(code, "%sum");
  loop_again = &code.ops[code.block_start[1]];
  behind_loop = &code.ops[code.block_start[2]];
  const_cast<Op*>(loop_again)->run = loop_by_hand;

  auto* const out = runner.make<std::uint32_t>(64);
  ASSERT_TRUE(runner.run("k", {1}, {64}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_GT(blocks_run, 0);
  for (std::uint32_t n = 0, sum = 0; n < 64; ++n) {
    sum += n * n;
    EXPECT_EQ(out[n], sum) << n;
  }
}

}  // namespace
}  // namespace inflight::machine
