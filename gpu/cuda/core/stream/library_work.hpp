// Work of a library that stands in for one of NVIDIA's (gpu/blas): the host does it, in stream
// order, on memory that the device may access.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>

namespace inflight::cuda {

class Stream;

// `rows` rows of `bytes` bytes, `pitch` bytes apart, that a call reads or writes.
struct Region {
  const void* address = nullptr;
  std::uint64_t bytes = 0, rows = 1, pitch = 0;
  bool written = false;
};

// What a call asks while its work is done, before it touches the memory itself.
class Touch {
 public:
  Touch(std::string_view call, Stream& stream) : call_(call), stream_(stream) {}
  // Reports to listeners the regions. False if the device may not access one: that has killed its
  // context, and the work ends.
  bool operator()(std::span<const Region> regions) const;
  bool operator()(std::initializer_list<Region> regions) const {
    return (*this)(std::span(regions.begin(), regions.size()));
  }
  // Ends the work as a kernel that failed would end.
  void fail(std::string_view sentence) const;

 private:
  bool allowed(const Region& region) const;
  std::string_view call_;
  Stream& stream_;
};

struct LibraryWork {
  std::string_view call;  // the entry point's name: static
  std::function<void(const Touch&)> body;
};

}  // namespace inflight::cuda
