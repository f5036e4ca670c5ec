// Driver API: libraries and kernels, which need no context.
#include "gpu/cuda/driver/module.hpp"
#include "gpu/cuda/driver/options.hpp"

namespace inflight::cuda::driver {

INFLIGHT_CU_INIT(cuLibraryLoadData,
                 (Handle * library, const void* image, int* options, void** values, unsigned count,
                  int*, void**, unsigned),
                 {
                   if (!image) return Status::invalid_value;
                   auto module = LoadedModule::from_memory(image);
                   write_logs({count, options, values}, module ? "" : module.error().message);
                   return keep(library, std::move(module));
                 })
INFLIGHT_CU_INIT(cuLibraryLoadFromFile,
                 (Handle * library, const char* path, int*, void**, unsigned, int*, void**,
                  unsigned),
                 {
                   if (!path) return Status::invalid_value;
                   return keep(library, LoadedModule::from_file(path));
                 })
INFLIGHT_CU_INIT(cuLibraryUnload, (Handle library), { return unload(library); })
INFLIGHT_CU_INIT(cuLibraryGetKernel, (Handle * kernel, Handle library, const char* name), {
  return with_module(library, [&](LoadedModule& m) { return get_kernel(kernel, m, name); });
})
INFLIGHT_CU_INIT(cuLibraryGetKernelCount, (unsigned* count, Handle library), {
  return with_module(library, [&](LoadedModule& m) { return get_kernel_count(count, m); });
})
INFLIGHT_CU_INIT(cuLibraryEnumerateKernels, (Handle * kernels, unsigned count, Handle library), {
  return with_module(library, [&](LoadedModule& m) { return get_kernels(kernels, count, m); });
})
INFLIGHT_CU(cuLibraryGetModule, (Handle * module, Handle library), {
  return with_module(library, [&](LoadedModule&) { return store_value(module, library); });
})
INFLIGHT_CU(cuLibraryGetGlobal,
            (DevicePointer * address, std::size_t* bytes, Handle library, const char* name), {
              return with_module(library, [&](LoadedModule& m) {
                return store_symbol(address, bytes, m, name, false);
              });
            })
INFLIGHT_CU_AT(of_module(library), cuLibraryGetManaged,
               (DevicePointer * address, std::size_t* bytes, Handle library, const char* name), {
                 return with_module(library, [&](LoadedModule& m) {
                   return store_symbol(address, bytes, m, name, true);
                 });
               })
// No device has unified function pointers, which the host could call too.
INFLIGHT_CU_AT(of_module(library), cuLibraryGetUnifiedFunction,
               (void** place, Handle library, const char* name), {
                 return with_module(library, [&](LoadedModule&) {
                   return place && name ? Status::not_found : Status::invalid_value;
                 });
               })

}  // namespace inflight::cuda::driver
