// tensormap.replace and tensormap.cp_fenceproxy on maps in global and in shared memory.
#include "gpu/async/tensor_map.hpp"

#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

async::TensorMap plain() {
  async::TensorMap m;
  m.type = async::TensorType::f32;
  m.rank = 3;
  m.global_address = 0x10000;
  m.dim = {64, 32, 16, 1, 1};
  m.stride = {4, 256, 8192, 0, 0};
  m.box = {8, 4, 2, 1, 1};
  return m;
}

// Runs `body` in a module of PTX ISA `version` with a map at %rd1, and returns the map afterwards.
struct Result {
  Outcome outcome;
  async::TensorMap map;
};
Result replaced(const std::string& body, const std::string& version = "8.7") {
  PtxRunner r({".version " + version + "\n.target sm_90a\n.address_size 64\n" +
               kernel_k(body, ".shared .align 128 .b8 s[256];")},
              false);
  auto* bytes = r.make<async::OpaqueTensorMap>(2);
  bytes[0] = async::pack(plain());
  Result result;
  result.outcome = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(bytes)});
  if (const auto map = async::unpack(bytes)) result.map = *map;
  return result;
}

struct Case {
  const char* instruction;
  void (*change)(async::TensorMap&);
};

TEST(TensorMapReplace, EveryField) {
  using async::TensorMap;
  const Case cases[] = {
      {"mov.u64 %rd5, 0x20040; tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], "
       "%rd5;",
       [](TensorMap& m) { m.global_address = 0x20040; }},
      {"tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;", [](TensorMap& m) { m.rank = 2; }},
      {"mov.u32 %r5, 16; tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r5;",
       [](TensorMap& m) { m.box[0] = 16; }},
      {"tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 2, 99;",
       [](TensorMap& m) { m.dim[2] = 99; }},
      {"mov.u64 %rd5, 512; tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 0, %rd5;",
       [](TensorMap& m) { m.stride[1] = 512; }},
      {"tensormap.replace.tile.element_stride.global.b1024.b32 [%rd1], 1, 3;",
       [](TensorMap& m) { m.element_stride[1] = 3; }},
      {"tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 3;",
       [](TensorMap& m) { m.type = async::TensorType::s32; }},
      {"tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 8;",
       [](TensorMap& m) { m.type = async::TensorType::f32_ftz; }},
      {"tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], 1;",
       [](TensorMap& m) { m.interleave = async::Interleave::b16; }},
      {"tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 2;",
       [](TensorMap& m) { m.swizzle = async::Swizzle::b64; }},
      {"tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd1], 1;",
       [](TensorMap& m) { m.fill = async::OobFill::nan; }},
  };
  for (const Case& c : cases) {
    async::TensorMap wanted = plain();
    c.change(wanted);
    wanted.stride[0] = wanted.inner_bytes();
    const Result got = replaced(c.instruction);
    ASSERT_TRUE(got.outcome.ok()) << got.outcome.report;
    EXPECT_EQ(got.map, wanted) << c.instruction;
  }
}

TEST(TensorMapReplace, StridesBeforePtx85CountSixteenths) {
  const char* body =
      "mov.u64 %rd5, 32; tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 1, %rd5;";
  EXPECT_EQ(replaced(body, "8.4").map.stride[2], 512u);
  EXPECT_EQ(replaced(body, "8.5").map.stride[2], 32u);
  EXPECT_EQ(replaced(body, "9.0").map.stride[2], 32u);
}

// The shared memory copy is changed and written back with the fence, as in grouped kernels.
TEST(TensorMapReplace, InSharedMemoryAndBackAgain) {
  const Result got = replaced(R"(
  mov.u32 %r3, s;
  shl.b32 %r5, %r1, 2; add.u32 %r6, %r3, %r5;
  ld.global.u32 %r7, [%rd2]; st.shared.u32 [%r6], %r7;
  bar.warp.sync -1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra COPY;
  mov.u64 %rd5, 0x40000;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %rd5;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [s], 1, 7;
  cvt.u64.u32 %rd6, %r3; cvta.shared.u64 %rd6, %rd6;
  tensormap.replace.tile.global_dim.b1024.b32 [%rd6], 0, 40;
COPY:
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r3], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;)");
  ASSERT_TRUE(got.outcome.ok()) << got.outcome.report;
  async::TensorMap wanted = plain();
  wanted.global_address = 0x40000, wanted.dim[1] = 7, wanted.dim[0] = 40;
  EXPECT_EQ(got.map, wanted);
}

TEST(TensorMapReplace, WhatCannotBeIsAFaultWithItsReason) {
  struct Bad {
    const char* body;
    FaultKind kind;
    const char* words;
  };
  for (const Bad& c :
       {Bad{"tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 1, 257;",
            FaultKind::illegal_instruction,
            "the field cannot hold the value (value 257, ordinal 1)"},
        {"tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 5, 1;",
         FaultKind::illegal_instruction, "ordinal"},
        {"st.global.u32 [%rd1+128], 77; tensormap.replace.tile.rank.global.b1024.b32 [%rd1+128], "
         "1;",
         FaultKind::illegal_instruction, "are not a tensor map"},
        {"tensormap.replace.tile.rank.global.b1024.b32 [%rd1+32], 1;",
         FaultKind::misaligned_address, "multiple of 64"},
        {"tensormap.replace.tile.rank.global.b1024.b32 [%rd1+256], 1;", FaultKind::illegal_address,
         "out of bounds"},
        {"mov.u32 %r3, s; tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r3+192], 1;",
         FaultKind::illegal_address, "out of bounds"},
        {"mov.u32 %r3, s; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cta"
         ".sync.aligned [%rd1+16], [%r3], 128;",
         FaultKind::misaligned_address, "multiple of 64"}}) {
    const Result got = replaced(c.body);
    EXPECT_EQ(got.outcome.kind, c.kind) << c.body << got.outcome.report;
    EXPECT_NE(got.outcome.report.find(c.words), std::string::npos) << got.outcome.report;
  }
}

TEST(TensorMapReplace, FormsThatAreNoneAreRefused) {
  for (const char* body :
       {"tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%rd1], 1;",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], %r1;",
        "tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], %r1, 5;",
        "tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 5;",
        "tensormap.replace.tile.rank.global.b1024.b64 [%rd1], 1;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%rd1], [%r1], 64;"}) {
    const Result got = replaced(body);
    EXPECT_EQ(got.outcome.kind, FaultKind::refused) << body << got.outcome.report;
    EXPECT_NE(got.outcome.report.find("tensormap."), std::string::npos) << got.outcome.report;
  }
}

}  // namespace
}  // namespace inflight::machine
