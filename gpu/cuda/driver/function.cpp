// Driver API: what functions are and need, and occupancy.
#include <algorithm>

#include "gpu/cuda/core/profiles.hpp"
#include "gpu/cuda/driver/runtime.hpp"

namespace inflight::cuda::driver {
namespace {

template <class Body>
Status with_function(Handle handle, Body&& body) {
  auto function = Core::get().functions.find(handle);
  return function ? body(*function) : Status::invalid_handle;
}

// CUfunction_attribute, by its numbers from 0.
Status store_attribute(int* value, int attribute, Handle function) {
  abi::FunctionAttributes a;
  if (!value) return Status::invalid_value;
  Status status = runtime(cudaFuncGetAttributes(&a, function));
  if (status != Status::success) return status;
  const int values[] = {
      a.max_threads,        int(a.shared_bytes), int(a.constant_bytes),  int(a.local_bytes),
      a.registers,          a.ptx_version,       a.binary_version,       a.cache_mode_ca,
      a.max_dynamic_shared, a.carveout,          a.cluster_must_be_set,  a.cluster_width,
      a.cluster_height,     a.cluster_depth,     a.non_portable_cluster, a.cluster_policy};
  if (attribute < 0 || attribute >= int(std::size(values))) return Status::invalid_value;
  *value = values[attribute];
  return Status::success;
}

Status store_parameter(Handle handle, std::size_t index, std::size_t* offset, std::size_t* size) {
  return with_function(handle, [&](Function& function) {
    auto kernel = function.on(current_device().ordinal);
    if (!kernel) return tell(kernel);
    if (!offset || index >= (*kernel)->parameters.size()) return Status::invalid_value;
    *offset = (*kernel)->parameters[index].offset;
    if (size) *size = (*kernel)->parameters[index].size;
    return Status::success;
  });
}

Status store_name(const char** name, Handle handle) {
  return with_function(handle, [&](Function& f) { return store_value(name, f.name.c_str()); });
}

Status store_module(Handle* module, Handle handle) {
  return with_function(handle, [&](Function& f) {
    return store_value(module, Handle(const_cast<void*>(f.module)));
  });
}

Status blocks(int* to, Handle function, int threads, std::size_t shared, unsigned flags = 0) {
  return runtime(
      cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function, threads, shared, flags));
}

using SharedOfBlock = std::size_t (*)(int threads);

struct Potential {
  int blocks = 0, threads = 0;
  bool better_than(const Potential& other) const {
    return std::int64_t{blocks} * threads > std::int64_t{other.blocks} * other.threads;
  }
};

// The block size that keeps most threads resident: every multiple of a warp is tried, the largest
// first, so that of equals the largest wins.
Status best_block(int* grid, int* block, Handle function, SharedOfBlock shared_of,
                  std::size_t shared, int limit, unsigned flags) {
  if (!grid || !block) return Status::invalid_value;
  int most = 0;
  Status status = store_attribute(&most, 0, function);
  if (status != Status::success) return status;
  if (limit > 0) most = std::min(most, limit);
  Potential best;
  for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
    Potential each{0, threads};
    status =
        blocks(&each.blocks, function, threads, shared_of ? shared_of(threads) : shared, flags);
    if (status != Status::success) return status;
    if (each.better_than(best)) best = each;
  }
  *block = best.threads;
  *grid = best.blocks * current_device().profile[Attribute::multiprocessors];
  return Status::success;
}

}  // namespace

INFLIGHT_CU_AT(of_function(function), cuFuncGetAttribute,
               (int* value, int attribute, Handle function),
               { return store_attribute(value, attribute, function); })
INFLIGHT_CU_AT(of_function(function), cuFuncSetAttribute,
               (Handle function, int attribute, int value),
               { return runtime(cudaFuncSetAttribute(function, attribute, value)); })
INFLIGHT_CU_AT(of_function(function), cuFuncSetCacheConfig, (Handle function, int config),
               { return runtime(cudaFuncSetCacheConfig(function, config)); })
INFLIGHT_CU_AT(of_function(function), cuFuncSetSharedMemConfig, (Handle function, int config), {
  return with_function(function, [&](Function&) {
    return config < 0 || config > 2 ? Status::invalid_value : Status::success;
  });
})
INFLIGHT_CU_AT(of_function(function), cuFuncGetModule, (Handle * module, Handle function),
               { return store_module(module, function); })
INFLIGHT_CU_AT(of_function(function), cuFuncGetName, (const char** name, Handle function),
               { return store_name(name, function); })
INFLIGHT_CU_AT(of_function(function), cuFuncGetParamInfo,
               (Handle function, std::size_t index, std::size_t* offset, std::size_t* size),
               { return store_parameter(function, index, offset, size); })
INFLIGHT_CU_AT(of_function(function), cuFuncIsLoaded, (int* state, Handle function), {
  return with_function(function, [&](Function&) { return store_value(state, 1); });
})
INFLIGHT_CU_AT(of_function(function), cuFuncLoad, (Handle function), {
  return with_function(function, [](Function& f) { return tell(f.on(current_device().ordinal)); });
})

// A kernel and its function are one object: it serves every device.
INFLIGHT_CU(cuKernelGetFunction, (Handle * function, Handle kernel), {
  return with_function(kernel, [&](Function&) { return store_value(function, kernel); });
})
INFLIGHT_CU_AT(of_function(kernel), cuKernelGetLibrary, (Handle * library, Handle kernel),
               { return store_module(library, kernel); })
INFLIGHT_CU_AT(of_function(kernel), cuKernelGetName, (const char** name, Handle kernel),
               { return store_name(name, kernel); })
INFLIGHT_CU_AT(of_function(kernel), cuKernelGetParamInfo,
               (Handle kernel, std::size_t index, std::size_t* offset, std::size_t* size),
               { return store_parameter(kernel, index, offset, size); })
INFLIGHT_CU_INIT(cuKernelGetAttribute, (int* value, int attribute, Handle kernel, int device), {
  if (!device_at(device)) return Status::invalid_device;
  StandIn current(&Core::get().primary(device));
  return store_attribute(value, attribute, kernel);
})
INFLIGHT_CU_INIT(cuKernelSetAttribute, (int attribute, int value, Handle kernel, int device), {
  if (!device_at(device)) return Status::invalid_device;
  StandIn current(&Core::get().primary(device));
  return runtime(cudaFuncSetAttribute(kernel, attribute, value));
})
INFLIGHT_CU_INIT(cuKernelSetCacheConfig, (Handle kernel, int config, int device), {
  if (!device_at(device)) return Status::invalid_device;
  StandIn current(&Core::get().primary(device));
  return runtime(cudaFuncSetCacheConfig(kernel, config));
})

// --- occupancy ---

INFLIGHT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor,
            (int* count, Handle function, int threads, std::size_t shared),
            { return blocks(count, function, threads, shared); })
INFLIGHT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int* count, Handle function, int threads, std::size_t shared, unsigned flags),
            { return blocks(count, function, threads, shared, flags); })
INFLIGHT_CU(cuOccupancyMaxPotentialBlockSize,
            (int* grid, int* block, Handle function, SharedOfBlock shared_of, std::size_t shared,
             int limit),
            { return best_block(grid, block, function, shared_of, shared, limit, 0); })
INFLIGHT_CU(cuOccupancyMaxPotentialBlockSizeWithFlags,
            (int* grid, int* block, Handle function, SharedOfBlock shared_of, std::size_t shared,
             int limit, unsigned flags),
            { return best_block(grid, block, function, shared_of, shared, limit, flags); })
INFLIGHT_CU(cuOccupancyAvailableDynamicSMemPerBlock,
            (std::size_t * shared, Handle function, int count, int threads), {
              return runtime(
                  cudaOccupancyAvailableDynamicSMemPerBlock(shared, function, count, threads));
            })

}  // namespace inflight::cuda::driver
