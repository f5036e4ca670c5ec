// Stubs for exported names without an implementation. They report that and return 801.
#pragma once

namespace inflight::cuda {

// Reports once per process that `name` is not supported. Returns the code of "not supported" (801).
int refuse_call(const char* name);

struct ExportedCall {
  const char* name;
  void* address;
};
// Every exported name of the driver library, sorted by name (generated; see stubs.cmake).
extern const ExportedCall driver_calls[];
extern const unsigned driver_calls_count;

}  // namespace inflight::cuda

// Weak, so that an entry point defined elsewhere in the library replaces it.
#define INFLIGHT_STUB(name)                                            \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    return inflight::cuda::refuse_call(#name);                         \
  }
#define INFLIGHT_EXPORT(name) \
  { #name, reinterpret_cast < void*>(&name) }
