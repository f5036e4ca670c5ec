// The library's version.
#include "gpu/curand/call.hpp"

using namespace inflight::curand;

namespace {

// That of the last library whose header was read: cuRAND 10.4.0 of CUDA 13.0.
constexpr int version[] = {10, 4, 0};

}  // namespace

INFLIGHT_CURAND int curandGetVersion(int* place) {
  if (!place) return int(Result::out_of_range);
  *place = version[0] * 1000 + version[1] * 100 + version[2];
  return int(Result::success);
}
INFLIGHT_CURAND int curandGetProperty(int which, int* value) {
  constexpr int parts = 3;
  if (which < 0 || which >= parts || !value) return int(Result::out_of_range);
  *value = version[which];
  return int(Result::success);
}
