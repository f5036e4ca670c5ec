// The definition of every unsupported name: it reports that the call is not supported and returns
// CUFFT_NOT_IMPLEMENTED.
#include <algorithm>
#include <string_view>

#include "gpu/fft/call.hpp"

namespace inflight::fft {
namespace {

// Why names with a word in them are refused.
struct Reason {
  std::string_view word, text;
};
constexpr Reason reasons[] = {
    {"Callback", "the CPU computes transforms, and cannot call device functions"},
    {"", "use another call, or run this part on a GPU"},
};

int refused(std::string_view name) {
  return answer(name.data(), [&] {
    const auto found = std::ranges::find_if(
        reasons, [&](const Reason& each) { return name.find(each.word) != name.npos; });
    return refuse(name.data(), found->text);
  });
}

}  // namespace
}  // namespace inflight::fft

// Weak, so that any other definition in the library replaces it.
#define INFLIGHT_FFT_REFUSED(name)                                     \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    return inflight::fft::refused(#name);                              \
  }
#include INFLIGHT_FFT_NAMES
#if INFLIGHT_MAJOR == 11
// What the header of CUDA 12.8 and later makes of cufftXtSetJITCallback.
INFLIGHT_FFT_REFUSED(__cufftXtSetJITCallback_12_7)
#endif
