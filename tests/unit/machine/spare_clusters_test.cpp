// Successive launches on one host thread find no data of the previous launch in their blocks.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// Each block reports the launch, itself and its new shared memory.
constexpr const char* kernel = R"(
.shared .align 4 .b8 fixed[4];
.extern .shared .align 4 .b8 dynamic[];
.visible .entry k(.param .u64 out) {
  .reg .b32 %v<9>; .reg .b64 %p, %at, %i; .reg .pred %first;
  ld.param.u64 %p, [out];
  mov.u32 %v0, %ctaid.x;
  mov.u32 %v1, %nctaid.x;
  mov.u32 %v2, %dynamic_smem_size;
  mov.u32 %v3, %clock;
  ld.shared.u32 %v4, [fixed];
  ld.shared.u32 %v5, [dynamic];
  bar.sync 0;
  mov.u32 %v6, 77;
  st.shared.u32 [fixed], %v6;
  st.shared.u32 [dynamic], %v6;
  mov.u32 %v7, %tid.x;
  setp.ne.u32 %first, %v7, 0;
  @%first bra end;
  mul.wide.u32 %at, %v0, 16;
  add.u64 %at, %p, %at;
  add.u32 %v4, %v4, %v5;
  st.global.v4.u32 [%at], {%v0, %v1, %v2, %v4};
end:
  ret;
}
)";

TEST(SpareClusters, BeginAnew) {
  PtxRunner runner({kernel});
  for (const unsigned blocks : {6u, 6u, 3u, 9u})
    for (const unsigned dynamic : {4u, 64u})
      for (const unsigned threads : {64u, 96u, 64u}) {
        auto* const out = runner.make<std::uint32_t>(blocks * 4);
        ASSERT_TRUE(runner
                        .run("k", {blocks, 1, 1}, {threads, 1, 1},
                             {reinterpret_cast<std::uintptr_t>(out)}, dynamic)
                        .ok());
        for (unsigned b = 0; b < blocks; ++b) {
          EXPECT_EQ(out[4 * b], b);
          EXPECT_EQ(out[4 * b + 1], blocks);
          EXPECT_EQ(out[4 * b + 2], dynamic);
          EXPECT_EQ(out[4 * b + 3], 0u) << "of an earlier block's shared memory";
        }
      }
}

// A program's code may have the address of a destroyed program's code.
TEST(SpareClusters, AreOfOneProgram) {
  for (unsigned value = 1; value < 40; ++value) {
    PtxRunner runner({kernel_k("mov.u32 %r2, " + std::to_string(value) +
                               ";\n"
                               "  mov.u32 %r3, %ntid.x;\n  add.u32 %r2, %r2, %r3;\n"
                               "  st.global.u32 [%rd2], %r2;\n")});
    auto* const out = runner.make<std::uint32_t>(32);
    ASSERT_TRUE(
        runner.run("k", {1, 1, 1}, {32, 1, 1}, {reinterpret_cast<std::uintptr_t>(out)}).ok());
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(out[i], value + 32);
  }
}

}  // namespace
}  // namespace inflight::machine
