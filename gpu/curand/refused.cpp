// The definition of every unsupported name: it reports that the call is not supported and returns
// CURAND_STATUS_ARCH_MISMATCH.
#include "gpu/curand/call.hpp"

namespace inflight::curand {
namespace {

int refused(const char* name) {
  return answer(name, [&] { return refuse(name, "use another call, or run this part on a GPU"); });
}

}  // namespace
}  // namespace inflight::curand

// Weak, so that any other definition in the library replaces it.
#define INFLIGHT_CURAND_REFUSED(name)                                  \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    return inflight::curand::refused(#name);                           \
  }
#include INFLIGHT_CURAND_NAMES
