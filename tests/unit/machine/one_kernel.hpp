// A kernel of a program, launched by either engine.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/launch/launch.hpp"
#include "gpu/machine/shapes/shapes.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::machine {

// A kernel `k`, whose parameters are a table of words and, of some, a number of rounds.
class OneKernel {
 public:
  explicit OneKernel(const std::string& text) {
    auto module = ptx::parse(std::make_shared<const std::string>(
                                 ".version 8.7\n.target sm_90\n.address_size 64\n" + text),
                             "m");
    if (!module) {
      ADD_FAILURE() << module.error().line << ": " << module.error().message << "\n" << text;
      std::abort();
    }
    program = Program::link({std::make_shared<const ptx::Module>(std::move(*module))}, memory_, 0)
                  .value();
    table_ = memory_.allocate(0, bytes, AllocationKind::device).value();
    options.timeout = std::chrono::seconds(60);
  }

  // `at`: where its table begins, in bytes.
  Outcome run(Compile compile, std::uint32_t rounds, Dim3 grid = {4}, Dim3 block = {64},
              std::uint64_t at = 0) const {
    Launch launch;
    launch.kernel = program->kernel("k");
    launch.grid = grid, launch.block = block;
    launch.parameters.resize(launch.kernel->parameter_bytes);
    const std::uint64_t table = table_ + at;
    std::memcpy(launch.parameters.data(), &table, 8);
    if (launch.parameters.size() > 8) std::memcpy(launch.parameters.data() + 8, &rounds, 4);
    launch.runtime = runtime;
    clock = first_cycle;
    launch.clock = &clock;
    Options how = options;
    how.compile = compile;
    return machine::run(launch, limits, how, [](std::string_view) {});
  }
  std::vector<std::uint32_t> words() const {
    const auto* const all = reinterpret_cast<const std::uint32_t*>(table_);
    return {all, all + bytes / 4};
  }
  void clear() const { std::memset(reinterpret_cast<void*>(table_), 0, bytes); }
  const Code& code() const {
    const Kernel& kernel = *program->kernel("k");
    return *prepared(*program).code({kernel.module, kernel.function}, CodeForm{}).value();
  }
  const Compiled* made() const {
    return code().compiled[static_cast<std::size_t>(BlockRows::line)].load();
  }
  bool becomes_compiled() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!made() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return made() != nullptr;
  }

  static constexpr std::size_t bytes = 4096;

 private:
  Memory memory_{1, 64 << 20};
  std::uint64_t table_ = 0;

 public:
  std::unique_ptr<Program> program;
  Options options;
  Limits limits;
  DeviceRuntime* runtime = nullptr;
  mutable std::atomic<std::uint64_t> clock{first_cycle};
};

// Each thread adds up products in a loop, which `times` repeat in a row.
inline std::string sum_kernel(int times = 1) {
  std::string body;
  for (int i = 0; i < times; ++i)
    body += fmt::format("  mad.lo.u32 %r2, %r2, {}, %r1; xor.b32 %r2, %r2, %r3;\n", 2 * i + 3);
  return R"(
.visible .entry k(.param .u64 table, .param .u32 rounds)
{
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd1, [table]; ld.param.u32 %r4, [rounds];
  mov.u32 %r0, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r1, %tid.x;
  mad.lo.u32 %r1, %r0, %r5, %r1; mov.u32 %r2, 0; mov.u32 %r3, 0;
LOOP:
)" + body +
         R"(
  add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r4; @%p bra LOOP;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r2;
  ret;
}
)";
}

}  // namespace inflight::machine
