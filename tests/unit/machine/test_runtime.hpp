// The host side of kernels' launches, for tests without a CUDA runtime.
#pragma once
#include <atomic>

#include "gpu/machine/config/device_runtime.hpp"

namespace inflight::machine {

class TestRuntime : public DeviceRuntime {
 public:
  Launch launch_of(const Kernel& kernel) override {
    Launch launch;
    launch.kernel = &kernel;
    launch.id = next_number();
    launch.runtime = this;
    return launch;
  }
  std::uint64_t next_number() override { return ++numbers_; }
  std::uint64_t pending_limit() override { return places; }
  int device_count() override { return 1; }
  std::optional<int> attribute(int, int) override { return std::nullopt; }
  std::optional<std::uint64_t> limit(int) override { return std::nullopt; }
  std::vector<std::byte> attributes(const Kernel&) override { return {}; }
  std::optional<int> resident_blocks(const Kernel&, int, std::uint64_t) override {
    return std::nullopt;
  }
  int launch_graph(std::uint64_t, std::uint64_t) override { return 1; }
  int check(const NodeUpdate&) override { return 1; }
  int update(const NodeUpdate&) override { return 1; }
  void note_polling() override {}
  std::uint64_t error_text(int, bool) override { return 0; }

  std::uint64_t places = 2048;

 private:
  std::atomic<std::uint64_t> numbers_{1000};
};

}  // namespace inflight::machine
