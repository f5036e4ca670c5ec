// Loads and stores of a warp's lanes: the pattern of their addresses, and the loops that move
// bytes. Included only by files compiled for each instruction set, like lanes.hpp.
#pragma once
#ifdef __AVX512F__
#  include <immintrin.h>
#endif
#include <type_traits>

#include "gpu/machine/families/interleave.hpp"
#include "gpu/machine/families/lanes.hpp"

namespace inflight::machine::INFLIGHT_ISA {

constexpr int half = lanes / 2;
constexpr std::uint32_t half_mask = 0xffff;

// The pattern of a whole warp's addresses, determined for each half, so that tiles 16 lanes wide
// are as fast as whole rows.
enum class Shape {
  contiguous,  // in each half, each lane's bytes follow those of the lane before
  uniform,     // in each half, all lanes have one address
  scattered,
};

#ifdef __AVX512F__
// Whether an address differs from its half's first one plus `bytes` for each lane between. To
// compare into mask registers takes fewer instructions than to fold vectors.
template <unsigned bytes, class A>
[[gnu::always_inline]] inline bool differs(const A* a) {
  struct alignas(64) Steps {
    A at[half];
    constexpr Steps() : at{} {
      for (unsigned l = 0; l < half; ++l) at[l] = static_cast<A>(l * bytes);
    }
  };
  static constexpr Steps steps;
  unsigned found = 0;
  for (int first = 0; first < lanes; first += half)
    for (int l = 0; l < half; l += static_cast<int>(sizeof(__m512i) / sizeof(A))) {
      const __m512i is = _mm512_loadu_si512(a + first + l);
      const __m512i step = _mm512_load_si512(steps.at + l);
      if constexpr (sizeof(A) == 8) {
        const __m512i base = _mm512_set1_epi64(static_cast<long long>(a[first]));
        found |= _mm512_cmpneq_epi64_mask(is, _mm512_add_epi64(base, step));
      } else {
        const __m512i base = _mm512_set1_epi32(static_cast<int>(a[first]));
        found |= _mm512_cmpneq_epi32_mask(is, _mm512_add_epi32(base, step));
      }
    }
  return found != 0;
}

template <unsigned bytes, class A>
[[gnu::always_inline]] inline Shape shape(const A* a) {
  if (!differs<bytes>(a)) return Shape::contiguous;
  return differs<0>(a) ? Shape::scattered : Shape::uniform;
}
#else
template <unsigned bytes, class A>
[[gnu::always_inline]] inline Shape shape(const A* a) {
  A spread = 0, skew = 0;
  for (int l = 0; l < half; ++l) {
    const A x = a[l] - a[0], y = a[half + l] - a[half], step = static_cast<A>(l * bytes);
    spread |= x | y;
    skew |= (x ^ step) | (y ^ step);
  }
  return skew == 0 ? Shape::contiguous : spread == 0 ? Shape::uniform : Shape::scattered;
}
#endif

// The range of a[lane] + imm for the lanes of `mask`, which is not empty.
template <class A>
struct Reach {
  A low, high;  // the lowest and the highest address
  A bits;       // all address bits that are set in any lane, to check alignment
};
template <class A>
inline Reach<A> reach(const A* a, A imm, std::uint32_t mask) {
  const A any = a[__builtin_ctz(mask)] + imm;
  A low = any, high = any, bits = 0;
  for (int l = 0; l < lanes; ++l) {
    const A address = (mask >> l) & 1 ? static_cast<A>(a[l] + imm) : any;
    low = address < low ? address : low;
    high = address > high ? address : high;
    bits |= address;
  }
  return {low, high, bits};
}

// --- places: each loads or stores element i of lane l of half h ---

template <class M>
M load_bytes(const char* p) {
  M value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}
template <class M>
void store_bytes(char* p, M value) {
  __builtin_memcpy(p, &value, sizeof value);
}

// Copies the bytes of whole half-warps in vectors.
template <unsigned bytes>
[[gnu::always_inline]] inline void copy_bytes(char* to, const char* from) {
  constexpr unsigned step = bytes % 64 == 0 ? 64 : bytes % 32 == 0 ? 32 : 16;
  typedef char Vector [[gnu::vector_size(step), gnu::aligned(1), gnu::may_alias]];
  for (unsigned i = 0; i < bytes; i += step)
    *reinterpret_cast<Vector*>(to + i) = *reinterpret_cast<const Vector*>(from + i);
}

template <class A>
struct Scattered {
  std::uintptr_t origin;
  const A* a;
  A imm;
  char* at(int h, int l) const {
    return reinterpret_cast<char*>(origin + static_cast<A>(a[half * h + l] + imm));
  }
  template <class M>
  M load(int h, int l, int i) const {
    return load_bytes<M>(at(h, l) + i * sizeof(M));
  }
  template <class M>
  void store(int h, int l, int i, M v) const {
    store_bytes<M>(at(h, l) + i * sizeof(M), v);
  }
};

template <class M, int N>
struct Uniform {
  M value[2][N];
  template <class>
  M load(int h, int, int i) const {
    return value[h][i];
  }
};

template <class M>
M load_interleaved(const std::uint32_t* word, int lane) {
  if constexpr (sizeof(M) <= 4) {
    return load_bytes<M>(reinterpret_cast<const char*>(word + lane));
  } else if constexpr (sizeof(M) == 8) {
    return word[lane] | M{word[lanes + lane]} << 32;
  } else {
    return load_interleaved<std::uint64_t>(word, lane) |
           M{load_interleaved<std::uint64_t>(word + 2 * lanes, lane)} << 64;
  }
}
template <class M>
void store_interleaved(std::uint32_t* word, int lane, M v) {
  if constexpr (sizeof(M) <= 4) {
    store_bytes<M>(reinterpret_cast<char*>(word + lane), v);
  } else if constexpr (sizeof(M) == 8) {
    word[lane] = static_cast<std::uint32_t>(v);
    word[lanes + lane] = static_cast<std::uint32_t>(v >> 32);
  } else {
    store_interleaved<std::uint64_t>(word, lane, static_cast<std::uint64_t>(v));
    store_interleaved<std::uint64_t>(word + 2 * lanes, lane, static_cast<std::uint64_t>(v >> 64));
  }
}

// Local memory with all lanes at the same offset. A row holds one 32-bit word of each lane.
struct LocalRow {
  std::uint32_t* words;
  std::uint32_t offset;
  std::uint32_t* at(std::uint32_t byte) const {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(words + byte / 4 * lanes) +
                                            byte % 4);
  }
  template <class M>
  M load(int h, int l, int i) const {
    return load_interleaved<M>(at(offset + i * sizeof(M)), half * h + l);
  }
  template <class M>
  void store(int h, int l, int i, M v) const {
    store_interleaved<M>(at(offset + i * sizeof(M)), half * h + l, v);
  }
};

// Local memory with each lane at its own offset.
struct LocalScattered {
  std::uint32_t* words;
  const std::uint32_t* a;
  std::uint32_t imm;
  template <class M>
  M load(int h, int l, int i) const {
    return LocalRow{words, a[half * h + l] + imm}.load<M>(h, l, i);
  }
  template <class M>
  void store(int h, int l, int i, M v) const {
    LocalRow{words, a[half * h + l] + imm}.store<M>(h, l, i, v);
  }
};

// --- accesses: N elements of type M in memory, in registers of type R ---

inline Ref element(const Warp& w, const Op* op, int i) {
  return i == 0   ? op->d
         : i == 1 ? op->b
         : i == 2 ? op->c
                  : w.frame->code->extra.data()[op->extra + static_cast<unsigned>(i) - 3];
}

template <unsigned size>
struct UnsignedOf;
template <>
struct UnsignedOf<1> : std::type_identity<std::uint8_t> {};
template <>
struct UnsignedOf<2> : std::type_identity<std::uint16_t> {};
template <>
struct UnsignedOf<4> : std::type_identity<std::uint32_t> {};
template <>
struct UnsignedOf<8> : std::type_identity<std::uint64_t> {};
template <>
struct UnsignedOf<16> : std::type_identity<unsigned __int128> {};

template <class M, class R, int N>
struct Load {
  using Plain = Load;
  using U = typename UnsignedOf<sizeof(M)>::type;
  static constexpr unsigned bytes = sizeof(M) * N;
  static constexpr int count = N;
  static constexpr bool writes = false;

  // Sign-extends if M is signed, else zero-extends.
  static R extend(U v) { return static_cast<R>(static_cast<M>(v)); }

  template <class Place>
  [[gnu::always_inline]] static void run(Warp& w, const Op* op, std::uint32_t mask, Place place) {
    R* out[N];
    for (int i = 0; i < N; ++i) out[i] = w.at<R>(element(w, op, i));
    for (int h = 0; h < 2; ++h) {
      std::uint32_t m = (mask >> (half * h)) & half_mask;
      if (m == half_mask) {
#pragma GCC ivdep
        for (int l = 0; l < half; ++l) lane(out, place, h, l);
      } else {
        for (; m; m &= m - 1) lane(out, place, h, __builtin_ctz(m));
      }
    }
  }
  // A result may share the address's register, so all elements are read before any is written.
  template <class Place>
  [[gnu::always_inline]] static void lane(R* const (&out)[N], const Place& place, int h, int l) {
    R values[N];
    for (int i = 0; i < N; ++i) values[i] = get(place, h, l, i);
    for (int i = 0; i < N; ++i) out[i][half * h + l] = values[i];
  }
  // Lane 0 of the halves is at p0 and p1, and the other lanes follow without gaps.
  [[gnu::always_inline]] static void contiguous(Warp& w, const Op* op, const char* p0,
                                                const char* p1) {
    half_contiguous(w, op, p0, 0);
    half_contiguous(w, op, p1, half);
  }
  [[gnu::always_inline]] static void half_contiguous(Warp& w, const Op* op, const char* p,
                                                     int first) {
    if constexpr (N == 1 && sizeof(M) == sizeof(R)) {
      copy_bytes<half * bytes>(reinterpret_cast<char*>(w.at<R>(op->d) + first), p);
    } else if constexpr (sizeof(M) == sizeof(R)) {
      U* to[N];
      for (int i = 0; i < N; ++i) to[i] = w.at<R>(element(w, op, i)) + first;
      split<U, N>(p, to);
    } else {
      U all[N][half];
      U* to[N];
      for (int i = 0; i < N; ++i) to[i] = all[i];
      split<U, N>(p, to);
      for (int i = 0; i < N; ++i) {
        R* out = w.at<R>(element(w, op, i)) + first;
#pragma GCC unroll 1
        for (int l = 0; l < half; ++l) out[l] = extend(all[i][l]);
      }
    }
  }
  template <class Place>
  static R get(const Place& place, int h, int l, int i) {
    return extend(place.template load<U>(h, l, i));
  }
  static void uniform(Warp& w, const Op* op, std::uint32_t mask, char* p0, char* p1) {
    Uniform<U, N> u;
    for (int i = 0; i < N; ++i) {
      u.value[0][i] = mask & half_mask ? load_bytes<U>(p0 + i * sizeof(U)) : U{};
      u.value[1][i] = mask >> half ? load_bytes<U>(p1 + i * sizeof(U)) : U{};
    }
    run(w, op, mask, u);
  }
};

template <class M, class R, int N>
struct Store {
  using Plain = Store;
  static constexpr unsigned bytes = sizeof(M) * N;
  static constexpr int count = N;
  static constexpr bool writes = true;

  template <class Place>
  [[gnu::always_inline]] static void run(Warp& w, const Op* op, std::uint32_t mask, Place place) {
    const R* in[N];
    for (int i = 0; i < N; ++i) in[i] = w.at<R>(element(w, op, i));
    for (int h = 0; h < 2; ++h) {
      std::uint32_t m = (mask >> (half * h)) & half_mask;
      if (m == half_mask) {
#pragma GCC ivdep
        for (int l = 0; l < half; ++l)
          for (int i = 0; i < N; ++i)
            place.template store<M>(h, l, i, static_cast<M>(in[i][half * h + l]));
      } else {
        for (; m; m &= m - 1)
          for (int i = 0, l = __builtin_ctz(m); i < N; ++i)
            place.template store<M>(h, l, i, static_cast<M>(in[i][half * h + l]));
      }
    }
  }
  [[gnu::always_inline]] static void contiguous(Warp& w, const Op* op, char* p0, char* p1) {
    half_contiguous(w, op, p0, 0);
    half_contiguous(w, op, p1, half);
  }
  [[gnu::always_inline]] static void half_contiguous(Warp& w, const Op* op, char* p, int first) {
    if constexpr (N == 1 && sizeof(M) == sizeof(R)) {
      copy_bytes<half * bytes>(p, reinterpret_cast<const char*>(w.at<R>(op->d) + first));
    } else if constexpr (sizeof(M) == sizeof(R)) {
      const M* from[N];
      for (int i = 0; i < N; ++i) from[i] = w.at<R>(element(w, op, i)) + first;
      join<M, N>(from, p);
    } else {
      M all[N][half];
      const M* from[N];
      for (int i = 0; i < N; ++i) {
        const R* in = w.at<R>(element(w, op, i)) + first;
#pragma GCC unroll 1
        for (int l = 0; l < half; ++l) all[i][l] = static_cast<M>(in[l]);
        from[i] = all[i];
      }
      join<M, N>(from, p);
    }
  }
  // All lanes of a half have one address. The highest lane's value remains, as if each lane stored
  // in turn.
  static void uniform(Warp& w, const Op* op, std::uint32_t mask, char* p0, char* p1) {
    const auto last = [&](std::uint32_t m, char* p, int from) {
      if (!m) return;
      const int l = from + 31 - __builtin_clz(m);
      for (int i = 0; i < N; ++i)
        store_bytes<M>(p + i * sizeof(M), static_cast<M>(w.at<R>(element(w, op, i))[l]));
    };
    last(mask & half_mask, p0, 0);
    last(mask >> half, p1, half);
  }
};

// --- strong accesses of vectors ---

// Another device or process may access the same bytes, and a program may use the last element of a
// vector, or of a warp's adjacent vectors, as a flag that the others are written. So elements are
// written from the first to the last, and read from the last to the first.

// Half h's lanes start at p[h], `step` bytes apart.
struct Line {
  char* p[2];
  unsigned step;
  char* at(int h, int l) const { return p[h] + static_cast<unsigned>(l) * step; }
};

template <class M, class R, int N>
struct StrongLoad : Load<M, R, N> {
  using Plain = Load<M, R, N>;
  using U = typename Plain::U;

  template <class Place>
  static void run(Warp& w, const Op* op, std::uint32_t mask, Place place) {
    // A result may share the address's register.
    R values[N][lanes];
    for (int l = lanes - 1; l >= 0; --l) {
      if (!(mask >> l & 1)) continue;
      const U* const from = reinterpret_cast<const U*>(place.at(l / half, l % half));
      for (int i = N - 1; i >= 0; --i)
        values[i][l] = Plain::extend(__atomic_load_n(from + i, __ATOMIC_ACQUIRE));
    }
    for (int i = 0; i < N; ++i) {
      R* const out = w.at<R>(element(w, op, i));
      for (int l = 0; l < lanes; ++l)
        if (mask >> l & 1) out[l] = values[i][l];
    }
  }
  static void contiguous(Warp& w, const Op* op, char* p0, char* p1) {
    run(w, op, all_lanes, Line{{p0, p1}, Plain::bytes});
  }
  static void uniform(Warp& w, const Op* op, std::uint32_t mask, char* p0, char* p1) {
    run(w, op, mask, Line{{p0, p1}, 0});
  }
};

template <class M, class R, int N>
struct StrongStore : Store<M, R, N> {
  using Plain = Store<M, R, N>;

  template <class Place>
  static void run(Warp& w, const Op* op, std::uint32_t mask, Place place) {
    for (std::uint32_t m = mask; m; m &= m - 1) {
      const int l = __builtin_ctz(m);
      M* const to = reinterpret_cast<M*>(place.at(l / half, l % half));
      for (int i = 0; i < N; ++i)
        __atomic_store_n(to + i, static_cast<M>(w.at<R>(element(w, op, i))[l]), __ATOMIC_RELEASE);
    }
  }
  static void contiguous(Warp& w, const Op* op, char* p0, char* p1) {
    run(w, op, all_lanes, Line{{p0, p1}, Plain::bytes});
  }
  static void uniform(Warp& w, const Op* op, std::uint32_t mask, char* p0, char* p1) {
    run(w, op, mask, Line{{p0, p1}, 0});
  }
};

}  // namespace inflight::machine::INFLIGHT_ISA
