// Kernel launches. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/calls/launch.hpp"

#include "gpu/cuda/core/report/refusals.hpp"
#include "gpu/cuda/runtime/entry.hpp"
#include "gpu/host/of_this_thread.hpp"

using namespace inflight::cuda;

namespace {

int launch_kernel(const void* function, const abi::LaunchConfig& config, void** arguments,
                  const char* call = __builtin_FUNCTION()) {
  const int code = on_stream(
      config.stream, [&](Stream& s) { return launch(s, config, function, arguments, nullptr); },
      call);
  end_launch_statement();
  return code;
}

}  // namespace

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchKernel)(const void* function, abi::Dim3 grid,
                                                     abi::Dim3 block, void** arguments,
                                                     std::size_t dynamic_shared, void* stream) {
  return launch_kernel(function, {grid, block, dynamic_shared, stream, nullptr, 0}, arguments);
}

INFLIGHT_API int INFLIGHT_STREAMED(__cudaLaunchKernel)(void* kernel, abi::Dim3 grid,
                                                       abi::Dim3 block, void** arguments,
                                                       std::size_t dynamic_shared, void* stream) {
  return launch_kernel(kernel, {grid, block, dynamic_shared, stream, nullptr, 0}, arguments);
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchCooperativeKernel)(const void* function,
                                                                abi::Dim3 grid, abi::Dim3 block,
                                                                void** arguments,
                                                                std::size_t dynamic_shared,
                                                                void* stream) {
  abi::LaunchAttribute cooperative = abi::cooperative_attribute();
  return launch_kernel(function, {grid, block, dynamic_shared, stream, &cooperative, 1}, arguments);
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchKernelExC)(const abi::LaunchConfig* config,
                                                        const void* function, void** arguments) {
  if (!config || (config->attribute_count && !config->attributes))
    return query([] { return Status::invalid_value; });
  return launch_kernel(function, *config, arguments);
}

#ifndef INFLIGHT_PER_THREAD

namespace {

// A configuration on its way from `<<<` to the kernel's stub.
struct Configuration {
  abi::Dim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
};
struct Configurations {
  std::vector<Configuration> stack;
};
std::vector<Configuration>& configurations() {
  return inflight::host::of_this_thread<Configurations>().stack;
}

}  // namespace

INFLIGHT_API unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block,
                                                  std::size_t dynamic_shared, void* stream) {
  return unsigned(record(guarded("the configuration of a launch", [&] {
    configurations().push_back({grid, block, dynamic_shared, stream});
    return Status::success;
  })));
}

INFLIGHT_API int __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block,
                                            std::size_t* dynamic_shared, void* stream) {
  std::vector<Configuration>& stack = configurations();
  if (stack.empty()) return int(Status::invalid_configuration);
  const Configuration top = stack.back();
  stack.pop_back();
  begin_launch_statement();
  *grid = top.grid;
  *block = top.block;
  *dynamic_shared = top.dynamic_shared;
  *static_cast<void**>(stream) = top.stream;
  return 0;
}

#endif
