// Launches of kernels whose blocks wait for one another: cooperative grids, clusters, and grids as
// large as the chip holds. Host code. Every function returns the runtime's error, or cudaSuccess.
//
// Arguments are converted to the types of the kernel's parameters, as in a call; an argument that
// does not convert does not compile. The launch sets the attributes that the runtime requires for
// dynamic shared memory above 48 KiB and for clusters above 8 blocks.
#pragma once
#include <cuda_runtime.h>

#include <inflight/impl/launch_arguments.cuh>

namespace inflight {

// How a kernel is launched.
struct launch_shape {
  dim3 grid = {1, 1, 1};          // blocks
  dim3 block = {1, 1, 1};         // threads of each
  std::size_t shared = 0;         // bytes of dynamic shared memory a block
  cudaStream_t stream = nullptr;  // the current device's
  dim3 cluster = {1, 1, 1};       // blocks of a cluster; must divide `grid`. Above 1: sm_90
  bool cooperative = false;       // all blocks are resident at once, else the launch fails
};

// Launches kernel(arguments...). Returns cudaErrorCooperativeLaunchTooLarge if a cooperative grid
// does not fit the chip. CUDA Runtime API, "cudaLaunchKernelExC".
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), const launch_shape& shape,
                          Arguments&&... arguments) {
  impl::launch_arguments<Parameters...> values(std::forward<Arguments>(arguments)...);
  return impl::launch(reinterpret_cast<const void*>(kernel), shape, values.pointers());
}

// Number of blocks of `threads` threads that the current device runs at once: multiprocessors times
// occupancy. It is the largest grid of a cooperative launch.
template <class... Parameters>
cudaError_t full_grid(unsigned* blocks, void (*kernel)(Parameters...), unsigned threads,
                      std::size_t shared = 0) {
  return impl::full_grid(blocks, reinterpret_cast<const void*>(kernel), threads, shared);
}

// In place of a grid: the number of blocks that full_grid gives.
struct whole_device_t {};
inline constexpr whole_device_t whole_device{};

// A cooperative launch: this_grid().sync() and grid_barrier work in it.
template <class... Parameters, class... Arguments>
cudaError_t launch_cooperative(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                               std::size_t shared, cudaStream_t stream, Arguments&&... arguments) {
  launch_shape shape;
  shape.grid = grid, shape.block = block, shape.shared = shared, shape.stream = stream;
  shape.cooperative = true;
  return launch_kernel(kernel, shape, std::forward<Arguments>(arguments)...);
}

// The same with a grid as large as the current device holds.
template <class... Parameters, class... Arguments>
cudaError_t launch_cooperative(void (*kernel)(Parameters...), whole_device_t, dim3 block,
                               std::size_t shared, cudaStream_t stream, Arguments&&... arguments) {
  unsigned blocks = 0;
  const cudaError_t error = full_grid(&blocks, kernel, block.x * block.y * block.z, shared);
  if (error != cudaSuccess) return error;
  return launch_cooperative(kernel, dim3(blocks), block, shared, stream,
                            std::forward<Arguments>(arguments)...);
}

// A launch in clusters of `cluster` blocks: this_cluster() works in it. `grid` counts blocks.
template <class... Parameters, class... Arguments>
cudaError_t launch_cluster(void (*kernel)(Parameters...), dim3 cluster, dim3 grid, dim3 block,
                           std::size_t shared, cudaStream_t stream, Arguments&&... arguments) {
  launch_shape shape;
  shape.grid = grid, shape.block = block, shape.shared = shared, shape.stream = stream;
  shape.cluster = cluster;
  return launch_kernel(kernel, shape, std::forward<Arguments>(arguments)...);
}

}  // namespace inflight
