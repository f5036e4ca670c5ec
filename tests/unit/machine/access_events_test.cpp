// Events of accesses other than plain loads and stores, and of a kernel's heap.
#include "tests/unit/machine/event_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using Lines = std::vector<std::string>;

class AccessEvents : public EventRunner {
 protected:
  static constexpr Topic accesses = Topic::accesses | Topic::addresses;
  Lines accessed(const std::string& body, std::uint32_t threads = 2) {
    return events(accesses, {.block = {threads, 1, 1}}, body);
  }
};

TEST_F(AccessEvents, StrongOnesAreToldWithWhatTheyReadAndWrote) {
  const Lines expected{
      "st.relaxed.gpu.global.u32 @0.0/1 store global 4 bytes relaxed gpu at out+8 wrote 70",
      "ld.acquire.gpu.global.u32 @0.0/1 load global 4 bytes acquire gpu at out+8 read 70",
      "ld.volatile.global.u8 @0.0/1 load global 1 bytes volatile sys at out+8 read 70",
      "atom.add.global.u32 @0.0/1 atomic global 4 bytes relaxed gpu at out+8 read 70",
      "atom.release.sys.exch.b64 @0.0/1 atomic global 8 bytes release sys at out+16 read "
      "21474836484 wrote 9",
      "red.add.global.u32 @0.0/1 reduction global 4 bytes relaxed gpu at out+8",
      "ld.global.u32 @0.0/1 load global 4 bytes at out+8"};
  EXPECT_EQ(accessed(R"(
  mov.u32 %r1, 70; mov.u64 %d2, 9;
  st.relaxed.gpu.global.u32 [%d0+8], %r1;
  ld.acquire.gpu.global.u32 %r2, [%d0+8];
  ld.volatile.global.u8 %r2, [%d0+8];
  atom.add.global.u32 %r2, [%d0+8], 5;
  atom.release.sys.exch.b64 %d2, [%d0+16], %d2;
  red.add.global.u32 [%d0+8], 5;
  ld.global.u32 %r2, [%d0+8];)",
                     1),
            expected);
}

// The address register and the compared one may be among those that the access writes.
TEST_F(AccessEvents, AFailedCompareAndSwapWritesNothing) {
  const Lines expected{
      "atom.cas.global.b32 @0.0/3 atomic global 4 bytes relaxed gpu at out+0 written by 1 read 0 "
      "10 wrote 10 11",
      "ld.relaxed.gpu.global.u64 @0.0/3 load global 8 bytes relaxed gpu at out+8 read 12884901890 "
      "12884901890"};
  EXPECT_EQ(accessed(R"(
  mov.u32 %r1, 0; add.u32 %r2, %r0, 10;
  atom.cas.global.b32 %r1, [%d0], %r1, %r2;
  ld.relaxed.gpu.global.u64 %d0, [%d0+8];)"),
            expected);
}

TEST_F(AccessEvents, AGuardedStrongAccessIsThatOfItsLanes) {
  const Lines expected{
      "atom.inc.global.u32 @0.0/2 atomic global 4 bytes relaxed gpu at out+4 read 1"};
  EXPECT_EQ(accessed(R"(
  setp.eq.u32 %p0, %r0, 1;
  @%p0 atom.inc.global.u32 %r1, [%d0+4], 7;
  setp.eq.u32 %p0, %r0, 9;
  @%p0 atom.inc.global.u32 %r1, [%d0+4], 7;)"),
            expected);
}

TEST_F(AccessEvents, TensorMapsAreWrittenAsAWhole) {
  const std::string replace = "tensormap.replace.tile.rank.global.b1024.b32",
                    copy =
                        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
                        "gpu.sync.aligned";
  Lines lines = events(accesses | Topic::fences, {.block = {1, 1, 1}}, R"(
  mov.u32 %r1, 0;
  )" + replace + R"( [%d1], %r1;
  mov.u32 %r2, m;
  )" + copy + R"( [%d1], [%r2], 128;)",
                       ".shared .align 128 .b8 m[128];\n");
  ASSERT_EQ(lines.size(), 4u) << fmt::format("{}", fmt::join(lines, "\n"));
  const auto ends = [&](std::size_t i, std::string_view text) {
    EXPECT_TRUE(lines[i].ends_with(text)) << lines[i];
  };
  ends(0, "@0.0/1 store global 128 bytes at map+0");
  ends(1, "@0.0/1 store global 128 bytes at map+0");
  ends(2, "@0.0/1 load shared 128 bytes at 1024");
  ends(3, "@0.0/1 proxy release gpu generic->tensormap only global 128 bytes at map+0");
}

TEST_F(AccessEvents, PrintfReadsItsFormatArgumentsAndStrings) {
  Lines lines = events(accesses, {.block = {1, 1, 1}}, R"(
  .local .align 8 .b8 arguments[16];
  .reg .b64 %f; .reg .b64 %a; .reg .b64 %s; .reg .b32 %n;
  mov.u64 %f, format; cvta.global.u64 %f, %f;
  mov.u64 %s, word; cvta.global.u64 %s, %s;
  mov.u64 %a, arguments; cvta.local.u64 %a, %a;
  mov.u32 %n, 5;
  st.local.u32 [arguments], %n;
  st.local.u64 [arguments+8], %s;
  { .param .b64 f; .param .b64 a; .param .b32 r;
    st.param.b64 [f], %f; st.param.b64 [a], %a;
    call (r), vprintf, (f, a); }
)",
                       ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
                       ".global .align 1 .b8 format[6] = {37, 100, 32, 37, 115, 0};\n"
                       ".global .align 1 .b8 word[3] = {104, 105, 0};\n");
  std::erase_if(lines, [](const auto& line) { return !line.starts_with("call"); });
  ASSERT_EQ(lines.size(), 4u) << fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_NE(lines[0].find("load global 6 bytes"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("load local 4 bytes"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("load local 8 bytes"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("load global 3 bytes"), std::string::npos) << lines[3];
}

// The names of the variables that loads and stores access.
class Names : public check::Listener {
 public:
  check::Topic topics() const override {
    return Topic::accesses | Topic::addresses | Topic::parameters;
  }
  void kernel_begin(const check::KernelBegin& event) override { kernel_ = event.kernel; }
  void accessed(const check::Access& e) override {
    // The arguments of a call.
    if (e.space == check::Space::param && e.kind == check::Access::Kind::store) return;
    const std::uint64_t address = e.addresses[std::countr_zero(e.who.mask)] - e.frame;
    const check::Variable v = kernel_->variable(*kernel_, e.space, address, e.who.instruction);
    found.push_back(fmt::format("{}+{} of {}", v.name, address - v.address, v.bytes));
  }
  Lines found;

 private:
  const check::Kernel* kernel_ = nullptr;
};

TEST_F(AccessEvents, KernelsKnowTheNamesOfTheirVariables) {
  Names names;
  options.listener = &names;
  const std::string text = R"(
.visible .global .align 8 .b8 table[64];
.visible .const .align 4 .b8 limits[16];
.shared .align 4 .b8 first[16];
.shared .align 4 .b8 second[16];
.extern .shared .align 16 .b8 rest[];
.func inner(.param .b32 n)
{
  .local .align 4 .b8 own[8];
  .reg .b32 %r;
  st.local.u32 [own+4], 1;
  ret;
}
.visible .entry k(.param .b64 p0)
{
  .local .align 4 .b8 mine[32];
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [p0];
  ld.global.u32 %r1, [table+8];
  ld.const.u32 %r1, [limits+4];
  ld.shared.u32 %r1, [second+12];
  ld.shared.u32 %r1, [first];
  st.shared.u32 [rest+20], %r1;
  st.local.u32 [mine+16], %r1;
  { .param .b32 n; st.param.b32 [n], %r1; call inner, (n); }
  mov.u64 %d2, table; cvta.global.u64 %d2, %d2;
  ld.u32 %r1, [%d2+60];
  ld.global.u32 %r1, [%d1];
  ret;
})";
  const std::uint64_t out = upload(std::vector<std::uint32_t>(4));
  const Outcome o = run(link(text), {.block = {1, 1, 1}, .dynamic_shared = 64}, {out});
  ASSERT_TRUE(o.ok()) << o.report;
  const Lines expected{"p0+0 of 8",       "table+8 of 64", "limits+4 of 16",
                       "second+12 of 16", "first+0 of 16", "rest+20 of 64",
                       "mine+16 of 32",   "own+4 of 8",    "table+60 of 64"};
  ASSERT_EQ(names.found.size(), expected.size() + 1);
  EXPECT_TRUE(names.found.back().starts_with("+")) << names.found.back();
  names.found.pop_back();
  EXPECT_EQ(names.found, expected);
}

// The lanes of each store to global memory that write the value already there.
class Silent : public check::Listener {
 public:
  check::Topic topics() const override { return Topic::accesses | Topic::addresses; }
  void accessed(const check::Access& e) override {
    if (e.kind == check::Access::Kind::store && e.space == check::Space::global)
      found.push_back(e.silent);
  }
  std::vector<check::Mask> found;
};

TEST_F(AccessEvents, StoresOfWhatMemoryHoldsAreSilent) {
  Silent silent;
  options.listener = &silent;
  std::vector<std::uint32_t> words(64);
  std::iota(words.begin(), words.end(), 0);
  const std::uint64_t out = upload(words);
  const Outcome o = run(link(entry(1, R"(
  .reg .b32 %r<4>; .reg .pred %p; .reg .b64 %d<4>;
  ld.param.u64 %d0, [p0];
  mov.u32 %r0, %tid.x; mov.u32 %r1, 5;
  mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0;
  mul.wide.u32 %d2, %r0, 8; add.u64 %d2, %d2, %d0;
  st.global.u32 [%d1], %r0;
  setp.lt.u32 %p, %r0, 8;
  @%p st.global.u32 [%d1], %r1;
  st.u32 [%d1], %r1;
  st.global.v2.u32 [%d2], {%r1, %r1};
  ret;)")),
                        {.block = {32, 1, 1}}, {out});
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(silent.found, (std::vector<check::Mask>{0xffffffff, 1u << 5, 0xff, 0xffff}));
}

// What the instructions of a kernel do, and which of its stores say which lanes are silent.
class Acts : public check::Listener {
 public:
  void kernel_begin(const check::KernelBegin& event) override {
    const check::Kernel& kernel = *event.kernel;
    const char* const kinds[] = {"other", "reads", "writes"};
    for (std::uint32_t i = 0;; ++i) {
      const check::Instruction in = kernel.describe(kernel, i);
      if (in.text.empty() || in.text == "ret") return;
      found.push_back(fmt::format("{} {}{}{}", in.text, kinds[static_cast<int>(in.act.kind)],
                                  in.act.by_warp ? " by warp" : "",
                                  in.act.uses_map ? " by map" : ""));
    }
  }
  void accessed(const check::Access& e) override {
    if (e.compared) compared.push_back(e.who.instruction);
  }
  Lines found;
  std::vector<std::uint32_t> compared;
};

TEST_F(AccessEvents, InstructionsSayWhatTheyDoToMemory) {
  Acts acts;
  options.listener = &acts;
  const std::uint64_t out = upload(std::vector<std::uint32_t>(64));
  const Outcome o = run(link(entry(1, R"(
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p; .shared .align 128 .b8 s[256];
  ld.param.u64 %d0, [p0];
  st.global.u32 [%d0], 1;
  st.shared.u32 [s], 1;
  st.relaxed.gpu.global.u32 [%d0], 1;
  mov.u32 %r1, s;
  atom.global.add.u32 %r2, [%d0], 1;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];
  cp.async.ca.shared.global [%r1], [%d0], 4;
  bar.warp.sync -1;
  setp.eq.u32 %p, %r1, 0;
  @%p cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d0, {%r1}];
  ret;)")),
                        {.block = {32, 1, 1}}, {out});
  EXPECT_EQ(acts.found,
            (Lines{"ld.param.u64 reads", "st.global.u32 writes", "st.shared.u32 writes",
                   "st.relaxed.gpu.global.u32 writes", "mov.u32 other", "atom.global.add.u32 other",
                   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 reads by warp",
                   "cp.async.ca.shared.global other", "bar.warp.sync other", "setp.eq.u32 other",
                   "cp.async.bulk.prefetch.tensor.1d.L2.global.tile other by map"}));
  EXPECT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(acts.compared, (std::vector<std::uint32_t>{1, 2}));
}

// Opens the log of each read of shared memory, for two more reads.
class Notes : public check::Listener {
 public:
  explicit Notes(bool refuses, Topic more = Topic::none) : refuses_(refuses), more_(more) {}
  Topic topics() const override { return Topic::accesses | Topic::addresses | more_; }
  void accessed(const check::Access& e) override {
    if (e.kind != check::Access::Kind::load) return;
    told.push_back(e.addresses[std::countr_zero(e.who.mask)]);
    if (!e.log) return;
    e.log->next = reads.data(), e.log->end = reads.data() + reads.size();
    e.log->refused = refuses_;
  }
  std::vector<std::uint64_t> told;
  std::array<shadow::NotedRead, 2> reads;

 private:
  bool refuses_;
  Topic more_;
};

class ReadLogs : public AccessEvents {
 protected:
  void go(Notes& notes) {
    options.listener = &notes;
    const Outcome o = run(link(".shared .align 16 .b8 tile[512];\n" + entry(1, R"(
  .reg .b32 %r<8>; .reg .pred %p;
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
  ld.shared.u32 %r3, [%r1];
  ld.shared.u32 %r3, [%r1+128];
  setp.ge.u32 %p, %r0, 30;
  @%p ld.shared.u16 %r4, [tile+256];
  ld.shared.u32 %r3, [%r1+384];
  ld.volatile.shared.u32 %r3, [%r1];
  ret;)")),
                          {.block = {32, 1, 1}}, {0});
    EXPECT_TRUE(o.ok()) << o.report;
  }
};

TEST_F(ReadLogs, HoldWeakReadsOfSharedMemoryWhileOpen) {
  Notes notes(false);
  go(notes);
  EXPECT_EQ(notes.told, (std::vector<std::uint64_t>{1024, 1024 + 384, 1024}));
  const auto& [row, one] = notes.reads;
  EXPECT_EQ(row.lanes, ~0u);
  EXPECT_EQ(row.bytes, 4u);
  EXPECT_EQ(row.warp, 0u);
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(row.addresses[l], 1024 + 128 + 4 * l);
  EXPECT_EQ(one.lanes, 3u << 30);
  EXPECT_EQ(one.bytes, 2u);
  EXPECT_EQ(one.addresses[30], 1024 + 256);
  EXPECT_GT(one.place, row.place);
}

TEST_F(ReadLogs, HoldNothingIfAListenerNeedsEachRead) {
  const std::vector<std::uint64_t> all{1024, 1024 + 128, 1024 + 256, 1024 + 384, 1024};
  Notes refusing(true);
  go(refusing);
  EXPECT_EQ(refusing.told, all);
  Notes asking(false, Topic::each_read);
  go(asking);
  EXPECT_EQ(asking.told, all);
}

TEST_F(AccessEvents, TheHeapOfAKernelIsToldWithItsThread) {
  const Lines lines = events(Topic::allocations, {.block = {2, 1, 1}}, R"(
  .reg .b64 %n; .reg .b64 %a;
  add.u32 %r1, %r0, 1; mul.wide.u32 %n, %r1, 48;
  { .param .b64 n; .param .b64 a;
    st.param.b64 [n], %n; call (a), malloc, (n); ld.param.b64 %a, [a]; }
  { .param .b64 a; st.param.b64 [a], %a; call free, (a); }
)",
                             ".extern .func (.param .b64 a) malloc (.param .b64 n);\n"
                             ".extern .func free (.param .b64 a);\n");
  ASSERT_EQ(lines.size(), 4u) << fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_TRUE(lines[0].ends_with("@0.0/1 heap made 48 bytes")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with("@0.0/2 heap made 96 bytes")) << lines[1];
  EXPECT_TRUE(lines[2].ends_with("@0.0/1 heap released 48 bytes")) << lines[2];
  EXPECT_TRUE(lines[3].ends_with("@0.0/2 heap released 96 bytes")) << lines[3];
}

}  // namespace
}  // namespace inflight::machine
