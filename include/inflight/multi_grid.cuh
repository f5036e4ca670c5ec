// The grids of several GPUs of one host as a group: one cooperative launch on each GPU, and a
// barrier through flags in peer memory. It replaces the multi-device launch that CUDA 13 removed.
//
//   inflight::multi_grid_state state;                 // once: peer access and flags
//   state.init({0, 1});
//   inflight::launch_multi_grid(state, kernel, grid, block, shared, nullptr,
//                               inflight::multi_grid_handle{}, inflight::per_grid(pointers), n);
//
//   __global__ void kernel(inflight::multi_grid_handle handle, float* mine, int n) {
//     auto all = inflight::this_multi_grid(handle);
//     all.sync();
//   }
//
// The kernel may also take no handle and call this_multi_grid() without one; see that function.
#pragma once
#include <inflight/grid_group.cuh>
#include <inflight/impl/multi_grid_flags.cuh>
#include <inflight/impl/multi_grid_launch.cuh>
#include <inflight/launch.cuh>
#include <vector>

namespace inflight {

// Where a kernel finds the flags of the other grids. A launch fills it in; a default-constructed
// one is empty.
struct multi_grid_handle {
  impl::multi_grid_flags* flags[impl::most_grids] = {};  // of each grid, in its GPU's memory
  impl::multi_grid_flags* own = nullptr;
  unsigned rank = 0;
  unsigned count = 0;
};

static_assert(sizeof(multi_grid_handle) == sizeof impl::current_multi_grid,
              "the variable holds one handle");

// All threads of all grids of one launch_multi_grid. Ranks are in the order of the grids.
class multi_grid_group {
 public:
  // Whether launch_multi_grid launched the kernel, so that it may call sync().
  INFLIGHT_DEVICE bool is_valid() const { return handle_.count != 0; }

  // Every thread of every grid waits for all. What each wrote before, anywhere, is visible to all
  // after. The last block of a grid to arrive (atom.acq_rel.gpu) notifies each GPU with one fence
  // and an st.relaxed.sys into its memory. Each block polls its own GPU's flags with
  // ld.acquire.sys, one thread a flag. PTX ISA, "Memory Consistency Model: Causality Order".
  INFLIGHT_DEVICE void sync() const {
    impl::multi_grid_sync(handle_.flags, handle_.own, handle_.rank, handle_.count);
  }

  INFLIGHT_DEVICE unsigned long long num_threads() const {
    return grid_group::num_threads() * handle_.count;
  }
  INFLIGHT_DEVICE unsigned long long size() const { return num_threads(); }
  INFLIGHT_DEVICE unsigned long long thread_rank() const {
    return grid_group::num_threads() * handle_.rank + grid_group::thread_rank();
  }
  INFLIGHT_DEVICE unsigned grid_rank() const { return handle_.rank; }
  INFLIGHT_DEVICE unsigned num_grids() const { return handle_.count; }

  INFLIGHT_DEVICE explicit multi_grid_group(const multi_grid_handle& handle) : handle_(handle) {}

 private:
  multi_grid_handle handle_;
};

INFLIGHT_DEVICE multi_grid_group this_multi_grid(const multi_grid_handle& handle) {
  return multi_grid_group(handle);
}

// The same without a handle, for programs written for CUDA 12. launch_multi_grid stores the handle
// in a variable of each GPU, one for each translation unit. So the kernel and its launch must be in
// one source file, and concurrent launches from one file must use one multi_grid_state. Without
// such a launch, is_valid() is false.
static INFLIGHT_DEVICE multi_grid_group this_multi_grid() {
  return multi_grid_group(*reinterpret_cast<const multi_grid_handle*>(impl::current_multi_grid));
}

// The GPUs that take part, with peer access among them and a few hundred bytes of flags on each.
// Host object. Reused by any number of launches, one after the other; after a launch that was
// aborted, call init() again. Every function leaves the current device unchanged.
class multi_grid_state {
 public:
  multi_grid_state() = default;
  multi_grid_state(const multi_grid_state&) = delete;
  multi_grid_state& operator=(const multi_grid_state&) = delete;
  ~multi_grid_state() { release(); }

  // Takes one to eight different GPUs, each able to access the others' memory. Otherwise returns
  // cudaErrorPeerAccessUnsupported or the runtime's error.
  cudaError_t init(const std::vector<int>& devices) {
    release();
    if (devices.empty() || devices.size() > impl::most_grids) return cudaErrorInvalidValue;
    impl::device_guard guard;
    for (int device : devices) {
      cudaError_t error = impl::enable_peer_access(device, devices);
      impl::multi_grid_flags* flags = nullptr;
      if (error == cudaSuccess) error = cudaMalloc(&flags, sizeof *flags);
      if (error == cudaSuccess) handle_.flags[handle_.count++] = flags;
      if (error == cudaSuccess) error = cudaMemset(flags, 0, sizeof *flags);
      if (error == cudaSuccess) error = cudaDeviceSynchronize();
      if (error != cudaSuccess) return release(), error;
      devices_.push_back(device);
    }
    return cudaSuccess;
  }

  // The first `count` GPUs, or all GPUs if `count` is 0.
  cudaError_t init_first(int count = 0) {
    if (count == 0) {
      const cudaError_t error = cudaGetDeviceCount(&count);
      if (error != cudaSuccess) return error;
    }
    std::vector<int> devices;
    for (int device = 0; device < count; ++device) devices.push_back(device);
    return init(devices);
  }

  // Frees the flags; no launch may be running.
  void release() {
    for (unsigned i = 0; i < handle_.count; ++i) cudaFree(handle_.flags[i]);
    handle_ = {}, devices_.clear();
  }

  const std::vector<int>& devices() const { return devices_; }
  multi_grid_handle handle(unsigned rank) const {
    multi_grid_handle handle = handle_;
    handle.rank = rank, handle.own = handle_.flags[rank];
    return handle;
  }

 private:
  multi_grid_handle handle_;
  std::vector<int> devices_;
};

// A kernel argument that differs between grids: grid r of the launch gets values[r].
template <class T>
struct per_grid_values {
  const T* values;
};
template <class T>
per_grid_values<T> per_grid(const std::vector<T>& values) {
  return {values.data()};
}
template <class T>
per_grid_values<T> per_grid(const T* values) {
  return {values};
}

// Launches the kernel once on each GPU of `state`, cooperatively, without waiting. It uses
// streams[rank] (of that GPU), or each GPU's default stream if `streams` is null. All grids have
// one shape and the same arguments, except per_grid(...) and a multi_grid_handle, in whose place
// each grid gets its own. Occupancy is checked for all GPUs before the first launch, because a grid
// whose peers fail to start waits for ever.
template <class... Parameters, class... Arguments>
static cudaError_t launch_multi_grid(const multi_grid_state& state, void (*kernel)(Parameters...),
                                     dim3 grid, dim3 block, std::size_t shared,
                                     const cudaStream_t* streams, const Arguments&... arguments) {
  impl::device_guard guard;
  const unsigned threads = block.x * block.y * block.z;
  unsigned most = 0;
  cudaError_t error = impl::smallest_full_grid(&most, state.devices(), kernel, threads, shared);
  if (error == cudaSuccess && std::uint64_t{grid.x} * grid.y * grid.z > most)
    error = cudaErrorCooperativeLaunchTooLarge;
  constexpr bool by_handle = (std::is_same_v<std::decay_t<Parameters>, multi_grid_handle> || ...);
  const auto on_each = [&](auto action) {
    for (unsigned rank = 0; error == cudaSuccess && rank < state.devices().size(); ++rank) {
      error = cudaSetDevice(state.devices()[rank]);
      if (error == cudaSuccess)
        error = action(rank, state.handle(rank), streams ? streams[rank] : nullptr);
    }
  };
  // Anything that may block comes before the first launch, whose grid waits for the others.
  if (!by_handle)
    on_each([&](unsigned, const multi_grid_handle& handle, cudaStream_t stream) {
      return cudaMemcpyToSymbolAsync(impl::current_multi_grid, &handle, sizeof handle, 0,
                                     cudaMemcpyHostToDevice, stream);
    });
  on_each([&](unsigned rank, const multi_grid_handle& handle, cudaStream_t stream) {
    return launch_cooperative(kernel, grid, block, shared, stream,
                              impl::of_grid(arguments, handle, rank)...);
  });
  return error;
}

// The same with the largest grid that every one of the GPUs can hold.
template <class... Parameters, class... Arguments>
static cudaError_t launch_multi_grid(const multi_grid_state& state, void (*kernel)(Parameters...),
                                     whole_device_t, dim3 block, std::size_t shared,
                                     const cudaStream_t* streams, const Arguments&... arguments) {
  impl::device_guard guard;
  unsigned most = 0;
  const cudaError_t error =
      impl::smallest_full_grid(&most, state.devices(), kernel, block.x * block.y * block.z, shared);
  if (error != cudaSuccess) return error;
  return launch_multi_grid(state, kernel, dim3(most), block, shared, streams, arguments...);
}

}  // namespace inflight
