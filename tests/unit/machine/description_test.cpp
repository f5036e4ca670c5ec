// The descriptions of instructions: the table of opcodes, and each kind's own data.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/instruction/function.hpp"
#include "gpu/ptx/parse.hpp"
#include "tests/unit/machine/described_kernel.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using ptx::Opcode;
using Role = MemoryOperand::Role;

// The description of a function's body.
struct Described : DescribedKernel {
  explicit Described(const std::string& body, const std::string& declarations = {})
      : DescribedKernel(
            declarations +
            ".visible .entry k(.param .u64 out) {\n  .reg .b32 %r<20>; .reg .b64 %rd<20>;\n"
            "  .reg .pred %p<8>; .reg .f32 %f<8>; .reg .b16 %h<4>;\n" +
            body + "\n}\n") {}
  const Instruction& operator[](std::size_t i) const { return function->body.at(i); }
  std::string names(std::span<const RegisterUse> uses) const {
    std::vector<std::string_view> out;
    for (const RegisterUse& use : uses) out.push_back(function->text->registers[use.reg].name);
    return fmt::format("{}", fmt::join(out, " "));
  }
  // "writes <- reads"
  std::string registers(std::size_t i = 0) const {
    return names((*this)[i].writes) + " <- " + names((*this)[i].reads);
  }
};

TEST(Descriptions, NameTheRegistersThatAreReadAndWritten) {
  const struct {
    const char *instruction, *registers;
  } cases[] = {
      {"add.s32 %r1, %r2, 5;", "%r1 <- %r2"},
      {"@%p1 add.s32 %r1, %r2, %r3;", "%r1 <- %r2 %r3 %p1"},
      {"setp.lt.s32 %p1|%p2, %r1, %r2;", "%p1 %p2 <- %r1 %r2"},
      {"ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];", "%f1 %f2 %f3 %f4 <- %rd1"},
      {"st.shared.v2.b32 [%r1], {%r2, %r3};", " <- %r1 %r2 %r3"},
      {"atom.global.add.u32 %r1, [%rd1], %r2;", "%r1 <- %rd1 %r2"},
      {"atom.global.add.u32 _, [%rd1], %r2;", " <- %rd1 %r2"},
      {"red.global.add.u32 [%rd1], %r2;", " <- %rd1 %r2"},
      {"shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;", "%r1 %p1 <- %r2 %r3"},
      {"elect.sync _|%p1, -1;", "%p1 <- "},
      {"bar.sync 0;", " <- "},
      {"bar.red.popc.u32 %r1, 0, %p1;", "%r1 <- %p1"},
      {"barrier.arrive %r1, %r2;", " <- %r1 %r2"},
      {"mbarrier.arrive.shared.b64 %rd1, [%r1];", "%rd1 <- %r1"},
      {"mbarrier.arrive.shared.b64 _, [%r1], %r2;", " <- %r1 %r2"},
      {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", "%p1 <- %r1 %r2"},
      {"cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;", " <- %r1 %rd1 %r2"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
       "{%r2, %r3}], [%r4];",
       " <- %r1 %rd1 %r2 %r3 %r4"},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];", "%r1 %r2 <- %r3"},
      {"p: .callprototype ()_ ();\ncall %rd1, (), p;", " <- %rd1"},
  };
  for (const auto& [instruction, registers] : cases)
    EXPECT_EQ(Described(instruction).registers(), registers) << instruction;
}

TEST(Descriptions, SayWhatAccessesDoAndWhere) {
  const Described d(R"(
  ld.global.v2.f32 {%f1, %f2}, [%rd1+8];
  ld.acquire.gpu.b32 %r1, [%rd1];
  st.volatile.shared.b16 [v+2], %h1;
  ld.b32 %r1, [v];
  atom.acq_rel.cta.shared.cas.b32 %r1, [%r2], %r3, %r4;
  red.global.add.u32 [%rd1], 1;
  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};)",
                    ".shared .align 8 .b8 v[64];\n");
  const auto& load = d[0].memory.front();
  EXPECT_EQ(load.role, Role::load);
  EXPECT_EQ(load.space, ptx::Space::global);
  EXPECT_EQ(load.bytes, 8u);
  EXPECT_EQ(load.address.offset, 8);
  EXPECT_TRUE(load.address.wide);
  EXPECT_EQ(load.order, check::Order::weak);
  EXPECT_EQ(d[1].memory.front().order, check::Order::acquire);
  EXPECT_EQ(d[1].memory.front().scope, check::Scope::gpu);
  EXPECT_EQ(d[1].memory.front().space, ptx::Space::generic);
  EXPECT_EQ(d[2].memory.front().scope, check::Scope::sys);
  EXPECT_EQ(d[2].memory.front().address.base, Address::Base::variable);
  // A variable's name gives its space.
  EXPECT_EQ(d[3].memory.front().space, ptx::Space::shared);
  EXPECT_EQ(d[4].memory.front().role, Role::atomic);
  EXPECT_EQ(d[4].memory.front().order, check::Order::acq_rel);
  EXPECT_EQ(d[4].memory.front().scope, check::Scope::cta);
  EXPECT_EQ(d[5].memory.front().role, Role::reduction);
  EXPECT_EQ(d[5].memory.front().order, check::Order::relaxed);
  EXPECT_EQ(d[6].memory.front().bytes, 16u);
  EXPECT_EQ(d[6].memory.front().lanes, 0xffu);
}

TEST(Descriptions, SayWhatCopiesMoveAndWhatCompletesThem) {
  const Described d(R"(
  cp.async.cg.shared.global [%r1], [%rd1], 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], %r2;
  cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd1, {%r1, %r2, %r3}], [%r4];
  st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r2, %r3}, [%r4];
  cp.async.bulk.wait_group.read 3;
  cp.async.wait_all;)");
  const auto roles = [&](std::size_t i) {
    std::vector<Role> out;
    for (const MemoryOperand& m : d[i].memory) out.push_back(m.role);
    return out;
  };
  using Roles = std::vector<Role>;
  EXPECT_EQ(roles(0), (Roles{Role::destination, Role::source}));
  EXPECT_EQ(d[0].as<CopyUse>()->completion, check::Completion::thread_group);
  EXPECT_EQ(d[0].memory[1].bytes, 16u);
  EXPECT_EQ(d[0].memory[0].proxy, check::Proxy::generic);
  EXPECT_EQ(roles(1), (Roles{Role::destination, Role::source, Role::mbarrier}));
  EXPECT_EQ(d[1].memory[0].proxy, check::Proxy::async);
  EXPECT_EQ(roles(2), (Roles{Role::destination, Role::source}));
  EXPECT_EQ(d[2].as<CopyUse>()->completion, check::Completion::bulk_group);
  EXPECT_TRUE(d[3].as<CopyUse>()->reduces);
  EXPECT_EQ(d[3].as<CopyUse>()->reduction.type, async::TensorType::f32);
  EXPECT_EQ(roles(4), (Roles{Role::tensor_map, Role::source}));
  EXPECT_EQ(d[4].as<CopyUse>()->rank, 3);
  EXPECT_EQ(roles(5), (Roles{Role::destination, Role::mbarrier}));
  EXPECT_EQ(d[5].memory[0].bytes, 8u);
  EXPECT_EQ(d[6].as<GroupUse>()->allowed, 3u);
  EXPECT_TRUE(d[6].as<GroupUse>()->read_only);
  EXPECT_EQ(d[7].as<GroupUse>()->allowed, check::CopyWaited::all_copies);
}

TEST(Descriptions, SayWhatFencesOrderAndBarriersAre) {
  const Described d(R"(
  fence.acq_rel.gpu;
  membar.cta;
  fence.proxy.async.shared::cta;
  fence.mbarrier_init.release.cluster;
  bar.warp.sync -1;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire;
  mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r1], %r2;
  mbarrier.test_wait.relaxed.cta.shared.b64 %p1, [%r1], %rd1;)");
  EXPECT_EQ(d[0].as<Fence>()->order, check::Order::acq_rel);
  EXPECT_EQ(d[0].as<Fence>()->scope, check::Scope::gpu);
  EXPECT_EQ(d[1].as<Fence>()->order, check::Order::seq_cst);
  EXPECT_EQ(d[1].as<Fence>()->scope, check::Scope::cta);
  EXPECT_EQ(d[2].as<Fence>()->kind, check::Fence::Kind::proxy);
  EXPECT_EQ(d[2].as<Fence>()->to, check::Proxy::async);
  EXPECT_EQ(d[2].as<Fence>()->only, ptx::Space::shared_cta);
  EXPECT_EQ(d[3].as<Fence>()->kind, check::Fence::Kind::mbarrier_init);
  EXPECT_EQ(d[4].as<BarrierUse>()->of, BarrierUse::Of::warp);
  EXPECT_EQ(d[5].as<BarrierUse>()->order, check::Order::relaxed);
  EXPECT_EQ(d[6].as<BarrierUse>()->step, BarrierUse::Step::wait);
  EXPECT_TRUE(d[7].as<MbarrierUse>()->expects_bytes);
  EXPECT_EQ(d[7].as<MbarrierUse>()->scope, check::Scope::cluster);
  EXPECT_EQ(d[8].as<MbarrierUse>()->order, check::Order::relaxed);
}

TEST(Descriptions, SayWhatAtomicsDoAndHowManyRegistersAreWanted) {
  const Described d(R"(
  atom.acq_rel.cta.shared.cas.b64 %rd1, [%r2], %rd3, %rd4;
  red.global.min.s32 [%rd1], 1;
  red.global.v4.f32.add [%rd1], {%f1, %f2, %f3, %f4};
  setmaxnreg.inc.sync.aligned.u32 232;
  setmaxnreg.dec.sync.aligned.u32 40;)");
  using Operation = AtomicUse::Operation;
  EXPECT_EQ(d[0].as<AtomicUse>()->operation, Operation::compare_and_swap);
  EXPECT_EQ(d[0].as<AtomicUse>()->type, ptx::Type::b64);
  EXPECT_EQ(d[1].as<AtomicUse>()->operation, Operation::min);
  EXPECT_EQ(d[1].as<AtomicUse>()->type, ptx::Type::s32);
  EXPECT_EQ(d[2].as<AtomicUse>()->operation, Operation::add);
  EXPECT_EQ(d[2].as<AtomicUse>()->count, 4);
  EXPECT_EQ(d[3].as<RegisterCountUse>()->registers, 232u);
  EXPECT_TRUE(d[3].as<RegisterCountUse>()->increases);
  EXPECT_FALSE(d[4].as<RegisterCountUse>()->increases);
}

// The tests' audit detects a description that leaves a register out.
TEST(Descriptions, AreAuditedWhereverTestsRunInstructions) {
  const auto run_with = [](auto change) {
    PtxRunner r(
        {kernel_k("mov.u32 %r2, 7;\n  mad.lo.u32 %r3, %r1, %r2, %r2;\n"
                  "  st.global.u32 [%rd2], %r3;")});
    const Kernel& k = *r.program->kernel("k");
    const Function& described = prepared(*r.program).function({k.module, k.function});
    for (const Instruction& in : described.body)
      if (in.opcode == Opcode::mad) change(const_cast<Instruction&>(in));
    const auto* out = r.make<std::uint32_t>(32);
    EXPECT_TRUE(r.run("k", {}, {32}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  };
  run_with([](Instruction&) {});
  EXPECT_NONFATAL_FAILURE(run_with([](Instruction& in) { in.writes = {}; }),
                          "writes a register that its description does not name");
  EXPECT_NONFATAL_FAILURE(run_with([](Instruction& in) { in.reads = in.reads.first(1); }),
                          "reads a register or memory that its description does not name");
}

// Runs `body` for a warp after `change` has changed the description of the opcode.
template <class Change>
void run_changed(const std::string& body, Opcode opcode, Change change) {
  PtxRunner r({kernel_k(body, ".shared .align 16 .b32 s[64];\n")});
  const Kernel& k = *r.program->kernel("k");
  for (const Instruction& in : prepared(*r.program).function({k.module, k.function}).body)
    if (in.opcode == opcode) change(const_cast<Instruction&>(in));
  r.describes_rightly = false;
  const auto* out = r.make<std::uint32_t>(32);
  EXPECT_TRUE(r.run("k", {}, {32}, {reinterpret_cast<std::uint64_t>(out)}).ok());
}

TEST(Descriptions, AreAuditedForControlAndMemory) {
  const auto goes_on = [](Instruction& in) { in.control = Control::next; };
  const auto lacks_memory = [](Instruction& in) { in.memory = {}; };
  const std::string apart = "setp.lt.u32 %p1, %r1, 16;\n  @%p1 ";
  run_changed("bar.warp.sync -1;", Opcode::bar, goes_on);
  EXPECT_NONFATAL_FAILURE(run_changed(apart + "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;",
                                      Opcode::movmatrix, goes_on),
                          "parks or diverges");
  run_changed("st.shared.u32 [s], 7;", Opcode::st, [](Instruction&) {});
  EXPECT_NONFATAL_FAILURE(run_changed("st.shared.u32 [s], 7;", Opcode::st, lacks_memory),
                          "writes memory that its description does not name");
  EXPECT_NONFATAL_FAILURE(
      run_changed("st.shared.u32 [s], 7;\n  ld.shared.u32 %r2, [s];\n  st.global.u32 [%rd2], %r2;",
                  Opcode::ld,
                  [](Instruction& in) {
                    if (in.memory.front().space == ptx::Space::shared) in.memory = {};
                  }),
      "reads a register or memory that its description does not name");
}

TEST(Descriptions, OfEveryInstructionThatIsExecutedHaveAFamily) {
  for (unsigned o = 1; o < static_cast<unsigned>(Opcode::count_); ++o)
    EXPECT_NE(facts(Opcode(o)).family, Family::unknown) << spelling(Opcode(o));
}

// The family has a name of its own in --stats, so no instruction of another subject may be in it.
TEST(Descriptions, OfTheSystemFamilyAreThese) {
  std::set<std::string_view> found;
  for (unsigned o = 1; o < static_cast<unsigned>(Opcode::count_); ++o)
    if (facts(Opcode(o)).family == Family::system) found.insert(spelling(Opcode(o)));
  EXPECT_EQ(found,
            (std::set<std::string_view>{"trap", "brkpt", "nanosleep", "pmevent", "setmaxnreg"}));
}

// Lanes park at instructions whose control is `meet` or `wait`. That they park at no others is
// audited. Each instruction here is executed by the even lanes of a warp alone, and then by the odd
// ones, if they have not exited.
TEST(Descriptions, MarkInstructionsAtWhichLanesPark) {
  const struct {
    Opcode opcode;
    const char* instruction;
  } cases[] = {
      {Opcode::vote, "vote.sync.ballot.b32 %r4, %p2, -1;"},
      {Opcode::redux, "redux.sync.add.u32 %r4, %r1, -1;"},
      {Opcode::match, "match.any.sync.b32 %r4, %r1, -1;"},
      {Opcode::elect, "elect.sync %r4|%p3, -1;"},
      {Opcode::shfl, "shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;"},
      {Opcode::movmatrix, "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r1;"},
      {Opcode::ldmatrix, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r5];"},
      {Opcode::stmatrix, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r1};"},
      {Opcode::mma,
       "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r4, %r6}, {%r1, %r1}, {%r1}, {%r1, "
       "%r1};"},
      {Opcode::wmma_load,
       "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, "
       "%r13, %r14, %r15, %r16, %r17}, [%r5];"},
      {Opcode::wgmma_fence, "wgmma.fence.sync.aligned;"},
      {Opcode::wgmma_commit_group, "wgmma.commit_group.sync.aligned;"},
      {Opcode::wgmma_wait_group, "wgmma.wait_group.sync.aligned 0;"},
      {Opcode::setmaxnreg, "setmaxnreg.dec.sync.aligned.u32 40;"},
      {Opcode::bar, "bar.warp.sync -1;"},
      {Opcode::barrier, "barrier.sync 0;"},
      {Opcode::nanosleep, "nanosleep.u32 100;"},
      {Opcode::mbarrier_try_wait, "mbarrier.try_wait.parity.shared.b64 %p3, [%r5], 0;"},
      {Opcode::barrier_cluster_wait, "barrier.cluster.arrive; @%p1 barrier.cluster.wait;"},
  };
  for (const auto& [opcode, instruction] : cases) {
    PtxRunner r({".version 8.7\n.target sm_90a\n.address_size 64\n"
                 ".shared .align 16 .b8 s[1024];\n"
                 ".visible .entry k(.param .u64 out) .maxnreg 104 .reqntid 128, 1, 1 {\n"
                 "  .reg .b32 %r<20>; .reg .pred %p<4>;\n"
                 "  mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n"
                 "  setp.ne.u32 %p2, %r2, 5; mov.u32 %r5, s;\n"
                 "  setp.eq.u32 %p3, %r1, 0; @%p3 mbarrier.init.shared.b64 [%r5], 1;\n"
                 "  bar.sync 1;\n  @%p1 " +
                 std::string(instruction) + "\n  ret;\n}\n"},
                false);
    const Outcome o = r.run("k", {}, {128}, {0});
    EXPECT_TRUE(has_parked(opcode)) << instruction << "\n" << o.report;
    EXPECT_TRUE(facts(opcode).control == Control::meet || facts(opcode).control == Control::wait);
  }
}

// The lanes whose guard is false go on.
TEST(Descriptions, LetLanesGoOnWhileOthersWaitForRegisters) {
  PtxRunner r({".version 8.7\n.target sm_90a\n.address_size 64\n"
               ".visible .entry k(.param .u64 out) .maxnreg 104 .reqntid 128, 1, 1 {\n"
               "  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
               "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1;\n"
               "  setp.eq.u32 %p1, %r2, 0; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
               "  @%p1 setmaxnreg.dec.sync.aligned.u32 40;\n"
               "  st.global.u32 [%rd1], 7;\n  ret;\n}\n"},
              false);
  const auto* out = r.make<std::uint32_t>(128);
  const Outcome o = r.run("k", {}, {128}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(std::count(out, out + 128, 7u), 128);
}

// An instruction with an operand in brackets has a memory role, and that role says what the operand
// is.
TEST(Descriptions, GiveEveryOperandInBracketsARole) {
  const struct {
    const char* instruction;
    std::vector<Role> roles;
  } cases[] = {
      {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], "
       "[%r2];",
       {Role::destination, Role::mbarrier}},
      {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;", {Role::store}},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];",
       {Role::mbarrier}},
      {"tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;", {Role::advice}},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", {Role::advice}},
      {"fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;", {Role::advice}},
      {"prefetch.global.L2 [%rd1];", {Role::advice}},
      {"tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];", {Role::advice}},
  };
  for (const auto& [instruction, roles] : cases) {
    const DescribedKernel d(std::string(".visible .entry k() {\n  .reg .b32 %r<20>; .reg .b64 "
                                        "%rd<20>; .reg .f32 %f<8>;\n") +
                                instruction + "\n}\n",
                            "sm_100a");
    ASSERT_TRUE(d.function);
    const Instruction& in = d.function->body.front();
    std::vector<Role> found;
    for (const MemoryOperand& m : in.memory) found.push_back(m.role);
    EXPECT_EQ(found, roles) << instruction;
    EXPECT_NE(facts(in.opcode).memory, MemoryRole::none) << instruction;
  }
}

}  // namespace
}  // namespace inflight::machine
