// Driver API: launches.
#include "gpu/cuda/driver/launch.hpp"

#include "gpu/cuda/core/stream/launch.hpp"

namespace inflight::cuda::driver {

abi::LaunchConfig runtime_config(const LaunchConfig& config, bool per_thread) {
  return {config.grid,           config.block,
          config.dynamic_shared, at(config.stream, per_thread),
          config.attributes,     config.attribute_count};
}

namespace {

// CUDA gives either pointers, or a list with one buffer of all parameters.
Status launch(const LaunchConfig& config, Handle function, void** arguments, void** extra,
              bool per_thread) {
  abi::LaunchConfig asked = runtime_config(config, per_thread);
  if (!extra) return runtime(cudaLaunchKernelExC(&asked, function, arguments));
  if (arguments) return Status::invalid_value;
  auto unpacked = arguments_of(function, extra);
  if (!unpacked) return tell(unpacked);
  return runtime(cudaLaunchKernelExC(&asked, function, unpacked->pointers.data()));
}

abi::LaunchAttribute cooperative() {
  abi::LaunchAttribute attribute{};
  attribute.id = abi::launch_cooperative;
  attribute.value.integer = 1;
  return attribute;
}

}  // namespace

Result<Arguments> arguments_of(Handle handle, void* const* extra) {
  auto function = Core::get().functions.find(handle);
  if (!function) return fail(Status::invalid_handle);
  auto kernel = function->on(current_device().ordinal);
  if (!kernel) return tl::unexpected(kernel.error());
  auto bytes = pack_extra(**kernel, extra);
  if (!bytes) return tl::unexpected(bytes.error());
  Arguments result{std::move(*bytes), {}};
  for (const machine::Parameter& parameter : (*kernel)->parameters) {
    result.pointers.push_back(result.bytes.data() + parameter.offset);
  }
  return result;
}

INFLIGHT_CU_TWO_AT(
    of_stream(stream), cuLaunchKernel, cuLaunchKernel_ptsz,
    (Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
     unsigned block_y, unsigned block_z, unsigned shared, Handle stream, void** arguments,
     void** extra),
    {
      LaunchConfig config{
          {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, nullptr, 0};
      return launch(config, function, arguments, extra, second);
    })
INFLIGHT_CU_TWO_AT(config ? of_stream(config->stream) : of_any(), cuLaunchKernelEx,
                   cuLaunchKernelEx_ptsz,
                   (const LaunchConfig* config, Handle function, void** arguments, void** extra), {
                     if (!config) return Status::invalid_value;
                     return launch(*config, function, arguments, extra, second);
                   })
INFLIGHT_CU_TWO_AT(
    of_stream(stream), cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz,
    (Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
     unsigned block_y, unsigned block_z, unsigned shared, Handle stream, void** arguments),
    {
      abi::LaunchAttribute attribute = cooperative();
      LaunchConfig config{
          {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, &attribute, 1};
      return launch(config, function, arguments, nullptr, second);
    })

namespace {

// The occupancy calls take a cluster out of the same structure.
template <class Call>
Status with_config(const LaunchConfig* config, Call&& call) {
  if (!config) return Status::invalid_value;
  abi::LaunchConfig asked = runtime_config(*config, false);
  return runtime(call(&asked));
}

}  // namespace

INFLIGHT_CU(cuOccupancyMaxPotentialClusterSize,
            (int* size, Handle function, const LaunchConfig* config), {
              return with_config(config, [&](const abi::LaunchConfig* asked) {
                return cudaOccupancyMaxPotentialClusterSize(size, function, asked);
              });
            })
INFLIGHT_CU(cuOccupancyMaxActiveClusters, (int* count, Handle function, const LaunchConfig* config),
            {
              return with_config(config, [&](const abi::LaunchConfig* asked) {
                return cudaOccupancyMaxActiveClusters(count, function, asked);
              });
            })

}  // namespace inflight::cuda::driver
