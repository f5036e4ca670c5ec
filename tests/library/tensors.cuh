// Helpers of the tensor copies' tests: tensors on the host, and the expected result of copies.
#pragma once
#include <array>
#include <functional>
#include <inflight/copy.cuh>
#include <inflight/tensor_copy.cuh>

#include "tests/kernels/kernel_test.cuh"

struct At {
  int value[5];
};

// A tensor on the host: extents and strides in elements. Dimension 0 first.
struct Shape {
  int rank;
  std::array<int, 5> extent{1, 1, 1, 1, 1};
  std::array<long, 5> stride{1, 0, 0, 0, 0};  // elements

  Shape(std::vector<int> extents, int padding = 0) : rank(int(extents.size())) {
    for (int i = 0; i < rank; ++i) extent[i] = extents[i];
    for (int i = 1; i < rank; ++i)
      stride[i] = stride[i - 1] * extent[i - 1] + (i == 1 ? padding : 0);
  }
  std::size_t size() const { return std::size_t(stride[rank - 1]) * extent[rank - 1]; }
  bool inside(const std::array<long, 5>& at) const {
    for (int i = 0; i < rank; ++i)
      if (at[i] < 0 || at[i] >= extent[i]) return false;
    return true;
  }
  long index(const std::array<long, 5>& at) const {
    long sum = 0;
    for (int i = 0; i < rank; ++i) sum += at[i] * stride[i];
    return sum;
  }
  inflight::tensor_dims extents() const { return dims(extent, rank, 1); }
  inflight::tensor_map_options options(int bytes) const {
    inflight::tensor_map_options o;
    std::array<int, 5> strides{};
    for (int i = 1; i < rank; ++i) strides[i - 1] = int(stride[i]) * bytes;
    o.strides = dims(strides, rank - 1, 1);
    return o;
  }
  static inflight::tensor_dims dims(const std::array<int, 5>& values, int count, int rest) {
    inflight::tensor_dims d(rest, rest, rest, rest, rest);
    for (int i = 0; i < count; ++i) d.value[i] = values[i];
    d.count = count;
    return d;
  }
};

// Calls f(position in the box, coordinates) for the elements of a box, dimension 0 fastest.
inline void each_of_box(int rank, const std::array<int, 5>& box, const std::array<int, 5>& step,
                        const At& at, const std::function<void(long, std::array<long, 5>)>& f) {
  std::array<int, 5> i{};
  for (long n = 0;; ++n) {
    std::array<long, 5> where{};
    for (int d = 0; d < rank; ++d) where[d] = at.value[d] + long(i[d]) * step[d];
    f(n, where);
    int d = 0;
    while (d < rank && ++i[d] >= (box[d] + step[d] - 1) / step[d]) i[d++] = 0;
    if (d == rank) return;
  }
}

template <class Map>
const Map& good(const inflight::tensor_map_result<Map>& map) {
  if (!map) {
    std::printf("%s\n", map.error().message().c_str());
    std::exit(3);
  }
  return *map;
}

inline void verdict(const char* what, bool right) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
}

template <class T>
std::vector<T> numbered(std::size_t count, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = T(random.next32() >> 8);
  return values;
}

// A policy for the functions that take one.
__device__ inline std::uint64_t evict_first() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
