// What events say of reductions, boxes of im2col mode, prefetches, broken rules and dependent
// grids.
#include <gmock/gmock.h>

#include "gpu/async/tensor_map.hpp"
#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using async::ReduceOp;
using async::TensorType;
using async::Violation;

// Events with copies of the lists that they point to.
class Kept : public check::Listener {
 public:
  template <class Event>
  struct Boxed : Event {
    explicit Boxed(const Event& event)
        : Event(event),
          at(event.coordinates.begin(), event.coordinates.end()),
          plus(event.offsets.begin(), event.offsets.end()) {}
    std::vector<std::int32_t> at;
    std::vector<std::uint16_t> plus;
  };
  void copy_issued(const check::CopyIssued& event) override { copies.emplace_back(event); }
  void prefetched(const check::Prefetch& event) override { prefetches.emplace_back(event); }
  void faulted(const check::Fault& event) override { rules.push_back(event.rule); }
  void barrier(const check::Barrier& event) override {
    if (event.kind == check::BarrierKind::grid) barriers.push_back(event);
  }
  std::vector<Boxed<check::CopyIssued>> copies;
  std::vector<Boxed<check::Prefetch>> prefetches;
  std::vector<Violation> rules;
  std::vector<check::Barrier> barriers;
};

class EventFields : public KernelRunner {
 protected:
  void SetUp() override {
    options.workers = 1;
    options.listener = &kept;
  }
  // Runs `body` for one thread a block: %d0 is the address of 4096 bytes, %d1 that of `map`.
  Outcome run_with(const async::TensorMap& map, const std::string& body, unsigned blocks = 1,
                   unsigned threads = 1) {
    const auto opaque = async::pack(map);
    const std::uint64_t at = upload(std::vector<async::OpaqueTensorMap>{opaque});
    map_at = at;
    return run(link(".shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;\n" + entry(2, R"(
  .reg .b32 %r<20>; .reg .b64 %d<12>; .reg .b16 %h<4>; .reg .pred %p<4>;
  ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u16 %h1, 1;
)" + body + "\n  ret;")),
               {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}}, {data, at});
  }
  async::TensorMap tiled() const {
    async::TensorMap m;
    m.type = TensorType::s32;
    m.rank = 2;
    m.global_address = data;
    m.dim = {8, 4};
    m.stride = {4, 64};
    m.box = {4, 2};
    return m;
  }
  // Columns of 4 pixels with 4 channels of 16.
  async::TensorMap im2col() const {
    async::TensorMap m;
    m.mode = async::TensorMode::im2col;
    m.type = TensorType::s32;
    m.rank = 3;
    m.global_address = data;
    m.dim = {16, 8, 2};
    m.stride = {4, 64, 512};
    m.channels = 4, m.pixels = 4;
    return m;
  }
  std::uint64_t data = upload(std::vector<std::uint32_t>(1024));
  std::uint64_t map_at = 0;
  Kept kept;
};

TEST_F(EventFields, AReductionHasItsOperationAndItsType) {
  ASSERT_TRUE(run_with(tiled(), R"(
  mov.u32 %r6, 1; mov.u32 %r3, 0;
  mbarrier.init.shared.b64 [bar], 1;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%d0], [%r1], 16;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%d0], [%r1], 16;
  cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group [%d1, {%r3, %r3}], [%r1];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r6, [%r2];
  cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 16;)")
                  .ok());
  const std::pair<ReduceOp, TensorType> expected[] = {{ReduceOp::min, TensorType::s64},
                                                      {ReduceOp::bit_xor, TensorType::u32},
                                                      {ReduceOp::max, TensorType::s32},
                                                      {ReduceOp::inc, TensorType::u32}};
  ASSERT_EQ(kept.copies.size(), 5u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_TRUE(kept.copies[i].reduces);
    EXPECT_EQ(std::pair(kept.copies[i].reduction, kept.copies[i].element), expected[i]) << i;
  }
  EXPECT_FALSE(kept.copies[4].reduces);
}

TEST_F(EventFields, AColumnHasItsOffsets) {
  const Outcome outcome = run_with(im2col(), R"(
  mbarrier.init.shared.b64 [bar], 1;
  mov.u32 %r3, 4; mov.u32 %r4, 2; mov.u32 %r5, 1;
  cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%d1, {%r3, %r4, %r5}], [%r2], {%h1};)");
  ASSERT_TRUE(outcome.ok()) << outcome.report;
  ASSERT_EQ(kept.copies.size(), 1u);
  EXPECT_THAT(kept.copies[0].at, testing::ElementsAre(4, 2, 1));
  EXPECT_THAT(kept.copies[0].plus, testing::ElementsAre(1));
}

TEST_F(EventFields, PrefetchesSayWhatTheyFetch) {
  ASSERT_TRUE(run_with(im2col(), R"(
  mov.u32 %r3, 4; mov.u32 %r4, 2; mov.u32 %r5, 1;
  cp.async.bulk.prefetch.L2.global [%d0], 36;
  cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%d1, {%r3, %r4, %r5}], {%h1};)")
                  .ok());
  ASSERT_TRUE(run_with(tiled(), R"(
  mov.u32 %r3, 4; mov.u32 %r4, 2;
  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d1, {%r3, %r4}];)")
                  .ok());
  ASSERT_EQ(kept.prefetches.size(), 3u);
  const auto& [bytes, column, box] =
      std::tie(kept.prefetches[0], kept.prefetches[1], kept.prefetches[2]);
  EXPECT_EQ(bytes.address, data);
  EXPECT_EQ(bytes.bytes, 32u);
  EXPECT_EQ(bytes.left_out, 4u);
  EXPECT_EQ(bytes.tensor_map, 0u);
  EXPECT_EQ(column.address, 0u);
  EXPECT_EQ(column.bytes, 64u);
  EXPECT_NE(column.tensor_map, 0u);
  EXPECT_THAT(column.at, testing::ElementsAre(4, 2, 1));
  EXPECT_THAT(column.plus, testing::ElementsAre(1));
  EXPECT_EQ(box.bytes, 32u);
  EXPECT_EQ(box.tensor_map, map_at);
  EXPECT_THAT(box.at, testing::ElementsAre(4, 2));
  EXPECT_THAT(box.plus, testing::IsEmpty());
}

TEST_F(EventFields, ASourceSizeAboveTheCopysSizeIsABrokenRule) {
  ASSERT_TRUE(run_with(tiled(), R"(
  shl.b32 %r3, %r0, 2; add.u32 %r4, %r1, %r3; mul.wide.u32 %d2, %r3, 1; add.u64 %d2, %d2, %d0;
  cp.async.ca.shared.global [%r4], [%d2], 4, %r0;
  setp.gt.u32 %p1, %r0, 5;
  cp.async.ca.shared.global [%r4], [%d2], 4, %r0, %p1;
  min.u32 %r5, %r0, 4;
  cp.async.ca.shared.global [%r4], [%d2], 4, %r5;)",
                       1, 8)
                  .ok());
  ASSERT_EQ(kept.copies.size(), 3u);
  EXPECT_EQ(kept.copies[0].violation, Violation::source_size);
  EXPECT_EQ(kept.copies[0].breaking, 0b1110'0000u);
  EXPECT_EQ(kept.copies[0].source_size, 5u);
  EXPECT_EQ(kept.copies[1].breaking, 0b0010'0000u) << "ignore-src";
  EXPECT_EQ(kept.copies[2].violation, Violation::none);
  EXPECT_EQ(kept.copies[2].breaking, 0u);
}

TEST_F(EventFields, AFaultNamesTheRuleOfTensorCopies) {
  const std::string load = R"(
  mbarrier.init.shared.b64 [bar], 1;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes )",
                    store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group ",
                    reduce =
                        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.tile.bulk_group "
                        "[%d1, {0, 0}], [%r1];";
  EXPECT_FALSE(run_with(tiled(), load + "[%r1+16], [%d1, {0, 0}], [%r2];").ok());
  EXPECT_FALSE(run_with(tiled(), load + "[%r1], [%d1, {0, 0}], [%r2+4];").ok());
  EXPECT_FALSE(run_with(tiled(), store + "[%d1, {-4, 0}], [%r1];").ok());
  EXPECT_FALSE(run_with(tiled(), reduce).ok());
  EXPECT_FALSE(run_with(im2col(), R"(
  mbarrier.init.shared.b64 [bar], 1;
  cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%d1, {0, 9, 0}], [%r2], {%h1};)")
                   .ok());
  EXPECT_THAT(kept.rules,
              testing::ElementsAre(Violation::tensor_shared_alignment, Violation::none,
                                   Violation::tensor_negative_store, Violation::tensor_no_reduction,
                                   Violation::tensor_start_outside));
}

TEST_F(EventFields, BlocksThatLetDependentGridsBeginAreCounted) {
  ASSERT_TRUE(run_with(tiled(), R"(
  griddepcontrol.launch_dependents;
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;)",
                       2)
                  .ok());
  using Step = check::Barrier::Step;
  std::vector<std::tuple<std::uint64_t, Step, std::uint32_t, std::uint32_t>> seen;
  for (const check::Barrier& each : kept.barriers)
    seen.emplace_back(each.who.block, each.step, each.expected, each.arrived);
  EXPECT_THAT(seen, testing::UnorderedElementsAre(
                        std::tuple(0, Step::arrive, 2, 1), std::tuple(0, Step::arrive, 2, 1),
                        std::tuple(0, Step::wait, 0, 0), std::tuple(1, Step::arrive, 2, 2),
                        std::tuple(1, Step::arrive, 2, 2), std::tuple(1, Step::wait, 0, 0)));
}

}  // namespace
}  // namespace inflight::machine
