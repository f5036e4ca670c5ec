// The library's version, and what only one of its releases has.
#include "gpu/fft/call.hpp"

using namespace inflight::fft;

namespace {

// That of the last library with this number in its file's name whose header was read: 12.0.0 of
// CUDA 13.0 and 11.4.1 of CUDA 12.9.
constexpr int version[] = {INFLIGHT_MAJOR, INFLIGHT_MAJOR == 11 ? 4 : 0,
                           INFLIGHT_MAJOR == 11 ? 1 : 0};

}  // namespace

INFLIGHT_CUFFT int cufftGetVersion(int* place) {
  if (place) *place = version[0] * 1000 + version[1] * 100 + version[2];
  return int(Result::success);
}
INFLIGHT_CUFFT int cufftGetProperty(int which, int* value) {
  constexpr int parts = 3;
  if (which < 0 || which >= parts) return int(Result::invalid_type);
  return int(store(value, version[which]));
}
