// Runs PTX text on the machine, for tests in the form of a small kernel.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/machine/launch/launch.hpp"
#include "gpu/ptx/parse.hpp"
#include "tests/unit/machine/audit.hpp"
#include "tests/unit/machine/shape_oracle.hpp"
#include "tests/unit/machine/test_runtime.hpp"

namespace inflight::machine {

// Modules linked on one device with 64 MiB of memory, and launches of their kernels.
class PtxRunner {
 public:
  explicit PtxRunner(const std::vector<std::string>& texts, bool header = true)
      : memory(1, 64 << 20) {
    std::vector<std::shared_ptr<const ptx::Module>> modules;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string head = header ? ".version 8.7\n.target sm_90\n.address_size 64\n" : "";
      auto text = std::make_shared<const std::string>(head + texts[i]);
      auto module = ptx::parse(text, "m" + std::to_string(i));
      if (!module) {
        ADD_FAILURE() << module.error().line << ": " << module.error().message;
        return;
      }
      modules.push_back(std::make_shared<const ptx::Module>(std::move(*module)));
    }
    auto linked = Program::link(std::move(modules), memory, 0);
    if (linked)
      program = std::move(*linked), audit(*program);
    else
      error = linked.error().message;
  }

  // New device memory for `count` values, all zero.
  template <class T>
  T* make(std::size_t count) {
    const auto base = memory.allocate(0, count * sizeof(T), AllocationKind::device).value();
    memory.clear(base);
    return reinterpret_cast<T*>(base);
  }

  // Launches a kernel whose parameters are all 64 bits wide.
  Outcome run(std::string_view kernel, Dim3 grid, Dim3 block,
              const std::vector<std::uint64_t>& parameters = {}, std::uint32_t dynamic_shared = 0) {
    Launch launch;
    launch.kernel = program ? program->kernel(kernel) : nullptr;
    if (!launch.kernel) {
      ADD_FAILURE() << "no kernel " << kernel << ": " << error;
      return {};
    }
    launch.grid = grid, launch.block = block, launch.dynamic_shared = dynamic_shared;
    launch.parameters.resize(launch.kernel->parameter_bytes);
    std::copy_n(reinterpret_cast<const std::byte*>(parameters.data()),
                std::min(launch.parameters.size(), parameters.size() * 8),
                launch.parameters.data());
    launch.runtime = &runtime;
    printed.clear();
    const auto oracle = describes_rightly ? watch_shapes(launch, options) : nullptr;
    Outcome outcome = machine::run(launch, limits, options, print);
    if (oracle) {
      EXPECT_EQ(oracle->wrong(), "");
    }
    return outcome;
  }

  TestRuntime runtime;
  Memory memory;
  std::unique_ptr<Program> program;
  std::string error, printed;
  bool describes_rightly = true;  // false: the test changes descriptions
  std::function<void(std::string_view)> print = [this](std::string_view s) { printed += s; };
  Limits limits;
  Options options{.timeout = std::chrono::milliseconds(20000), .workers = 1};
};

// The body of a kernel `k` with one pointer, in %rd1, and the thread's index in %r1.
inline std::string kernel_k(const std::string& body, const std::string& declarations = {}) {
  return declarations + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .pred %p<20>; .reg .f64 %fd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
)" + body +
         "\n  ret;\n}\n";
}

}  // namespace inflight::machine
