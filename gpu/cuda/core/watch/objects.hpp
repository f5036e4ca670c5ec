// The executable and the libraries of the process.
#pragma once
#include <link.h>

#include <string_view>

namespace inflight::cuda::watch {

// Calls f(const dl_phdr_info&) for each object.
template <class F>
void each_object(F f) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        (*static_cast<F*>(to))(*info);
        return 0;
      },
      &f);
}

// True if the path names a library of this project.
inline bool is_own(std::string_view path) {
  if (const std::size_t slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  constexpr std::string_view own[] = {"libinflight", "libcudart.so",    "libcuda.so", "libcublas",
                                      "libcufft.so", "libnvidia-ml.so", "libcupti.so"};
  for (std::string_view each : own)
    if (path.starts_with(each)) return true;
  return false;
}

// True if the path names a library that sends memory for programs: MPI and what it sends with. It
// may read device memory itself, or have another process or the system do so.
inline bool is_transport(std::string_view path) {
  if (const std::size_t slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  constexpr std::string_view prefixes[] = {"libmpi", "libucp", "libuct", "libfabric", "libpsm2"};
  for (std::string_view each : prefixes)
    if (path.starts_with(each)) return true;
  return false;
}

}  // namespace inflight::cuda::watch
