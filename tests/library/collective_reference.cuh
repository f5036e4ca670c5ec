// Helpers of the collectives' tests: values, references on the host, and one output line for each
// case.
#pragma once
#include <cuda_fp16.h>

#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
#include <inflight/scan.cuh>

#include "tests/kernels/kernel_test.cuh"

// Values of any type: small numbers where sums must be exact in any order, all bits otherwise.
template <class T>
T make_value(Random& random) {
  if constexpr (std::is_integral_v<T>)
    return T(random.next());
  else
    return T(float(int(random.next32() % 64) - 32));
}

// 16 bytes with an operator, like a float4.
struct Vector {
  float x, y, z, w;
};
__host__ __device__ inline Vector operator+(const Vector& a, const Vector& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
template <>
inline Vector make_value(Random& random) {
  return {make_value<float>(random), make_value<float>(random), make_value<float>(random),
          make_value<float>(random)};
}

// 32 bytes whose product is associative but does not commute.
struct Matrix {
  unsigned long long a, b, c, d;
};
struct Product {
  __host__ __device__ Matrix operator()(const Matrix& l, const Matrix& r) const {
    return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c,
            l.c * r.b + l.d * r.d};
  }
};
template <>
inline Matrix make_value(Random& random) {
  return {random.next(), random.next(), random.next(), random.next()};
}

// Index of the greatest value; of equal ones the first, which only an operator in rank order finds.
struct Place {
  short key;
  int at;
  int more;
};
struct First {
  __host__ __device__ Place operator()(const Place& a, const Place& b) const {
    return b.key > a.key ? b : a;
  }
};
template <>
inline Place make_value(Random& random) {
  return {short(random.next32() % 3), int(random.next32() % 1000), 7};
}

// Three bytes: a partial word.
struct Pixel {
  unsigned char r, g, b;
};
struct Brightest {
  __host__ __device__ Pixel operator()(const Pixel& a, const Pixel& b) const {
    return {a.r < b.r ? b.r : a.r, a.g < b.g ? b.g : a.g, a.b < b.b ? b.b : a.b};
  }
};
template <>
inline Pixel make_value(Random& random) {
  const unsigned bits = random.next32();
  return {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16)};
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Place>)
    return a.key == b.key && a.at == b.at && a.more == b.more;
  else if constexpr (std::is_same_v<T, __half>)
    return __half2float(a) == __half2float(b);
  else
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The values of some ranks, and the expected result of each collective.
template <class T, class Op>
struct Expected {
  T reduction;
  std::vector<T> inclusive, exclusive;
  Expected(const std::vector<T>& values, Op op) {
    T sum = values[0];
    exclusive.push_back(T{});
    inclusive.push_back(sum);
    for (std::size_t i = 1; i < values.size(); ++i) {
      exclusive.push_back(sum);
      sum = op(sum, values[i]);
      inclusive.push_back(sum);
    }
    reduction = sum;
  }
};

// The three results of one thread.
template <class T>
struct Results {
  T reduction, inclusive, exclusive;
};

template <class Group, class T, class Op>
__device__ Results<T> all_three(const Group& group, const T& value, Op op) {
  Results<T> r;
  r.reduction = inflight::reduce(group, value, op);
  r.inclusive = inflight::inclusive_scan(group, value, op);
  r.exclusive = inflight::exclusive_scan(group, value, op);
  return r;
}

// Compares the results of `threads`, in rank order, and counts wrong ones.
template <class T, class Op>
int wrong(const std::vector<T>& values, const std::vector<Results<T>>& got,
          const std::vector<unsigned>& threads, Op op, std::size_t base = 0) {
  std::vector<T> mine;
  for (unsigned t : threads) mine.push_back(values[t]);
  const Expected<T, Op> want(mine, op);
  int errors = 0;
  for (std::size_t r = 0; r < threads.size(); ++r) {
    const Results<T>& g = got[base + threads[r]];
    errors += !same(g.reduction, want.reduction) + !same(g.inclusive, want.inclusive[r]) +
              !same(g.exclusive, want.exclusive[r]);
  }
  return errors;
}

inline std::vector<unsigned> ranks(unsigned first, unsigned count) {
  std::vector<unsigned> list;
  for (unsigned i = 0; i < count; ++i) list.push_back(first + i);
  return list;
}

inline void say(const char* what, const char* group, int errors) {
  if (errors == 0)
    std::printf("%s, %s: right\n", what, group);
  else
    std::printf("%s, %s: %d wrong\n", what, group, errors);
}

template <class T>
std::vector<T> make_values(std::size_t count, int seed) {
  Random random(seed);
  for (int i = 0; i < 8; ++i) random.next();
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(make_value<T>(random));
  return values;
}
