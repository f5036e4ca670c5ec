// The kernels of transform and for_each_tile, and their launches.
#pragma once
#include <inflight/copy.cuh>
#include <inflight/impl/strided_copy.cuh>

namespace inflight::impl {

// Count values of T, moved by one instruction if an instruction has their size and alignment.
template <class T, int Count>
struct alignas(sizeof(T) * Count) pack {
  T value[Count];
};

// The register type of `Bytes` bytes, with loads and stores for data used once: .cs, evict first.
// They are __ldcs and __stcs, which Clang does not have.
template <int Bytes>
struct word;
#define INFLIGHT_WORD(BYTES, TYPE, REGISTER, SUFFIX, TEXT, ADDRESS, OUT, IN)              \
  template <>                                                                             \
  struct word<BYTES> {                                                                    \
    using type = TYPE;                                                                    \
    INFLIGHT_DEVICE static type load_once(const type* from) {                             \
      REGISTER v;                                                                         \
      asm volatile("ld.global.cs." SUFFIX " " TEXT ", [" ADDRESS "];" : OUT : "l"(from)); \
      return static_cast<type>(v);                                                        \
    }                                                                                     \
    INFLIGHT_DEVICE static void store_once(type* to, const type& value) {                 \
      const REGISTER v = value;                                                           \
      asm("st.global.cs." SUFFIX " [" ADDRESS "], " TEXT ";" ::IN, "l"(to) : "memory");   \
    }                                                                                     \
  };
#define INFLIGHT_LIST(...) __VA_ARGS__
INFLIGHT_WORD(16, uint4, uint4, "v4.u32", "{%0, %1, %2, %3}", "%4",
              INFLIGHT_LIST("=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)),
              INFLIGHT_LIST("r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)))
INFLIGHT_WORD(8, uint2, uint2, "v2.u32", "{%0, %1}", "%2", INFLIGHT_LIST("=r"(v.x), "=r"(v.y)),
              INFLIGHT_LIST("r"(v.x), "r"(v.y)))
INFLIGHT_WORD(4, unsigned, unsigned, "u32", "%0", "%1", "=r"(v), "r"(v))
INFLIGHT_WORD(2, unsigned short, unsigned short, "u16", "%0", "%1", "=h"(v), "h"(v))
INFLIGHT_WORD(1, unsigned char, unsigned, "u8", "%0", "%1", "=r"(v), "r"(v))
#undef INFLIGHT_LIST
#undef INFLIGHT_WORD

// Loads and stores a pack as one word of its size.
template <class Pack>
INFLIGHT_DEVICE Pack load_once(const Pack* from) {
  using Word = word<sizeof(Pack)>;
  const auto bits = Word::load_once(reinterpret_cast<const typename Word::type*>(from));
  Pack value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
template <class Pack>
INFLIGHT_DEVICE void store_once(Pack* to, const Pack& value) {
  using Word = word<sizeof(Pack)>;
  typename Word::type bits;
  memcpy(&bits, &value, sizeof bits);
  Word::store_once(reinterpret_cast<typename Word::type*>(to), bits);
}

inline constexpr int stream_threads = 256;

template <int Count, class Operation, class Out, class... In>
__global__ void __launch_bounds__(stream_threads)
    stream_vectors(std::size_t n, Operation operation, Out* out, const In*... in) {
  const std::size_t i = std::size_t{blockIdx.x} * stream_threads + threadIdx.x;
  const std::size_t first = i * Count;
  if (first + Count <= n) {
    pack<Out, Count> result;
    auto each = [&](const pack<In, Count>&... values) {
#pragma unroll
      for (int k = 0; k < Count; ++k) result.value[k] = operation(values.value[k]...);
    };
    each(load_once(reinterpret_cast<const pack<In, Count>*>(in) + i)...);
    store_once(reinterpret_cast<pack<Out, Count>*>(out) + i, result);
  } else {
    for (std::size_t k = first; k < n; ++k) out[k] = operation(in[k]...);
  }
}

template <class Operation, class Out, class... In>
__global__ void __launch_bounds__(stream_threads)
    stream_elements(std::size_t n, Operation operation, Out* out, const In*... in) {
  const std::size_t i = std::size_t{blockIdx.x} * stream_threads + threadIdx.x;
  if (i < n) out[i] = operation(in[i]...);
}

constexpr bool power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }
template <class... T>
constexpr std::size_t largest() {
  std::size_t most = 0;
  ((most = sizeof(T) > most ? sizeof(T) : most), ...);
  return most;
}

// Launches with vectors of 16 bytes of the largest type if all types and pointers allow it;
// otherwise one element a thread.
template <class Operation, class Out, class... In>
cudaError_t stream_launch(std::size_t n, cudaStream_t stream, Operation operation, Out* out,
                          const In*... in) {
  static_assert((moves_as_bytes<In> && ...) && moves_as_bytes<Out>,
                "transform needs trivially copyable types.");
  if (n == 0) return cudaSuccess;
  constexpr bool even =
      largest<Out, In...>() <= 16 && power_of_two(sizeof(Out)) && (power_of_two(sizeof(In)) && ...);
  constexpr int count = even ? static_cast<int>(16 / largest<Out, In...>()) : 1;
  const auto blocks = [](std::size_t threads) {
    return static_cast<unsigned>((threads + stream_threads - 1) / stream_threads);
  };
  if constexpr (even) {
    const auto fits = [](const void* at, std::size_t element) {
      return reinterpret_cast<std::uintptr_t>(at) % (element * count) == 0;
    };
    if (fits(out, sizeof(Out)) && (fits(in, sizeof(In)) && ...)) {
      stream_vectors<count><<<blocks((n + count - 1) / count), stream_threads, 0, stream>>>(
          n, operation, out, in...);
      return cudaGetLastError();
    }
  }
  stream_elements<<<blocks(n), stream_threads, 0, stream>>>(n, operation, out, in...);
  return cudaGetLastError();
}

inline constexpr unsigned tile_threads = 128;
struct tile_block {
  INFLIGHT_DEVICE static constexpr unsigned size() { return tile_threads; }
  INFLIGHT_DEVICE static unsigned thread_rank() { return threadIdx.x; }
};

template <int Tile, class T, class Body>
__global__ void __launch_bounds__(tile_threads) each_tile(const T* in, std::size_t n, Body body) {
  alignas(sizeof(T) * Tile >= 128 ? 128 : 16) __shared__ unsigned char room[sizeof(T) * Tile];
  T* tile = reinterpret_cast<T*>(room);
  const std::size_t first = std::size_t{blockIdx.x} * Tile;
  const int count = n - first < Tile ? static_cast<int>(n - first) : Tile;
  const auto bytes = static_cast<std::uint32_t>(count * sizeof(T));
  const T* from = in + first;
  bool bulk = false;
  if constexpr (has_sm90<T>) {
    __shared__ barrier<> full;
    bulk = ((reinterpret_cast<std::uintptr_t>(from) | bytes) & 15) == 0;
    if (bulk) {
      if (threadIdx.x == 0) {
        full.init(1);
        transaction copies(full);
        copies.load(tile, from, bytes);
        copies.arrive();
      }
      __syncthreads();
      full.wait_parity(0);
    }
  }
  if (!bulk) {
    copy_part<alignof(T) < 8 ? alignof(T) : 8>(tile_block{}, tile, from, bytes);
    ptx::cp_async_wait_all();
    __syncthreads();
  }
  body(const_cast<const T*>(tile), first, count);
}

template <int Tile, class T, class Body>
cudaError_t tile_launch(const T* in, std::size_t n, Body body, cudaStream_t stream) {
  static_assert(moves_as_bytes<T>, "A tile holds a trivially copyable type.");
  if (n == 0) return cudaSuccess;
  each_tile<Tile>
      <<<static_cast<unsigned>((n + Tile - 1) / Tile), tile_threads, 0, stream>>>(in, n, body);
  return cudaGetLastError();
}

}  // namespace inflight::impl
