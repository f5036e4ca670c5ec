// Tensor copies stay inside the memory that they may access, whatever the map's 128 bytes and its
// address.
#include <array>

#include "gpu/async/tensor_map.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using async::Interleave;
using async::Swizzle;
using async::TensorMap;
using async::TensorType;

// A row of 64 bytes of `data`.
TensorMap row_of(const void* data, std::uint64_t bytes = 64) {
  TensorMap m;
  m.type = TensorType::u8;
  m.global_address = reinterpret_cast<std::uint64_t>(data);
  m.dim[0] = bytes;
  m.box[0] = 64;
  m.stride[0] = 1;
  return m;
}

const char* const shared = ".shared .align 1024 .b8 s[2048]; .shared .align 8 .b64 bar;";

std::string load(const std::string& rank, const std::string& place, const std::string& map) {
  return "setp.ne.u32 %p1, %r1, 0; @%p1 exit; mbarrier.init.shared.b64 [bar], 1;"
         "cp.async.bulk.tensor." +
         rank + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [" + map + ", {" +
         place + "}], [bar];";
}
const std::string store =
    "setp.ne.u32 %p1, %r1, 0; @%p1 exit;"
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {0}], [s];"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";

// Runs `body` with the map at %rd1.
Outcome run(PtxRunner& r, const TensorMap& map) {
  auto* opaque = r.make<async::OpaqueTensorMap>(1);
  *opaque = async::pack(map);
  return r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(opaque)});
}

void expect_refused(const Outcome& o, const char* rule) {
  EXPECT_EQ(o.kind, FaultKind::illegal_address);
  EXPECT_NE(o.report.find(rule), std::string::npos) << o.report;
}

TEST(TensorMapOfTheProgram, BoxesPastThirtyTwoBitsAreRefused) {
  PtxRunner r4({kernel_k(load("4d", "0, 9, 9, 9", "%rd1"), shared)});
  TensorMap bytes = row_of(r4.make<char>(4096));
  bytes.rank = 4, bytes.type = TensorType::f64;
  bytes.box = {256, 256, 256, 32, 1};  // 2^32 bytes
  expect_refused(run(r4, bytes), "makes a box of more than 233472 bytes");

  PtxRunner r5({kernel_k(load("5d", "0, 9, 9, 9, 9", "%rd1"), shared)});
  TensorMap rows = row_of(r5.make<char>(4096));
  rows.rank = 5;
  rows.box = {16, 256, 256, 256, 255};  // of almost 2^32 rows
  expect_refused(run(r5, rows), "makes a box of more than 233472 bytes");
}

// With sliced rows narrower than the swizzle's line, the last ones may lie anywhere in it.
TEST(TensorMapOfTheProgram, SwizzledSlicesStayInSharedMemory) {
  PtxRunner r(
      {kernel_k("setp.ne.u32 %p1, %r1, 0; @%p1 exit; mbarrier.init.shared.b64 [bar], 1;"
                "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx"
                "::bytes [s + 128], [%rd1, {0, 0, 0}], [bar];",
                ".shared .align 8 .b64 bar; .shared .align 1024 .b8 s[144];")});
  TensorMap m = row_of(r.make<char>(4096));
  m.rank = 3, m.interleave = Interleave::b16, m.swizzle = Swizzle::b128;
  m.dim = {16, 1, 1, 1, 1}, m.stride = {16, 256, 256, 0, 0}, m.box = {16, 1, 1, 1, 1};
  m.element_stride[0] = 8;  // two slices: at 128 and 144, swizzled to 144 and 128
  const Outcome o = run(r, m);
  EXPECT_EQ(o.kind, FaultKind::illegal_address);
  EXPECT_NE(o.report.find("shared memory"), std::string::npos) << o.report;
}

TEST(TensorMapOfTheProgram, MustLieWhereTheCopyingUnitSees) {
  const char* const copy_bytes =
      "{ .reg .b64 %x<3>; .reg .b32 %i; .reg .pred %q; mov.u32 %i, 0;\n"
      "more: cvt.u64.u32 %x0, %i; add.s64 %x1, %rd1, %x0; add.s64 %x2, %rd6, %x0;\n"
      "ld.u64 %x1, [%x1]; st.u64 [%x2], %x1;\n"
      "add.u32 %i, %i, 8; setp.lt.u32 %q, %i, 128; @%q bra more; }";
  const std::string local =
                        ".local .align 64 .b8 m[128]; mov.u64 %rd5, m; cvta.local.u64 %rd6, "
                        "%rd5;",
                    in_shared = "mov.u64 %rd5, t; cvta.shared.u64 %rd6, %rd5;";
  for (const auto& [where, place] : {std::pair(local, "local"), std::pair(in_shared, "shared")}) {
    PtxRunner r({kernel_k(where + copy_bytes + load("1d", "0", "%rd6"),
                          std::string(shared) + ".shared .align 128 .b8 t[128];")});
    const Outcome o = run(r, row_of(r.make<char>(4096)));
    EXPECT_EQ(o.kind, FaultKind::illegal_address) << place;
    EXPECT_NE(o.report.find(std::string("is in ") + place + " memory"), std::string::npos)
        << o.report;
    EXPECT_NE(o.report.find("__grid_constant__"), std::string::npos) << o.report;
  }
}

// --- stores write whole chunks ---

constexpr std::size_t room = 4096;
struct HostMemory {
  alignas(16) std::array<char, 3 * room> bytes;
  char* begin() { return bytes.data() + room; }
  HostMemory() { bytes.fill(0x5a); }
  bool untouched_outside(std::size_t size) const {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if ((i < room || i >= room + size) && bytes[i] != 0x5a) return false;
    return true;
  }
};

TEST(TensorStore, WritesNoByteBehindRegisteredMemory) {
  for (const std::uint64_t size : {33, 47, 48, 63, 64}) {
    auto host = std::make_unique<HostMemory>();
    PtxRunner r({kernel_k(store, shared)});
    ASSERT_TRUE(r.memory.adopt(0, host->begin(), size, AllocationKind::host));
    const Outcome o = run(r, row_of(host->begin(), size));
    EXPECT_TRUE(host->untouched_outside(size)) << size;
    EXPECT_EQ(o.ok(), size % 16 == 0) << size << o.report;
    if (o.ok()) continue;
    EXPECT_EQ(o.kind, FaultKind::illegal_address);
    EXPECT_NE(o.report.find("writes whole 16-byte chunks"), std::string::npos) << o.report;
    EXPECT_EQ(host->begin()[0], 0x5a) << "a store that faults stores nothing";
    ASSERT_TRUE(r.memory.release(reinterpret_cast<std::uint64_t>(host->begin())));
  }
}

TEST(TensorStore, ReducesNoByteBehindRegisteredMemory) {
  auto host = std::make_unique<HostMemory>();
  const std::string reduce =
      "setp.ne.u32 %p1, %r1, 0; @%p1 exit;"
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.or.tile.bulk_group [%rd1, {0}], [s];"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  PtxRunner r({kernel_k(reduce, shared)});
  ASSERT_TRUE(r.memory.adopt(0, host->begin(), 36, AllocationKind::host));
  TensorMap m = row_of(host->begin(), 9);
  m.type = TensorType::u32, m.stride[0] = 4, m.box[0] = 16;
  EXPECT_EQ(run(r, m).kind, FaultKind::illegal_address);
  EXPECT_TRUE(host->untouched_outside(36));
}

TEST(TensorStore, ChunksMayEndInTheirOwnPadding) {
  PtxRunner r({kernel_k(store, shared)});
  EXPECT_TRUE(run(r, row_of(r.make<char>(33), 33)).ok());
  auto host = std::make_unique<HostMemory>();  // pinned memory owns its last page
  ASSERT_TRUE(
      r.memory.adopt(0, host->begin(), 33, AllocationKind::host, {}, {.padding = room - 33}));
  const Outcome o = run(r, row_of(host->begin(), 33));
  EXPECT_TRUE(o.ok()) << o.report;
  EXPECT_TRUE(host->untouched_outside(48));
}

}  // namespace
}  // namespace inflight::machine
