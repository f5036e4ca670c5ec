// Driver API: launches.
#include "gpu/cuda/core/calls/launch.hpp"

#include "gpu/cuda/core/calls/several_devices.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

struct LaunchConfig {  // CUlaunchConfig
  abi::Dim3 grid, block;
  unsigned dynamic_shared;
  Handle stream;
  abi::LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct LaunchParams {  // CUDA_LAUNCH_PARAMS
  Handle function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  Handle stream;
  void** arguments;
};

abi::LaunchConfig core_config(const LaunchConfig& config) {
  return {config.grid,   config.block,      config.dynamic_shared,
          config.stream, config.attributes, config.attribute_count};
}

// A program passes either pointers, or a list with one buffer for all parameters.
Status launch_kernel(const LaunchConfig& config, Handle function, void** arguments, void** extra,
                     bool per_thread) {
  if (extra && arguments) return Status::invalid_value;
  if (extra && !Core::get().functions.find(function)) return Status::invalid_handle;
  if (config.attribute_count && !config.attributes) return Status::invalid_value;
  return with_stream(config.stream, per_thread, [&](Stream& s) {
    return launch(s, core_config(config), function, arguments, extra);
  });
}

}  // namespace

INFLIGHT_CU_TWO_AT(
    of_stream(stream), cuLaunchKernel, cuLaunchKernel_ptsz,
    (Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
     unsigned block_y, unsigned block_z, unsigned shared, Handle stream, void** arguments,
     void** extra),
    {
      LaunchConfig config{
          {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, nullptr, 0};
      return launch_kernel(config, function, arguments, extra, second);
    })
INFLIGHT_CU_TWO_AT(config ? of_stream(config->stream) : of_any(), cuLaunchKernelEx,
                   cuLaunchKernelEx_ptsz,
                   (const LaunchConfig* config, Handle function, void** arguments, void** extra), {
                     if (!config) return Status::invalid_value;
                     return launch_kernel(*config, function, arguments, extra, second);
                   })
INFLIGHT_CU_TWO_AT(
    of_stream(stream), cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz,
    (Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
     unsigned block_y, unsigned block_z, unsigned shared, Handle stream, void** arguments),
    {
      abi::LaunchAttribute attribute = abi::cooperative_attribute();
      LaunchConfig config{
          {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, &attribute, 1};
      return launch_kernel(config, function, arguments, nullptr, second);
    })

INFLIGHT_CU(cuLaunchCooperativeKernelMultiDevice,
            (const LaunchParams* list, unsigned count, unsigned flags), {
              if (count && !list) return Status::invalid_value;
              std::vector<DeviceLaunch> launches;
              for (const LaunchParams& each : std::span(list, count))
                launches.push_back({each.function,
                                    {each.grid_x, each.grid_y, each.grid_z},
                                    {each.block_x, each.block_y, each.block_z},
                                    each.shared,
                                    each.stream,
                                    each.arguments});
              return launch_on_devices(launches, flags);
            })

// The occupancy calls read the cluster from the same structure.
INFLIGHT_CU(cuOccupancyMaxPotentialClusterSize,
            (int* size, Handle function, const LaunchConfig* config), {
              if (!config) return Status::invalid_value;
              const abi::LaunchConfig launch = core_config(*config);
              return get_largest_cluster(size, function, &launch);
            })
INFLIGHT_CU(cuOccupancyMaxActiveClusters, (int* count, Handle function, const LaunchConfig* config),
            {
              if (!config) return Status::invalid_value;
              const abi::LaunchConfig launch = core_config(*config);
              return get_resident_clusters(count, function, &launch);
            })

}  // namespace inflight::cuda::driver
