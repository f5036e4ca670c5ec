// Work of a library that replaces one of NVIDIA's (gpu/blas, gpu/fft). The host does it in stream
// order, on memory that the device may access.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>

#include "gpu/bytes/range.hpp"

namespace inflight::cuda {

class Stream;

// Memory that a call reads or writes: `rows` rows of `bytes` bytes, `pitch` bytes apart. If a size
// is not exact, no memory holds the region.
struct Region {
  const void* address = nullptr;
  Checked bytes = 0;
  std::uint64_t rows = 1;
  Checked pitch = 0;
  bool written = false;

  bool empty() const { return rows == 0 || bytes.within(0); }
  // From the first byte to the last one.
  Checked span() const {
    return bytes.exact() ? ByteBox{bytes.value_or(0), rows, 1, pitch}.span() : bytes;
  }
};

// More bytes than any memory holds, and more regions than a list of them may have. What needs more
// is described as one region, so that a call's sizes alone cannot fill the host's memory.
inline constexpr std::uint64_t most_region_bytes = 1ull << 42, most_regions = 1ull << 20;

// Access checks that the work of a call makes before it touches memory.
class Touch {
 public:
  Touch(std::string_view call, Stream& stream) : call_(call), stream_(stream) {}
  // Reports the regions to listeners. False if the device may not access one of them. The device's
  // context is then dead, and the work must end.
  bool operator()(std::span<const Region> regions) const;
  bool operator()(std::initializer_list<Region> regions) const {
    return (*this)(std::span(regions.begin(), regions.size()));
  }
  // Kills the device's context, as a kernel that fails does.
  void fail(std::string_view sentence) const;

 private:
  bool allowed(const Region& region) const;
  std::string_view call_;
  Stream& stream_;
};

struct LibraryWork {
  std::string_view call;  // the entry point's name, a static string
  std::function<void(const Touch&)> body;
};

}  // namespace inflight::cuda
