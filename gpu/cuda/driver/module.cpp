// Driver API: modules.
#include "gpu/cuda/driver/module.hpp"

#include "gpu/cuda/driver/options.hpp"

namespace inflight::cuda::driver {

Handles<LoadedModule>& modules() {
  static auto* handles = new Handles<LoadedModule>;
  return *handles;
}

Context* of_module(Handle handle) {
  auto module = modules().find(handle);
  return module && module->context ? module->context : of_any();
}

// The context of a function's module.
Context* of_function(Handle handle) {
  auto function = Core::get().functions.find(handle);
  return function ? of_module(const_cast<void*>(function->module)) : of_any();
}

Status keep(Handle* to, Result<std::shared_ptr<LoadedModule>> module) {
  if (!to) return Status::invalid_value;
  if (!module) return report(module);
  auto program = (*module)->on(current_device().ordinal);
  if (!program) return report(program);
  *to = modules().add(std::move(*module));
  return Status::success;
}

Status keep_here(Handle* to, Result<std::shared_ptr<LoadedModule>> module) {
  if (module) (*module)->context = current_context();
  return keep(to, std::move(module));
}

Status unload(Handle handle) {
  auto module = modules().remove(handle);
  if (!module) return Status::invalid_handle;
  cuda::unload(*module);
  return Status::success;
}

Status store_symbol(DevicePointer* address, std::size_t* bytes, LoadedModule& module,
                    const char* name, bool managed_only) {
  if (!name || (!address && !bytes)) return Status::invalid_value;
  auto symbol = module.symbol(name, current_device().ordinal);
  if (!symbol) return report(symbol);
  if (managed_only && !symbol->managed) return Status::not_found;
  if (address) *address = symbol->address;
  if (bytes) *bytes = symbol->size;
  return Status::success;
}

namespace {

constexpr int loads_lazily = 2;

Status load(Handle* to, const void* image, const JitOptions& options) {
  if (!to || !image) return Status::invalid_value;
  auto module = LoadedModule::from_memory(image);
  if (!module) return report(module);
  auto program = (*module)->on(current_device().ordinal);
  write_logs(options, program ? std::string_view{} : program.error().message);
  if (!program) return report(program);
  return keep_here(to, std::move(module));
}

}  // namespace

INFLIGHT_CU(cuModuleLoad, (Handle * module, const char* path), {
  return path ? keep_here(module, LoadedModule::from_file(path)) : Status::invalid_value;
})
INFLIGHT_CU(cuModuleLoadData, (Handle * module, const void* image),
            { return load(module, image, {}); })
INFLIGHT_CU(cuModuleLoadDataEx,
            (Handle * module, const void* image, unsigned count, int* options, void** values), {
              return load(module, image, {count, options, values});
            })
INFLIGHT_CU(cuModuleLoadFatBinary, (Handle * module, const void* image),
            { return load(module, image, {}); })
INFLIGHT_CU_AT(of_module(module), cuModuleUnload, (Handle module), { return unload(module); })
INFLIGHT_CU_INIT(cuModuleGetLoadingMode, (int* mode), { return store_value(mode, loads_lazily); })
INFLIGHT_CU_AT(of_module(module), cuModuleGetFunction,
               (Handle * function, Handle module, const char* name), {
                 return with_module(module,
                                    [&](LoadedModule& m) { return get_kernel(function, m, name); });
               })
INFLIGHT_CU_AT(of_module(module), cuModuleGetFunctionCount, (unsigned* count, Handle module), {
  return with_module(module, [&](LoadedModule& m) { return get_kernel_count(count, m); });
})
INFLIGHT_CU_AT(of_module(module), cuModuleEnumerateFunctions,
               (Handle * functions, unsigned count, Handle module), {
                 return with_module(
                     module, [&](LoadedModule& m) { return get_kernels(functions, count, m); });
               })
INFLIGHT_CU_AT(of_module(module), cuModuleGetGlobal_v2,
               (DevicePointer * address, std::size_t* bytes, Handle module, const char* name), {
                 return with_module(module, [&](LoadedModule& m) {
                   return store_symbol(address, bytes, m, name, false);
                 });
               })

}  // namespace inflight::cuda::driver
