// The runtime calls of kernels: launches of other kernels, and queries of settings and device
// attributes.
#pragma once
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/graph_kernels.hpp"
#include "gpu/machine/config/device_runtime.hpp"

namespace inflight::cuda {

class KernelsRuntime : public machine::DeviceRuntime {
 public:
  // `module`: its kernels launch each other. `base`: the host's launch of one of them. `at`: the
  // graph launch that it is part of, or null.
  KernelsRuntime(LoadedModule& module, Device& device, const machine::Launch& base,
                 const GraphKernels::Here* at)
      : module_(module), device_(device), base_(base), at_(at) {}

  machine::Launch launch_of(const machine::Kernel& kernel) override;
  std::uint64_t next_number() override { return Core::get().next_launch(); }
  std::uint64_t pending_limit() override { return device_.limits[pending_launch_limit]; }
  int device_count() override { return Core::get().device_count(); }
  std::optional<int> attribute(int number, int device) override;
  std::optional<std::uint64_t> limit(int number) override;
  std::vector<std::byte> attributes(const machine::Kernel& kernel) override;
  std::optional<int> resident_blocks(const machine::Kernel& kernel, int threads,
                                     std::uint64_t dynamic_shared) override;
  int launch_graph(std::uint64_t graph, std::uint64_t stream) override;
  int check(const machine::NodeUpdate& update) override;
  int update(const machine::NodeUpdate& update) override;
  void note_polling() override;
  std::uint64_t error_text(int code, bool name) override;

 private:
  std::shared_ptr<Function> function(const machine::Kernel& kernel) const;
  LoadedModule& module_;
  Device& device_;
  const machine::Launch& base_;
  const GraphKernels::Here* const at_;
};

}  // namespace inflight::cuda
