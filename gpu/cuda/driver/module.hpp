// Modules and libraries loaded through the driver API. They share one table of handles.
#pragma once
#include <memory>

#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/core/modules/module.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

Handles<LoadedModule>& modules();

// Runs `body` with the module; invalid_handle if there is none.
template <class Body>
Status with_module(Handle handle, Body&& body) {
  auto module = modules().find(handle);
  return module ? body(*module) : Status::invalid_handle;
}

// Parses and links at once, so that an image's errors are reported where it is loaded, and stores
// the handle.
Status keep(Handle* to, Result<std::shared_ptr<LoadedModule>> module);
// The same for a module, which belongs to the current context. A library belongs to no context.
Status keep_here(Handle* to, Result<std::shared_ptr<LoadedModule>> module);
Status unload(Handle handle);

Status store_symbol(DevicePointer* address, std::size_t* bytes, LoadedModule& module,
                    const char* name, bool managed_only);

}  // namespace inflight::cuda::driver
