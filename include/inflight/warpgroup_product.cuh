// Matrix products of a warpgroup: asynchronous, with sums in registers and factors in shared tiles.
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions". sm_90a; nvcc or NVRTC of CUDA 13.
//
//   inflight::warpgroup_sum<float, 256> sum;         // 64 x 256, in the registers of four warps
//   sum.clear();
//   for (...) {
//     ...                                            // until the tiles are full
//     inflight::multiply_async(sum, inflight::matrix_rows<64>(a, 0), inflight::matrix_rows(b));
//     inflight::products_wait<1>();                  // the tiles of the product before are free
//   }
//   auto& values = sum.wait();                       // all products are done: read and change them
//
// A warpgroup is four warps of which the first is a multiple of four; all its threads call these
// functions together. The elements of a warpgroup_sum can be reached only through what wait()
// returns, and a product only through what begin() returns, so that code without the wait or
// without the fence does not compile.
#pragma once
#include <inflight/impl/require.cuh>
#include <inflight/matrix_fragment.cuh>
#include <inflight/ptx/wgmma.cuh>

namespace inflight {

// A factor in shared memory, as its matrix descriptor: Outer x Along elements of T, where products
// are summed along `Along`. Made by matrix_rows or matrix_columns from a tile, whose type, shape
// and swizzle it has.
template <class T, int Outer, int Along, swizzle Swizzle, bool Transposed>
class matrix_operand {
 public:
  using value_type = T;
  static constexpr int outer = Outer, along = Along;
  static constexpr bool transposed = Transposed;
  // Elements along the sum that one instruction takes: 32 bytes.
  static constexpr int step = 32 / sizeof(T);

  INFLIGHT_DEVICE matrix_operand(std::uint32_t address, std::uint32_t leading) {
    constexpr std::uint64_t mode = Swizzle == swizzle::b128 ? 1 : Swizzle == swizzle::b64 ? 2 : 3;
    constexpr std::uint64_t stride = swizzle_period(Swizzle) / 16;
    descriptor_ =
        mode << 62 | stride << 32 | std::uint64_t{leading / 16} << 16 | (address & 0x3ffff) / 16;
  }

  // The descriptor of the instruction's part that begins at element `step * i` along the sum.
  INFLIGHT_DEVICE std::uint64_t descriptor(int i) const {
    constexpr std::uint32_t bytes = Transposed ? step * swizzle_span(Swizzle) : 32;
    return descriptor_ + i * (bytes / 16);
  }

 private:
  std::uint64_t descriptor_;
};

namespace impl {

template <class Tile>
INFLIGHT_DEVICE constexpr void require_operand_tile() {
  static_assert(is_swizzled_tile<Tile>, "A factor in shared memory is a swizzled_tile.");
  static_assert(Tile::mode != swizzle::none,
                "A factor's tile has a swizzle: b128, b64 or b32, the widest that its rows fill.");
  static_assert(operand_name<typename Tile::value_type>()[0] != 0,
                "No matrix instruction takes elements of this type.");
}

template <class Tile>
INFLIGHT_DEVICE std::uint32_t operand_address(const Tile& tile) {
  const std::uint32_t address = ptx::shared_address(&tile);
  INFLIGHT_REQUIRE_OR_TRAP((address & (Tile::alignment - 1)) == 0);
  return address;
}

}  // namespace impl

// The matrix whose rows are the tile's: Rows of them (all if 0) from `first` on, a multiple of 8.
// For a(m, k) = tile(first + m, k), and for b(k, n) = tile(first + n, k).
template <int Rows = 0, class Tile>
INFLIGHT_DEVICE auto matrix_rows(const Tile& tile, int first = 0) {
  impl::require_operand_tile<Tile>();
  constexpr int rows = Rows == 0 ? Tile::rows : Rows;
  static_assert(rows <= Tile::rows && rows % 8 == 0,
                "A factor has a multiple of 8 rows, and no more than its tile.");
  static_assert(Tile::row_bytes % 32 == 0, "A product takes a multiple of 32 bytes of each row.");
  INFLIGHT_REQUIRE_OR_TRAP(first % 8 == 0 && first >= 0 && first + rows <= Tile::rows);
  return matrix_operand<typename Tile::value_type, rows, Tile::columns, Tile::mode, false>(
      impl::operand_address(tile) + static_cast<std::uint32_t>(first) * Tile::pitch, 16);
}

// The matrix whose rows are the columns of the tiles, side by side. For a(m, k) = tile(k, m), and
// for b(k, n) = tile(k, n). 16-bit elements.
template <class Tile, int Tiles>
INFLIGHT_DEVICE auto matrix_columns(const Tile (&tiles)[Tiles]) {
  impl::require_operand_tile<Tile>();
  static_assert(sizeof(typename Tile::value_type) == 2,
                "Only factors of 16-bit elements may lie transposed in shared memory.");
  static_assert(Tile::row_bytes == Tile::pitch,
                "A transposed factor's tile has rows as wide as its swizzle's span.");
  static_assert(Tile::rows % 16 == 0, "A product takes a multiple of 16 rows of such a tile.");
  return matrix_operand<typename Tile::value_type, Tiles * Tile::columns, Tile::rows, Tile::mode,
                        true>(impl::operand_address(tiles[0]), sizeof(Tile));
}
template <class Tile>
INFLIGHT_DEVICE auto matrix_columns(const Tile& tile) {
  return matrix_columns(reinterpret_cast<const Tile(&)[1]>(tile));
}

// Waits until at most the `Newer` newest products of this warpgroup are in flight. The tiles of the
// others are free. wgmma.wait_group.
template <int Newer = 0>
INFLIGHT_DEVICE void products_wait() {
  ptx::wgmma_wait_group<Newer>();
}

template <class Sum, int Columns>
class product_batch;

// 64 x Columns sums of products, in registers. Sum is float, __half or int.
template <class Sum, int Columns>
class warpgroup_sum {
  static_assert(Columns % 8 == 0 && Columns >= 8 && Columns <= 256,
                "A warpgroup's sums have 8 to 256 columns, a multiple of 8.");
  static_assert(!std::is_same_v<Sum, int> || Columns <= 24 || Columns % 16 == 0,
                "Sums of integers have 8, 16, 24, or a multiple of 16 columns.");

 public:
  using fragment = accumulator_fragment<Sum, 64, Columns>;

  // The next product's sums begin at zero. No product may be in flight.
  INFLIGHT_DEVICE void clear() { adds_ = false; }
  // They begin at these values.
  INFLIGHT_DEVICE void set(const fragment& values) {
    values_ = values;
    adds_ = true;
  }

  // Begins a batch of products: wgmma.fence.
  [[nodiscard]] INFLIGHT_DEVICE product_batch<Sum, Columns> begin();

  // Waits for all products of this warpgroup. The values may then be read and changed until the
  // next begin().
  INFLIGHT_DEVICE fragment& wait() {
    ptx::wgmma_wait_group<0>();
    keep();
    return values_;
  }

 private:
  friend class product_batch<Sum, Columns>;

  // Keeps the compiler from moving accesses of the registers past this point.
  INFLIGHT_DEVICE void keep() {
#pragma unroll
    for (int i = 0; i < fragment::register_count; ++i)
      if constexpr (std::is_same_v<typename fragment::register_type, float>)
        asm volatile("" : "+f"(values_.registers[i])::"memory");
      else
        asm volatile("" : "+r"(values_.registers[i])::"memory");
  }

  fragment values_;
  bool adds_ = false;
};

namespace impl {

// The modifiers of a wgmma.
template <class Sum, class A, class B, int Columns>
struct wgmma_modifiers {
  INFLIGHT_HOST_DEVICE static constexpr matrix_text text() {
    matrix_text text;
    text << ".m64n" << Columns << "k" << 32 / int(sizeof(A)) << sum_name<Sum>() << operand_name<A>()
         << operand_name<B>();
    return text;
  }
};
// Its last operands: the signs of both factors, and for 16-bit elements which of them lie
// transposed; -1 for A in registers.
template <class A, int TransposedA, int TransposedB>
struct wgmma_end {
  INFLIGHT_HOST_DEVICE static constexpr matrix_text text() {
    matrix_text text;
    if (is_byte_integer<A>) return text;
    text << ", 1, 1";
    if (sizeof(A) != 2) return text;
    if (TransposedA >= 0) text << ", " << TransposedA;
    text << ", " << TransposedB;
    return text;
  }
};
template <class Sum, class A, class B, int Columns, int TransposedA, int TransposedB>
struct wgmma_form {
  using modifiers = text_array<wgmma_modifiers<Sum, A, B, Columns>>;
  using end = text_array<wgmma_end<A, TransposedA, TransposedB>>;
};

}  // namespace impl

// Products that were begun and not yet committed. The registers of the sums belong to them.
template <class Sum, int Columns>
class product_batch {
 public:
  INFLIGHT_DEVICE explicit product_batch(warpgroup_sum<Sum, Columns>& sum) : sum_(sum) {
    impl::require_warpgroups<product_batch>();
    impl::require_sm_90a_at_run_time();
    sum_.keep();
    ptx::wgmma_fence();
  }
  product_batch(const product_batch&) = delete;
  product_batch& operator=(const product_batch&) = delete;
  INFLIGHT_DEVICE ~product_batch() {
    INFLIGHT_REQUIRE_OR_TRAP(committed_);  // wait() does not wait for products of no group
  }

  // sum(m, n) += a(m, k) * b(k, n). One wgmma for each 32 bytes along k.
  template <class T, class U, int Outer, int OuterB, int Along, int AlongB, swizzle Swizzle,
            swizzle SwizzleB, bool Transposed, bool TransposedB>
  INFLIGHT_DEVICE product_batch& add(
      const matrix_operand<T, Outer, Along, Swizzle, Transposed>& a,
      const matrix_operand<U, OuterB, AlongB, SwizzleB, TransposedB>& b) {
    static_assert(Outer == 64,
                  "Factor A of a warpgroup has 64 rows: matrix_rows<64>(tile, first).");
    multiply<T, U, OuterB, Along, AlongB, Transposed, TransposedB>(
        [&](int i) { return a.descriptor(i); }, b);
    return *this;
  }

  // The same with A in registers, which must not change before the products are done.
  template <class T, class U, int OuterB, int Along, int AlongB, swizzle SwizzleB, bool TransposedB>
  INFLIGHT_DEVICE product_batch& add(
      const matrix_fragment<fragment_use::a, T, 64, Along>& a,
      const matrix_operand<U, OuterB, AlongB, SwizzleB, TransposedB>& b) {
    using part = const std::uint32_t(&)[4];
    multiply<T, U, OuterB, Along, AlongB, -1, TransposedB>(
        [&](int i) -> part { return reinterpret_cast<part>(a.registers[4 * i]); }, b);
    return *this;
  }

  // The batch is a group, which products_wait() counts. wgmma.commit_group.
  INFLIGHT_DEVICE void commit() {
    ptx::wgmma_commit_group();
    committed_ = true;
  }

 private:
  template <class T, class U, int OuterB, int Along, int AlongB, int TransposedA, int TransposedB,
            class A, class B>
  INFLIGHT_DEVICE void multiply(A a, const B& b) {
    impl::require_types_that_multiply<Sum, T, U>();
    static_assert(OuterB == Columns,
                  "Factor B has as many rows, or transposed columns, as the sums "
                  "have columns.");
    static_assert(Along == AlongB, "Both factors are equally long along the sum.");
#if defined(INFLIGHT_MATRIX_INSTRUCTIONS)
    using form = impl::wgmma_form<Sum, T, U, Columns, TransposedA, TransposedB>;
#  pragma unroll
    for (int i = 0; i < Along / b.step; ++i) {
      ptx::wgmma_mma_async<form>(sum_.values_.registers, a(i), b.descriptor(i), sum_.adds_);
      sum_.adds_ = true;
    }
#else
    static_assert(impl::never<A>, INFLIGHT_NO_MATRIX_INSTRUCTIONS);
    static_cast<void>(a), static_cast<void>(b);
#endif
  }

  warpgroup_sum<Sum, Columns>& sum_;
  bool committed_ = false;
};

template <class Sum, int Columns>
INFLIGHT_DEVICE product_batch<Sum, Columns> warpgroup_sum<Sum, Columns>::begin() {
  return product_batch<Sum, Columns>(*this);
}

// One batch of one product: fence, wgmma for each step, commit.
template <class Sum, int Columns, class A, class B>
INFLIGHT_DEVICE void multiply_async(warpgroup_sum<Sum, Columns>& sum, const A& a, const B& b) {
  product_batch<Sum, Columns> batch(sum);
  batch.add(a, b);
  batch.commit();
}

}  // namespace inflight
