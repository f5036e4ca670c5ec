// Driver API: functions, kernels, their attributes, and occupancy.
#include <algorithm>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

template <class Body>
Status with_function(Handle handle, Body&& body) {
  auto function = Core::get().functions.find(handle);
  return function ? body(*function) : Status::invalid_handle;
}

// Runs `body` with the device's primary context current.
template <class Body>
Status on_device(int ordinal, Body&& body) {
  if (!device_at(ordinal)) return Status::invalid_device;
  ScopedContext current(&Core::get().primary(ordinal));
  const Status fault = current_device().fault();
  return fault == Status::success ? body() : fault;
}

// CUfunction_attribute, by its numbers from 0.
Status store_attribute(int* value, int attribute, Handle function) {
  abi::FunctionAttributes a;
  if (!value) return Status::invalid_value;
  Status status = get_attributes(&a, function);
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
  return with_function(handle,
                       [&](Function&) { return get_parameter(handle, index, offset, size); });
}

Status store_name(const char** name, Handle handle) {
  return with_function(handle, [&](Function& f) { return store_value(name, f.name.c_str()); });
}

Status store_module(Handle* module, Handle handle) {
  return with_function(handle, [&](Function& f) {
    return store_value(module, Handle(const_cast<void*>(f.module)));
  });
}

using SharedOfBlock = std::size_t (*)(int threads);

struct Potential {
  int blocks = 0, threads = 0;
  bool better_than(const Potential& other) const {
    return std::int64_t{blocks} * threads > std::int64_t{other.blocks} * other.threads;
  }
};

// The block size with the most resident threads. Tries every multiple of a warp, the largest first,
// so that the largest of equal ones wins.
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
    status = get_resident_blocks(&each.blocks, function, threads,
                                 shared_of ? shared_of(threads) : shared, flags);
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
               { return set_attribute(function, attribute, value); })
INFLIGHT_CU_AT(of_function(function), cuFuncSetCacheConfig, (Handle function, int config),
               { return set_cache_config(function, config); })
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
  return with_function(function,
                       [](Function& f) { return report(f.on(current_device().ordinal)); });
})

// A kernel and its function are one object, for all devices.
INFLIGHT_CU(cuKernelGetFunction, (Handle * function, Handle kernel), {
  return with_function(kernel, [&](Function&) { return store_value(function, kernel); });
})
INFLIGHT_CU_AT(of_function(kernel), cuKernelGetLibrary, (Handle * library, Handle kernel),
               { return store_module(library, kernel); })
INFLIGHT_CU_AT(of_function(kernel), cuKernelGetName, (const char** name, Handle kernel),
               { return store_name(name, kernel); })
INFLIGHT_CU_INIT(cuKernelGetParamInfo,
                 (Handle kernel, std::size_t index, std::size_t* offset, std::size_t* size), {
                   if (!offset) return Status::invalid_value;
                   return in_context([]() -> Context* { return nullptr; },
                                     [&] { return store_parameter(kernel, index, offset, size); });
                 })
INFLIGHT_CU_INIT(cuKernelGetAttribute, (int* value, int attribute, Handle kernel, int device), {
  return on_device(device, [&] { return store_attribute(value, attribute, kernel); });
})
INFLIGHT_CU_INIT(cuKernelSetAttribute, (int attribute, int value, Handle kernel, int device), {
  return on_device(device, [&] { return set_attribute(kernel, attribute, value); });
})
INFLIGHT_CU_INIT(cuKernelSetCacheConfig, (Handle kernel, int config, int device),
                 { return on_device(device, [&] { return set_cache_config(kernel, config); }); })

// --- occupancy ---

INFLIGHT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor,
            (int* count, Handle function, int threads, std::size_t shared),
            { return get_resident_blocks(count, function, threads, shared, 0); })
INFLIGHT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int* count, Handle function, int threads, std::size_t shared, unsigned flags),
            { return get_resident_blocks(count, function, threads, shared, flags); })
INFLIGHT_CU(cuOccupancyMaxPotentialBlockSize,
            (int* grid, int* block, Handle function, SharedOfBlock shared_of, std::size_t shared,
             int limit),
            { return best_block(grid, block, function, shared_of, shared, limit, 0); })
INFLIGHT_CU(cuOccupancyMaxPotentialBlockSizeWithFlags,
            (int* grid, int* block, Handle function, SharedOfBlock shared_of, std::size_t shared,
             int limit, unsigned flags),
            { return best_block(grid, block, function, shared_of, shared, limit, flags); })
INFLIGHT_CU(cuOccupancyAvailableDynamicSMemPerBlock,
            (std::size_t * shared, Handle function, int count, int threads),
            { return get_available_shared(shared, function, count, threads); })

}  // namespace inflight::cuda::driver
