// Measures the cost of warp instructions. Each small PTX kernel repeats one instruction in a loop
// on one host thread. The counter `warp_instruction` is seconds per instruction. The loop's own
// three instructions are spread over its 64 copies and not subtracted.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>

#include "gpu/machine/launch/launch.hpp"
#include "gpu/ptx/parse.hpp"

namespace {

using namespace inflight;

constexpr unsigned copies = 64, rounds = 256;

struct Case {
  const char* name;
  const char* setup;  // %r1 is %tid.x, %r2 the address of 16 KB of shared memory, %rd1 of 1 MB
  const char* body;   // one instruction (or a group); {0} is the copy's number
  unsigned instructions = 1;  // in the body
  unsigned threads = 32;
};

constexpr const char* row = "shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;";
constexpr const char* halves = "shr.u32 %r3, %r1, 4; shl.b32 %r3, %r3, 6; add.u32 %r2, %r2, %r3;";
constexpr const char* scattered =
    "mul.lo.u32 %r3, %r1, 37; and.b32 %r3, %r3, 1023; shl.b32 %r3, %r3, 2; add.u32 %r2, %r2, %r3;";
constexpr const char* global_row = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;";
constexpr const char* global_row16 = "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd1, %rd1, %rd2;";
constexpr const char* global_scattered =
    "mul.lo.u32 %r3, %r1, 5003; and.b32 %r3, %r3, 65535; mul.wide.u32 %rd2, %r3, 4;"
    "add.s64 %rd1, %rd1, %rd2;";
constexpr const char* odd = "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1;";

constexpr Case cases[] = {
    {"fma.rn.f32", "", "fma.rn.f32 %f1, %f2, %f3, %f1;"},
    {"add.f32", "", "add.f32 %f1, %f2, %f3;"},
    {"add.u32", "", "add.u32 %r4, %r4, %r5;"},
    {"add.s64", "", "add.s64 %rd4, %rd4, %rd5;"},
    {"mad.lo.s32", "", "mad.lo.s32 %r4, %r4, %r5, %r6;"},
    {"mul.wide.u32", "", "mul.wide.u32 %rd4, %r4, 4;"},
    {"cvt.f32.u32", "", "cvt.rn.f32.u32 %f1, %r4;"},
    {"setp.lt.s32", "", "setp.lt.s32 %p1, %r4, %r1;"},
    {"selp.b32", odd, "selp.b32 %r4, %r5, %r6, %p1;"},
    {"guarded_add.u32", odd, "@%p1 add.u32 %r4, %r4, %r5;"},
    {"ld.shared/row", row, "ld.shared.f32 %f1, [%r2];"},
    {"ld.shared/one_address_each_half", halves, "ld.shared.f32 %f1, [%r2+4];"},
    {"ld.shared/scattered", scattered, "ld.shared.f32 %f1, [%r2];"},
    {"ld.shared.v4/row", "shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3;",
     "ld.shared.v4.f32 {{%f1, %f2, %f3, %f4}}, [%r2];"},
    {"st.shared/row", row, "st.shared.f32 [%r2], %f1;"},
    {"ld.global/row", global_row, "ld.global.f32 %f1, [%rd1];"},
    {"ld.global/scattered", global_scattered, "ld.global.f32 %f1, [%rd1];"},
    {"ld.global.v4/row", global_row16, "ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd1];"},
    {"st.global/row", global_row, "st.global.f32 [%rd1], %f1;"},
    {"atom.shared.add/own_address", row, "atom.shared.add.u32 %r4, [%r2], 1;"},
    {"atom.shared.add/one_address", "", "atom.shared.add.u32 %r4, [%r2], 1;"},
    {"red.global.add/own_address", global_row, "red.global.add.u32 [%rd1], 1;"},
    {"shfl.sync.bfly", "", "shfl.sync.bfly.b32 %r4, %r5, 1, 31, -1;"},
    {"vote.sync.ballot", odd, "vote.sync.ballot.b32 %r4, %p1, -1;"},
    {"bra", "", "bra L{0}; L{0}:"},
    {"setp+bra/taken_by_half", "",
     "setp.lt.s32 %p1, %r1, 16; @%p1 bra L{0}; add.u32 %r4, %r4, 1; L{0}:", 3},
    {"bar.sync/1_warp", "", "bar.sync 0;"},
    {"bar.sync/8_warps", "", "bar.sync 0;", 1, 256},
};

std::string ptx_of(const Case& c) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<4>; .reg .u32 %r<8>; .reg .u64 %rd<8>; .reg .f32 %f<8>;
  .shared .align 16 .b8 s[16384];
  ld.param.u64 %rd1, [p]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r4, %tid.x; mov.u32 %r5, 3; mov.u32 %r6, 4;
  mov.u64 %rd4, 1; mov.u64 %rd5, 5; mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f1; mov.f32 %f3, %f1;
  )";
  text += c.setup;
  text += "\nLOOP:\n";
  for (unsigned i = 0; i < copies; ++i) text += fmt::format(fmt::runtime(c.body), i) + "\n";
  text += "  sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra LOOP;\n  ret;\n}\n";
  return text;
}

void measure(benchmark::State& state, const Case& c) {
  machine::Memory memory(1, 1ull << 30);
  auto text = std::make_shared<const std::string>(ptx_of(c));
  auto module = ptx::parse(text, c.name);
  if (!module) return state.SkipWithError(module.error().message.c_str());
  auto program =
      machine::Program::link({std::make_shared<const ptx::Module>(std::move(*module))}, memory, 0);
  if (!program) return state.SkipWithError(program.error().message.c_str());
  const machine::Kernel& kernel = *(*program)->kernels().begin();
  const std::uint64_t data = *memory.allocate(0, 1 << 20, machine::AllocationKind::device);
  std::memset(reinterpret_cast<void*>(data), 0, 1 << 20);

  machine::Launch launch;
  launch.kernel = &kernel;
  launch.grid = launch.cluster = {1, 1, 1};
  launch.block = {c.threads, 1, 1};
  launch.parameters.resize(kernel.parameter_bytes);
  std::memcpy(launch.parameters.data() + kernel.parameters[0].offset, &data, sizeof data);
  std::memcpy(launch.parameters.data() + kernel.parameters[1].offset, &rounds, sizeof rounds);
  machine::Options options;
  options.workers = 1;
  for (auto _ : state) {
    const auto outcome = machine::run(launch, {}, options, [](std::string_view) {});
    if (!outcome.ok()) return state.SkipWithError(outcome.report.c_str());
  }
  const double instructions = double(copies) * rounds * c.instructions * (c.threads / 32);
  state.counters["warp_instruction"] = benchmark::Counter(
      instructions, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Case& c : cases)
    benchmark::RegisterBenchmark(c.name, [&c](benchmark::State& s) {
      measure(s, c);
    })->Unit(benchmark::kMicrosecond);
  benchmark::AddCustomContext("instruction_set", std::string(machine::instruction_set()));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
