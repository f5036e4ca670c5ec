// Every access that a family must report itself has its report in code for listeners.
#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/lowering/observing.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// The ops of instruction `index` of the kernel, in code that reports accesses.
std::vector<Op> ops_of(const Code& code, std::uint32_t index) {
  std::vector<Op> ops;
  for (const Op& op : code.ops)
    if (op.instruction == index) ops.push_back(op);
  return ops;
}

// What a family does that forgets to report.
std::vector<Op> without_reports(std::vector<Op> ops) {
  for (Op& op : ops)
    if (op.inner) op.run = op.inner;
  return ops;
}

void expect_needed(const std::string& text, bool needed) {
  PtxRunner runner({kernel_k(text, ".shared .align 16 .b8 tile[1024];\n")});
  ASSERT_TRUE(runner.program) << runner.error;
  const Kernel& k = *runner.program->kernel("k");
  const auto code = prepared(*runner.program).code({k.module, k.function}, {.accessed = true});
  ASSERT_TRUE(code) << code.error();
  ASSERT_TRUE((*code)->refusals.empty()) << (*code)->refusals.front().what;
  const auto& body = (*code)->description->body;
  const ptx::Function& function = *(*code)->function;
  const auto index = static_cast<std::uint32_t>(body.size() - 2);  // before `ret`
  const std::vector<Op> ops = ops_of(**code, index);
  EXPECT_TRUE(reports_access(body[index], function, ops)) << text;
  EXPECT_EQ(reports_access(body[index], function, without_reports(ops)), !needed) << text;
  EXPECT_EQ(reports_access(body[index], function, {}), !needed) << text;
}

TEST(ReportedAccess, IsMissedWhereAFamilyForgetsIt) {
  for (const char* const text :
       {"atom.global.add.u32 %r2, [%rd1], 1;", "red.shared.add.u32 [tile], 1;",
        "atom.cas.b64 %rd3, [%rd1], 0, 1;", "@%p1 atom.global.exch.b32 %r2, [%rd1], 1;",
        "ld.acquire.gpu.u32 %r2, [%rd1];", "ld.volatile.shared.u32 %r2, [tile];",
        "st.release.sys.global.u32 [%rd1], 1;", "st.global.u32 [%rd1], 1;",
        "st.shared.v2.u32 [tile], {1, 2};", "multimem.red.relaxed.gpu.global.add.u32 [%rd1], 1;"})
    expect_needed(text, true);
  for (const char* const text : {"ld.global.u32 %r2, [%rd1];", "ld.param.u64 %rd3, [out];",
                                 "add.u32 %r2, %r1, 1;", "bar.sync 0;"})
    expect_needed(text, false);
}

}  // namespace
}  // namespace inflight::machine
