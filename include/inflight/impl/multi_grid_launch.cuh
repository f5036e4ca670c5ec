// Implementation of launch_multi_grid: each grid's arguments, and the checks before the launches.
#pragma once
#include <cuda_runtime.h>

#include <inflight/launch.cuh>
#include <vector>

namespace inflight {
struct multi_grid_handle;
template <class T>
struct per_grid_values;

namespace impl {

// Restores the current device.
class device_guard {
 public:
  device_guard() { cudaGetDevice(&device_); }
  ~device_guard() { cudaSetDevice(device_); }
  device_guard(const device_guard&) = delete;

 private:
  int device_ = 0;
};

// Makes `device` current and enables its access to the memory of the others.
inline cudaError_t enable_peer_access(int device, const std::vector<int>& devices) {
  cudaError_t error = cudaSetDevice(device);
  for (int peer : devices) {
    if (error != cudaSuccess || peer == device) continue;
    int can = 0;
    error = cudaDeviceCanAccessPeer(&can, device, peer);
    if (error == cudaSuccess && !can) error = cudaErrorPeerAccessUnsupported;
    if (error == cudaSuccess) error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
      error = cudaSuccess;
    }
  }
  return error;
}

// The number of blocks that every one of the devices can hold at once. Changes the current device.
template <class... Parameters>
cudaError_t smallest_full_grid(unsigned* blocks, const std::vector<int>& devices,
                               void (*kernel)(Parameters...), unsigned threads,
                               std::size_t shared) {
  cudaError_t error = devices.empty() ? cudaErrorInvalidValue : cudaSuccess;
  *blocks = ~0u;
  for (int device : devices) {
    unsigned most = 0;
    if (error == cudaSuccess) error = cudaSetDevice(device);
    if (error == cudaSuccess) error = inflight::full_grid(&most, kernel, threads, shared);
    if (most < *blocks) *blocks = most;
  }
  return error;
}

// The value that grid `rank` gets for an argument of the launch.
template <class T>
const T& of_grid(const T& value, const multi_grid_handle&, unsigned) {
  return value;
}
template <class T>
const T& of_grid(const per_grid_values<T>& values, const multi_grid_handle&, unsigned rank) {
  return values.values[rank];
}
inline const multi_grid_handle& of_grid(const multi_grid_handle&, const multi_grid_handle& handle,
                                        unsigned) {
  return handle;
}

}  // namespace impl
}  // namespace inflight
