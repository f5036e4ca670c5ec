// A launch's arguments in the form that the runtime takes, and the runtime calls of launches.
#pragma once
#include <cuda_runtime.h>

#include <inflight/base/host_device.cuh>
#include <tuple>

namespace inflight {
struct launch_shape;
namespace impl {

// Copies of the arguments, converted to the parameters' types, and an array of pointers to them.
template <class... Parameters>
class launch_arguments {
 public:
  template <class... Arguments>
  explicit launch_arguments(Arguments&&... arguments)
      : values_(checked(std::forward<Arguments>(arguments)...)) {}
  launch_arguments(const launch_arguments&) = delete;

  void** pointers() {
    std::apply(
        [this](auto&... value) {
          int i = 0;
          ((pointers_[i++] = const_cast<void*>(static_cast<const volatile void*>(&value))), ...);
        },
        values_);
    return pointers_;
  }

 private:
  using tuple = std::tuple<std::remove_cv_t<Parameters>...>;
  template <class... Arguments>
  static tuple checked(Arguments&&... arguments) {
    constexpr bool as_many = sizeof...(Arguments) == sizeof...(Parameters);
    static_assert(
        as_many, "the launch's number of arguments differs from the kernel's number of parameters");
    if constexpr (as_many) {
      static_assert((std::is_convertible_v<Arguments&&, Parameters> && ...),
                    "an argument of the launch does not convert to the kernel's parameter");
      return tuple(static_cast<Parameters>(std::forward<Arguments>(arguments))...);
    }
  }
  tuple values_;
  void* pointers_[sizeof...(Parameters) + 1] = {};
};

inline cudaError_t allow_shared(const void* kernel, std::size_t shared) {
  if (shared <= 48 * 1024) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
}

// A template because launch_shape is incomplete here.
template <class Shape>
cudaError_t launch(const void* kernel, const Shape& shape, void** arguments) {
  const unsigned blocks = shape.cluster.x * shape.cluster.y * shape.cluster.z;
  cudaError_t error = allow_shared(kernel, shape.shared);
  if (error == cudaSuccess && blocks > 8)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid, config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared, config.stream = shape.stream;
  config.attrs = attributes;
  if (shape.cooperative) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  if (blocks > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    auto& cluster = attributes[config.numAttrs++].val.clusterDim;
    cluster.x = shape.cluster.x, cluster.y = shape.cluster.y, cluster.z = shape.cluster.z;
  }
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

inline cudaError_t full_grid(unsigned* blocks, const void* kernel, unsigned threads,
                             std::size_t shared) {
  int device = 0, multiprocessors = 0, each = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = allow_shared(kernel, shared);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, int(threads), shared);
  if (error == cudaSuccess) *blocks = unsigned(multiprocessors) * unsigned(each);
  return error;
}

}  // namespace impl
}  // namespace inflight
