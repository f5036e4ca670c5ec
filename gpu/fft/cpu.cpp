// Finds the CPU's FFTW and its functions.
#include "gpu/fft/cpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::fft::cpu {
namespace {

template <class Real>
constexpr bool is_double = std::is_same_v<Real, double>;
// The prefix of FFTW's names for a type.
template <class Real>
constexpr const char* prefix = is_double<Real> ? "fftw" : "fftwf";

// FFTW has a library for each type, MKL one for both.
template <class Real>
std::vector<std::string> names() {
  const std::string& chosen = cuda::settings().fft;
  if (chosen.empty())
    return {is_double<Real> ? "libfftw3.so.3" : "libfftw3f.so.3", "libmkl_rt.so.2"};
  const std::size_t colon = chosen.find(':');
  if (colon == chosen.npos) return {chosen};
  return {chosen.substr(0, colon), chosen.substr(colon + 1)};
}

std::string path_of(void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

template <class Function>
void set(Function& function, void* handle, const char* prefix, const char* name) {
  function = reinterpret_cast<Function>(dlsym(handle, fmt::format("{}_{}", prefix, name).c_str()));
}

template <class Real>
std::optional<Functions<Real>> functions_in(const std::string& name) {
  // The dynamic loader would wait for a FIFO.
  std::error_code error;
  if (name.find('/') != name.npos && !std::filesystem::is_regular_file(name, error))
    return std::nullopt;
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return std::nullopt;
  Functions<Real> found;
  const auto take = [&](auto& function, const char* each) {
    set(function, handle, prefix<Real>, each);
    return function != nullptr;
  };
  take(found.alignment, "alignment_of");
  const bool all =
      take(found.plan, "plan_guru64_dft") && take(found.plan_forward, "plan_guru64_dft_r2c") &&
      take(found.plan_inverse, "plan_guru64_dft_c2r") && take(found.execute, "execute_dft") &&
      take(found.execute_forward, "execute_dft_r2c") &&
      take(found.execute_inverse, "execute_dft_c2r") && take(found.destroy, "destroy_plan");
  if (!all) return std::nullopt;
  cuda::report_once(
      "FFT is the CPU's",
      fmt::format(
          "cuFFT transforms are computed by {}: their rounding is that library's, not a GPU's.",
          path_of(reinterpret_cast<void*>(found.plan))));
  return found;
}

template <class Real>
std::optional<Functions<Real>> open() {
  for (const std::string& name : names<Real>())
    if (auto found = functions_in<Real>(name)) return found;
  const std::string& chosen = cuda::settings().fft;
  if (chosen.empty())
    cuda::report_once(
        "FFT",
        "cuFFT calls need FFTW on the CPU, and it was not found: install it (Debian: apt-get "
        "install libfftw3-double3 libfftw3-single3), or set INFLIGHT_FFT to its path.");
  else
    cuda::report_once(
        "FFT", fmt::format("INFLIGHT_FFT is '{}', which is no shared library, or two with a colon "
                           "between them, with FFTW's interface (no {}_plan_guru64_dft): cuFFT "
                           "calls that need it fail.",
                           chosen, prefix<Real>));
  return std::nullopt;
}

}  // namespace

template <class Real>
const Functions<Real>* functions() {
  static const auto one = open<Real>();
  return one ? &*one : nullptr;
}
template const Functions<float>* functions();
template const Functions<double>* functions();

std::mutex& planner() {
  static auto& one = *new std::mutex;
  return one;
}

}  // namespace inflight::fft::cpu
