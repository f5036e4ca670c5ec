// transform and for_each_tile: types of all sizes, ends that do not fill a vector, addresses of any
// alignment, in place, two inputs, tiles of any size.
#include <algorithm>
#include <inflight/transform.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

struct Triple {
  template <class T>
  __host__ __device__ T operator()(T v) const {
    return static_cast<T>(v * 3 + 1);
  }
};
struct Sum {
  template <class A, class B>
  __host__ __device__ A operator()(A a, B b) const {
    return static_cast<A>(a + b);
  }
};
struct Rgb {
  unsigned char r, g, b;
  __host__ __device__ bool operator==(const Rgb& o) const {
    return r == o.r && g == o.g && b == o.b;
  }
};
struct Turn {
  __host__ __device__ Rgb operator()(Rgb v) const { return {v.b, v.r, v.g}; }
};

template <class T>
T value(std::size_t i) {
  return static_cast<T>(i * 37 % 251);
}
template <>
Rgb value<Rgb>(std::size_t i) {
  return {static_cast<unsigned char>(i), static_cast<unsigned char>(i * 3),
          static_cast<unsigned char>(i * 7)};
}

template <class T, class Operation>
void check(const char* name, Operation operation) {
  int wrong = 0, tried = 0;
  for (std::size_t n : {0, 1, 7, 255, 1024, 4097, 100003})
    for (std::size_t offset : {0, 1, 3}) {
      std::vector<T> source(n + 4);
      for (std::size_t i = 0; i < n + 4; ++i) source[i] = value<T>(i);
      const auto kept = source;
      Buffer<T> in(source), out(n + 4);
      CHECK(inflight::transform(out + offset, in + offset, n, operation));
      out.read();
      for (std::size_t i = 0; i < n; ++i)
        wrong += !(out.host[offset + i] == operation(kept[offset + i]));
      CHECK(inflight::transform(in + offset, in + offset, n, operation));
      in.read();
      for (std::size_t i = 0; i < n + 4; ++i)
        wrong += !(in.host[i] == (i >= offset && i < offset + n ? operation(kept[i]) : kept[i]));
      ++tried;
    }
  std::printf("transform %s: %d wrong in %d sizes and places\n", name, wrong, tried);
}

void check_two_inputs() {
  const std::size_t n = 10007;
  std::vector<float> a(n);
  std::vector<unsigned short> b(n);
  for (std::size_t i = 0; i < n; ++i) a[i] = float(i), b[i] = static_cast<unsigned short>(i * 5);
  const auto first = a;
  const auto second = b;
  Buffer<float> left(a), out(n);
  Buffer<unsigned short> right(b);
  CHECK(inflight::transform(out.device, left.device, right.device, n, Sum{}));
  out.read();
  int wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += out.host[i] != first[i] + float(second[i]);
  std::printf("two inputs of other sizes: %d wrong\n", wrong);
}

// Reverses each tile, so that every thread reads another thread's copy.
template <class T>
struct Reverse {
  T* out;
  __device__ void operator()(const T* tile, std::size_t first, int count) const {
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[first + i] = tile[count - 1 - i];
  }
};

template <int Tile, class T>
void check_tiles(const char* name) {
  int wrong = 0, tried = 0;
  for (std::size_t n : {0, 1, 100, 1024, 5000, 40961})
    for (std::size_t offset : {0, 1, 4}) {
      std::vector<T> source(n + 4);
      for (std::size_t i = 0; i < n + 4; ++i) source[i] = value<T>(i);
      const auto kept = source;
      Buffer<T> in(source), out(n + 4);
      constexpr int tile = Tile ? Tile : inflight::tile_elements<T>;
      if constexpr (Tile == 0)
        CHECK(inflight::for_each_tile(in + offset, n, Reverse<T>{out}));
      else
        CHECK(inflight::for_each_tile<Tile>(in + offset, n, Reverse<T>{out}));
      out.read();
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t first = i / tile * tile, count = std::min<std::size_t>(tile, n - first);
        wrong += !(out.host[i] == kept[offset + first + count - 1 - (i - first)]);
      }
      ++tried;
    }
  std::printf("tiles of %s: %d wrong in %d sizes and places\n", name, wrong, tried);
}

}  // namespace

int main() {
  check<unsigned char>("unsigned char", Triple{});
  check<short>("short", Triple{});
  check<int>("int", Triple{});
  check<float>("float", Triple{});
  check<double>("double", Triple{});
  check<long long>("long long", Triple{});
  check<Rgb>("3 bytes", Turn{});
  check_two_inputs();
  check_tiles<0, int>("int");
  check_tiles<0, unsigned char>("unsigned char");
  check_tiles<0, double>("double");
  check_tiles<0, Rgb>("3 bytes");
  check_tiles<1000, int>("1,000 int");
  check_tiles<7, short>("7 short");
}
