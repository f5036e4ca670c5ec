// Runs a kernel written as PTX text, for tests of instructions.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu/machine/launch/launch.hpp"
#include "gpu/ptx/parse.hpp"
#include "tests/unit/machine/audit.hpp"
#include "tests/unit/machine/shape_oracle.hpp"

namespace inflight::machine {

class KernelRunner : public testing::Test {
 protected:
  Memory memory{2, 256 << 20};
  std::vector<std::unique_ptr<Program>> programs;
  Options options;
  Limits limits;

  // Why a driver does not load the module; empty if it does. `text` as in link().
  static std::string why_not_loaded(const std::string& text) {
    const auto module = ptx::parse(std::make_shared<const std::string>(
                                       ".version 8.7\n.target sm_90a\n.address_size 64\n" + text),
                                   "test");
    return module ? std::string() : module.error().message;
  }

  // Links a module. `text` follows the directives at its start.
  const Program* link(const std::string& text, const std::string& target = "sm_90a") {
    const std::string head = ".version 8.7\n.target " + target + "\n.address_size 64\n";
    auto module = ptx::parse(std::make_shared<const std::string>(head + text), "test");
    if (!module) {
      ADD_FAILURE() << module.error().message << " in line " << module.error().line << "\n" << text;
      return nullptr;
    }
    auto program =
        Program::link({std::make_shared<const ptx::Module>(std::move(*module))}, memory, 0);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return nullptr;
    }
    programs.push_back(std::move(*program));
    audit(*programs.back());
    return programs.back().get();
  }

  struct Shape {
    Dim3 grid{1, 1, 1}, block{32, 1, 1};
    std::uint32_t dynamic_shared = 0;
    Dim3 cluster{1, 1, 1};
  };
  // Runs the kernel `k` with 64-bit parameters.
  Outcome run(const Program* program, Shape shape, const std::vector<std::uint64_t>& arguments) {
    if (!program) return {FaultKind::refused, "no program"};
    Launch launch;
    launch.kernel = program->kernel("k");
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.cluster = shape.cluster;
    launch.dynamic_shared = shape.dynamic_shared;
    launch.shared_optin = limits.shared_per_block_optin;
    launch.parameters.resize(arguments.size() * 8);
    std::copy_n(reinterpret_cast<const std::byte*>(arguments.data()), arguments.size() * 8,
                launch.parameters.data());
    const auto oracle = watch_shapes(launch, options);
    Outcome outcome = machine::run(launch, limits, options, [](std::string_view) {});
    if (oracle) {
      EXPECT_EQ(oracle->wrong(), "");
    }
    return outcome;
  }
  // An entry `k` with `count` parameters .b64 p0, p1... around `body`.
  static std::string entry(unsigned count, const std::string& body) {
    std::string text = ".visible .entry k(";
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", .param .b64 p" : ".param .b64 p") + std::to_string(i);
    return text + ")\n{\n" + body + "\n}\n";
  }

  // Device memory with these values.
  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const auto base = memory.allocate(0, values.size() * sizeof(T), AllocationKind::device);
    EXPECT_TRUE(base);
    std::memcpy(reinterpret_cast<void*>(*base), values.data(), values.size() * sizeof(T));
    return *base;
  }
  template <class T>
  std::vector<T> download(std::uint64_t base, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), reinterpret_cast<const void*>(base), count * sizeof(T));
    return values;
  }
};

}  // namespace inflight::machine
