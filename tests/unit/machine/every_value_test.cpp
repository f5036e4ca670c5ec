// Some kernel here emits every value of every kind of event, except those that cannot be.
#include <gmock/gmock.h>

#include <atomic>

#include "gpu/async/tensor_map.hpp"
#include "gpu/machine/config/dependency.hpp"
#include "tests/unit/check/event_census.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using check::Values;

// Treats data loaded from global memory as undefined.
class Census : public check::EventCensus {
 public:
  void accessed(const check::Access& access) override {
    EventCensus::accessed(access);
    if (!access.undefined || access.kind != check::Access::Kind::load) return;
    access.undefined->lanes = access.who.mask;
    access.undefined->bytes.fill(0xf);
    access.undefined->origin = 1;
  }
};

// Events of the host: tests/unit/cuda/every_value_test.cpp. Kernels only use malloc and free.
const Values of_the_host = [] {
  Values values;
  for (const std::string& value : check::all_values())
    if (value.starts_with("StreamEdge") || value.starts_with("HostAccess") ||
        (value.starts_with("Allocation.kind") && !value.ends_with("heap")))
      values.insert(value);
  return values;
}();

const Values impossible{
    // Copies access memory by the async proxy, and have events of their own.
    // fence.proxy.alias has no access of that proxy.
    "Access.proxy async", "Access.proxy alias",
    // PTX has no such qualifiers of accesses.
    "Access.order seq_cst", "Access.scope warp",
    // A fence has an order and a scope of several threads, and orders the proxies that it names.
    "Fence.order weak", "Fence.order relaxed", "Fence.order volatile", "Fence.order mmio",
    "Fence.scope thread", "Fence.scope warp", "Fence.to constant", "Fence.to texture",
    // These complete on mbarriers.
    "CopyCommitted.completion transaction", "CopyWaited.completion transaction",
    // Each kind of barrier has some of the steps.
    "Barrier cta wait", "Barrier cta wait_alone", "Barrier cluster sync", "Barrier cluster reduce",
    "Barrier grid sync", "Barrier grid reduce", "Barrier grid complete", "Barrier grid wait_alone"};

// Takes seconds: tests/kernels/check/spin_for_ever.cu.
const Values elsewhere{"Stuck.why only_polling"};

// The grid in front ends when a worker has nothing else to do.
class Late final : public Prerequisites {
 public:
  bool complete() const override { return complete_; }
  void rest(unsigned /*workers*/) override { complete_ = true; }

 private:
  std::atomic<bool> complete_{false};
};

class EveryValue : public KernelRunner {
 protected:
  std::string target = "sm_90a";
  void SetUp() override { options.listener = &census, options.workers = 1; }

  // %d0: 4096 bytes of global memory. %d1: the map of a tensor in it. %r0: the thread. %r1 and %r2:
  // shared memory and an mbarrier in it. %p0: true in the first thread.
  FaultKind launch(Shape shape, const std::string& body, Prerequisites* prerequisites = nullptr) {
    const Program* const program = link(R"(
.extern .func (.param .b64 address) malloc (.param .b64 bytes);
.extern .func free (.param .b64 address);
.shared .align 1024 .b8 tile[4096];
.shared .align 8 .b64 bar;
.const .align 4 .b8 limits[16];
)" + entry(2, R"(
  .local .align 4 .b8 own[16];
  .reg .b32 %r<20>; .reg .pred %p<6>; .reg .b64 %d<12>; .reg .f32 %f<8>;
  ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.eq.u32 %p0, %r0, 0;
)" + body + "\n  ret;"),
                                        target);
    Launch launch;
    launch.kernel = program->kernel("k");
    launch.grid = shape.grid, launch.block = shape.block, launch.cluster = shape.cluster;
    launch.prerequisites = prerequisites;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(1024));
    const std::uint64_t arguments[] = {out, map_of(out)};
    launch.parameters.resize(sizeof arguments);
    std::memcpy(launch.parameters.data(), arguments, sizeof arguments);
    const Outcome o = machine::run(launch, limits, options, [](std::string_view) {});
    if (o.kind != FaultKind::none) report = o.report;
    return o.kind;
  }
  void runs(Shape shape, const std::string& body) {
    EXPECT_EQ(launch(shape, body), FaultKind::none) << report;
  }

  // Of a tensor of 6 x 4 words in rows of 64 bytes, with a box of 4 x 2.
  std::uint64_t map_of(std::uint64_t tensor) {
    async::TensorMap m;
    m.type = async::TensorType::u32;
    m.rank = 2;
    m.global_address = tensor;
    m.dim = {6, 4};
    m.stride = {4, 64};
    m.box = {4, 2};
    const auto map = memory.allocate(0, 128, AllocationKind::device);
    *reinterpret_cast<async::OpaqueTensorMap*>(*map) = async::pack(m);
    return *map;
  }

  Census census;
  std::string report;
};

constexpr const char* accesses = R"(
  ld.const.u32 %r3, [limits]; st.local.u32 [own], %r3; st.shared.u32 [%r1], %r3;
  ld.global.nc.u32 %r3, [%d0]; ld.relaxed.cta.global.u32 %r3, [%d0];
  ld.acquire.cluster.global.u32 %r3, [%d0]; st.release.gpu.global.u32 [%d0], %r0;
  ld.volatile.global.u32 %r3, [%d0]; ld.mmio.relaxed.sys.global.u32 %r3, [%d0];
  atom.acq_rel.sys.global.add.u32 %r3, [%d0], 1; red.global.add.u32 [%d0], 1;
)";
constexpr const char* undefined = R"(
  ld.global.u32 %r3, [%d0+4]; setp.eq.u32 %p1, %r3, 7; @%p1 bra NEXT; add.u32 %r4, %r0, 1;
NEXT:
  and.b32 %r5, %r3, 4; cvt.u64.u32 %d2, %r5; add.u64 %d2, %d2, %d0; ld.global.u32 %r6, [%d2];
  red.global.add.u32 [%d0+8], %r3;
)";
constexpr const char* fences = R"(
  fence.acquire.sync_restrict::shared::cluster.cluster; fence.acq_rel.cta; fence.sc.sys;
  fence.mbarrier_init.release.cluster; fence.proxy.async; fence.proxy.alias;
  fence.proxy.tensormap::generic.release.gpu;
)";
constexpr const char* collectives = R"(
  shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1; vote.sync.any.pred %p1, %p0, -1;
  match.any.sync.b32 %r3, %r0, -1; redux.sync.add.u32 %r3, %r0, -1; elect.sync %r3|%p1, -1;
  activemask.b32 %r3; setp.lt.u32 %p1, %r0, 4; @%p1 bra MEET; add.u32 %r3, %r0, 1;
  bar.warp.sync -1; bra DONE;
MEET:
  bar.warp.sync -1;
DONE:
)";
constexpr const char* barriers = R"(
  bar.sync 0; barrier.red.popc.u32 %r3, 1, %p0; setp.lt.u32 %p1, %r0, 32;
  @%p1 barrier.arrive 2, 64; @!%p1 barrier.sync 2, 64;
  barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.wait;
  griddepcontrol.launch_dependents; griddepcontrol.wait; nanosleep.u32 200;
)";
// The cp.async comes first, so that its arrival completes the phase.
constexpr const char* mbarriers = R"(
  @!%p0 bra LATER;
  mbarrier.init.shared.b64 [bar], 3; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 8;
  mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 8;
  mbarrier.arrive.shared.b64 %d2, [bar]; mbarrier.arrive_drop.shared.b64 _, [bar];
  mbarrier.pending_count.b64 %r3, %d2; mbarrier.test_wait.shared.b64 %p1, [bar], %d2;
  cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
LATER:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;
  bar.sync 0;
  @%p0 mbarrier.inval.shared.b64 [bar];
)";
constexpr const char* thread_copies = R"(
  @%p0 cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.commit_group; cp.async.wait_group 0;
)";
// In a cluster of two, to the other block.
const std::string bulk_copies = R"(
  @!%p0 bra LATER;
  mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 88;
LATER:
  barrier.cluster.arrive; barrier.cluster.wait;
  @!%p0 bra DONE;
  mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1; mov.u32 %r6, 1; mov.u32 %r7, 0;
  mapa.shared::cluster.u32 %r4, %r1, %r3; mapa.shared::cluster.u32 %r5, %r2, %r3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 16, [%r2];
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+16], [%r1+64], 16, [%r5];
  st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4+32], %r6, [%r5];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r4+36], %r6, [%r5];
  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r4+48], [%r1+64], 16, [%r5];
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+128], [%d1, {%r7, %r7}], [%r2];
  cp.async.bulk.global.shared::cta.bulk_group [%d0+512], [%r1+256], 16;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+512], [%r1+256], 16;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r7, %r7}], [%r1+256];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;
DONE:
  barrier.cluster.arrive; barrier.cluster.wait;
)";
constexpr const char* heap = R"(
  @!%p0 bra DONE;
  { .param .b64 n; .param .b64 a; st.param.b64 [n], 16; call (a), malloc, (n);
    ld.param.b64 %d2, [a]; }
  { .param .b64 a; st.param.b64 [a], %d2; call free, (a); }
DONE:
)";
constexpr const char* multiply = R"(
  setp.lt.u32 %p1, %r0, 96; @%p1 bra NOW; nanosleep.u32 20000;
NOW:
  shr.u32 %r3, %r1, 4; cvt.u64.u32 %d2, %r3; or.b64 %d2, %d2, 0x0000000800080000;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  setp.eq.u32 %p2, %r1, %r1;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d2, %d2, %p2, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
)";

TEST_F(EveryValue, IsEmittedByARealInstruction) {
  const Shape two_warps{.block = {64, 1, 1}},
      cluster{.grid = {2, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}};
  runs({}, accesses);
  runs({}, undefined);
  runs({}, fences);
  runs({}, collectives);
  runs(cluster, barriers);
  runs(two_warps, mbarriers);
  runs({}, thread_copies);
  runs(cluster, bulk_copies);
  runs({}, heap);
  runs({.block = {128, 1, 1}}, multiply);
  Late late;
  EXPECT_EQ(launch({}, "griddepcontrol.wait;", &late), FaultKind::none);

  EXPECT_EQ(launch({}, "mov.b64 %d2, 8; st.global.u32 [%d2], %r0;"), FaultKind::illegal_address);
  EXPECT_EQ(launch({}, "ld.global.u32 %r3, [%d0+2];"), FaultKind::misaligned_address);
  EXPECT_EQ(launch({}, "cvta.local.u64 %d2, own; red.add.u32 [%d2+65536], 1;"),
            FaultKind::invalid_address_space);
  EXPECT_EQ(
      launch(cluster, "mapa.shared::cluster.u32 %r3, %r1, 5; st.shared::cluster.u32 [%r3], 0;"),
      FaultKind::launch_failure);
  EXPECT_EQ(launch({}, "mov.u32 %r3, 17; bar.sync %r3;"), FaultKind::illegal_instruction);
  EXPECT_EQ(launch({},
                   "mov.u32 %r7, 0; @%p0 mbarrier.init.shared.b64 [bar], 1; bar.warp.sync -1;\n"
                   "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                   "complete_tx::bytes [%r1], [%d0, {%r7, %r7}], [%r2];"),
            FaultKind::illegal_instruction);
  EXPECT_EQ(launch({}, "trap;"), FaultKind::trap);
  EXPECT_EQ(launch({}, "frobnicate.u32 %r3;"), FaultKind::refused);
  EXPECT_EQ(launch({}, "LOOP: bra LOOP;"), FaultKind::deadlock);
  target = "sm_100a";
  const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 512;\n";
  EXPECT_EQ(launch({}, alloc + alloc), FaultKind::deadlock);
  target = "sm_90a";
  // On a busy machine, a short time may be over before the kernel begins.
  for (options.timeout = std::chrono::milliseconds(20);
       census.missing("Stuck.why").size() > elsewhere.size() && options.timeout.count() < 20000;
       options.timeout *= 2)
    EXPECT_EQ(launch({},
                     "LOOP: atom.global.add.u32 %r3, [%d0], 1; setp.ne.u32 %p0, %r3, 0xfeedbeef;\n"
                     "@%p0 bra LOOP;"),
              FaultKind::timeout);

  Values left = census.missing();
  for (const Values* const values : {&of_the_host, &impossible, &elsewhere})
    for (const std::string& value : *values)
      EXPECT_EQ(left.erase(value), 1u) << value << " is emitted: take it off its list";
  EXPECT_THAT(left, testing::IsEmpty());
}

}  // namespace
}  // namespace inflight::machine
