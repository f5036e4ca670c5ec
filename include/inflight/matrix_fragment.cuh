// Fragments: matrices spread over the registers of a warp or a warpgroup, as matrix instructions
// take and give them. Each lane holds some elements and can ask for the row and column of each. PTX
// ISA, "Matrix Fragments for mma.m16n8k16" and the like.
//
//   inflight::matrix_fragment<inflight::fragment_use::a, __half, 16, 32> a;
//   inflight::matrix_fragment<inflight::fragment_use::b, __half, 32, 8> b;
//   inflight::accumulator_fragment<float, 16, 8> sum;
//   sum.fill(0);
//   inflight::load_rows(a, a_tile, 0, 0);       // ldmatrix: a(m, k) = a_tile(m, k)
//   inflight::load_rows(b, b_tile, 0, 0);       // b(k, n) = b_tile(n, k)
//   inflight::multiply_add(sum, a, b);          // mma.sync: sum(m, n) += a(m, k) * b(k, n)
//   sum.each([&](int row, int column, float& value) { out[row * pitch + column] = value; });
//
// All lanes of the warp, or of the four warps, call these functions together.
#pragma once
#include <inflight/impl/group_lanes.cuh>
#include <inflight/impl/matrix_types.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/mma.cuh>
#include <inflight/swizzle.cuh>

namespace inflight {

// What a fragment is in a product: a factor, or the sums.
enum class fragment_use : std::uint8_t { a, b, accumulator };

// Factor A has 16 rows, or 64 in a warpgroup whose warps hold 16 each; so do the sums. Factor B is
// a warp's: its rows are those along which products are summed.
template <fragment_use Use, class T, int Rows, int Columns>
class matrix_fragment {
  static_assert(sizeof(T) <= 4, "Fragments have elements of 1, 2 or 4 bytes.");
  static_assert(Use == fragment_use::b || Rows == 16 || Rows == 64,
                "Factor A and sums have 16 rows in a warp, or 64 in a warpgroup.");
  static_assert(Use == fragment_use::accumulator
                    ? Columns % 8 == 0
                    : (Use == fragment_use::a ? Columns : Rows) * sizeof(T) % 16 == 0,
                "A factor is a multiple of 16 bytes wide along the sum, and sums of 8 columns.");
  static_assert(Use != fragment_use::b || Columns % 8 == 0,
                "Factor B has a multiple of 8 columns.");

 public:
  using value_type = T;
  static constexpr fragment_use use = Use;
  static constexpr int rows = Rows, columns = Columns;
  // Elements of a lane, and in one register.
  static constexpr int size = (Use == fragment_use::b ? Rows : 16) * Columns / 32;
  static constexpr int in_register = 4 / sizeof(T);
  // Sums of f32 are floats; everything else is kept as words.
  using register_type =
      std::conditional_t<Use == fragment_use::accumulator && std::is_same_v<T, float>, float,
                         std::uint32_t>;

  // This lane's element i, from 0 to size - 1. Use indices that are known when the loop is
  // unrolled: others move the fragment to local memory.
  INFLIGHT_DEVICE T& operator[](int i) { return reinterpret_cast<T*>(registers)[i]; }
  INFLIGHT_DEVICE const T& operator[](int i) const {
    return reinterpret_cast<const T*>(registers)[i];
  }

  // Where this lane's element i is in the matrix.
  INFLIGHT_DEVICE static int row(int i) {
    const int lane = static_cast<int>(ptx::lane_id()), reg = i / in_register;
    if constexpr (Use == fragment_use::b)
      return reg % registers_a_column * 4 * in_register + lane % 4 * in_register + i % in_register;
    else
      return first_row() + lane / 4 + (Use == fragment_use::a ? reg : i / 2) % 2 * 8;
  }
  INFLIGHT_DEVICE static int column(int i) {
    const int lane = static_cast<int>(ptx::lane_id()), reg = i / in_register;
    if constexpr (Use == fragment_use::b)
      return reg / registers_a_column * 8 + lane / 4;
    else if constexpr (Use == fragment_use::a)
      return reg / 2 * 4 * in_register + lane % 4 * in_register + i % in_register;
    else
      return i / 4 * 8 + lane % 4 * 2 + i % 2;
  }
  // The first row that this warp holds.
  INFLIGHT_DEVICE static int first_row() {
    if constexpr (Rows == 64)
      return static_cast<int>(impl::block_thread_rank() / 32 % 4) * 16;
    else
      return 0;
  }

  INFLIGHT_DEVICE void fill(const T& value) {
#pragma unroll
    for (int i = 0; i < size; ++i) (*this)[i] = value;
  }

  // Calls do_each(row, column, element) for this lane's elements; `element` may be changed.
  template <class Each>
  INFLIGHT_DEVICE void each(Each do_each) {
#pragma unroll
    for (int i = 0; i < size; ++i) do_each(row(i), column(i), (*this)[i]);
  }

  static constexpr int register_count = size / in_register;
  register_type registers[register_count];

 private:
  static constexpr int registers_a_column = Rows / (4 * in_register) > 0 ? Rows / (4 * in_register)
                                                                         : 1;
};

template <class T, int Rows, int Columns>
using accumulator_fragment = matrix_fragment<fragment_use::accumulator, T, Rows, Columns>;

namespace impl {

// Loads the registers of a factor in turn. A matrix of 8 rows of 16 bytes is one register; `along`
// the sum is along the tile's rows, or, transposed, along its columns.
template <bool Transposed, class Fragment, class Tile>
INFLIGHT_DEVICE void load_matrices(Fragment& to, const Tile& tile, int outer, int along) {
  static_assert(Fragment::use != fragment_use::accumulator, "ldmatrix loads factors, not sums.");
  static_assert(std::is_same_v<typename Fragment::value_type, typename Tile::value_type>,
                "A fragment is loaded from a tile of its element type.");
  constexpr int count = Fragment::register_count, at_once = count % 4 == 0 ? 4 : count % 2 ? 1 : 2;
  constexpr int chunk = 16 / sizeof(typename Fragment::value_type);
  const unsigned lane = ptx::lane_id();
  // The matrix, of those loaded at once, whose row this lane gives.
  const unsigned mine = lane / 8 % at_once;
#pragma unroll
  for (unsigned reg = 0; reg < count; reg += at_once) {
    unsigned at_outer, at_along;
    if constexpr (Fragment::use == fragment_use::a) {
      at_outer = mine % 2 * 8 + static_cast<unsigned>(Fragment::first_row());
      at_along = (reg / 2 + mine / 2) * chunk;
    } else {
      constexpr unsigned of_column = Fragment::rows / chunk;
      at_outer = (reg + mine) / of_column * 8, at_along = (reg + mine) % of_column * chunk;
    }
    (Transposed ? at_along : at_outer) += lane % 8;
    const int row = static_cast<int>(Transposed ? at_along : at_outer),
              column = static_cast<int>(Transposed ? at_outer : at_along);
    ptx::ldmatrix<at_once, Transposed>(
        to.registers + reg,
        ptx::shared_address(&tile) + (Transposed ? Tile::offset(along + row, outer + column)
                                                 : Tile::offset(outer + row, along + column)));
  }
}

}  // namespace impl

// Loads a factor from a tile whose rows hold what is summed: a(m, k) = tile(outer + m, along + k),
// b(k, n) = tile(outer + n, along + k). `along` is a multiple of 16 bytes. ldmatrix.
template <fragment_use Use, class T, int Rows, int Columns, class Tile>
INFLIGHT_DEVICE void load_rows(matrix_fragment<Use, T, Rows, Columns>& to, const Tile& tile,
                               int outer, int along) {
  impl::load_matrices<false>(to, tile, outer, along);
}

// The same from a tile whose columns hold what is summed: a(m, k) = tile(along + k, outer + m),
// b(k, n) = tile(along + k, outer + n). 16-bit elements; `outer` is a multiple of 8.
template <fragment_use Use, class T, int Rows, int Columns, class Tile>
INFLIGHT_DEVICE void load_columns(matrix_fragment<Use, T, Rows, Columns>& to, const Tile& tile,
                                  int outer, int along) {
  static_assert(sizeof(T) == 2, "Only matrices of 16-bit elements are transposed as they load.");
  impl::load_matrices<true>(to, tile, outer, along);
}

namespace impl {

template <class Sum, class A, class B, int Bytes>
struct mma_form {
  INFLIGHT_HOST_DEVICE static constexpr matrix_text text() {
    matrix_text text;
    text << ".m16n8k" << Bytes / int(sizeof(A)) << ".row.col"
         << (is_byte_integer<A> ? ".satfinite" : "") << sum_name<Sum>() << operand_name<A>()
         << operand_name<B>() << sum_name<Sum>();
    return text;
  }
  using modifiers = text_array<mma_form>;
};

}  // namespace impl

// sum(m, n) += a(m, k) * b(k, n), in one warp. One mma.sync for each 8 columns and 32 bytes of k.
// Integers saturate.
template <class Sum, class A, class B, int K, int N>
INFLIGHT_DEVICE void multiply_add(accumulator_fragment<Sum, 16, N>& sum,
                                  const matrix_fragment<fragment_use::a, A, 16, K>& a,
                                  const matrix_fragment<fragment_use::b, B, K, N>& b) {
  impl::require_types_that_multiply<Sum, A, B>();
  static_assert(!impl::is_fp8<A> || impl::compiled_for >= 890,
                "Products of fp8 need sm_89 or later.");
#if defined(INFLIGHT_MATRIX_INSTRUCTIONS)
  constexpr int bytes = K * int(sizeof(A)), whole = bytes / 32, a_column = bytes / 16;
  constexpr int of_sum = accumulator_fragment<Sum, 16, 8>::register_count;
#  pragma unroll
  for (int n = 0; n < N / 8; ++n) {
    auto* const d = sum.registers + n * of_sum;
    const std::uint32_t* const column = b.registers + n * a_column;
    const auto multiply = [&](auto form, auto count, int step) {
      if constexpr (std::is_same_v<Sum, float>)
        ptx::mma_sync<decltype(form), decltype(count)::value>(d, a.registers + 4 * step,
                                                              column + 2 * step);
      else
        ptx::mma_sync<decltype(form), decltype(count)::value, of_sum>(d, a.registers + 4 * step,
                                                                      column + 2 * step);
    };
#  pragma unroll
    for (int step = 0; step < whole; ++step)
      multiply(impl::mma_form<Sum, A, B, 32>(), std::integral_constant<int, 4>(), step);
    if constexpr (bytes % 32 != 0)
      multiply(impl::mma_form<Sum, A, B, 16>(), std::integral_constant<int, 2>(), whole);
  }
#else
  static_assert(impl::never<Sum>, INFLIGHT_NO_MATRIX_INSTRUCTIONS);
  static_cast<void>(sum), static_cast<void>(a), static_cast<void>(b);
#endif
}

// Sums as factor A of the next product, in a 16-bit type: no lane needs another's elements.
template <class T, int Rows, int Columns>
INFLIGHT_DEVICE matrix_fragment<fragment_use::a, T, Rows, Columns> as_factor(
    const accumulator_fragment<float, Rows, Columns>& sum) {
  static_assert(impl::is_half<T>, "Sums become a factor of __half or __nv_bfloat16.");
  static_assert(Columns % 16 == 0, "A factor of 16-bit elements has a multiple of 16 columns.");
  matrix_fragment<fragment_use::a, T, Rows, Columns> factor;
#pragma unroll
  for (int i = 0; i < factor.register_count; ++i)
    factor.registers[i] = std::is_same_v<T, __half>
                              ? ptx::cvt_rn_f16x2(sum.registers[2 * i], sum.registers[2 * i + 1])
                              : ptx::cvt_rn_bf16x2(sum.registers[2 * i], sum.registers[2 * i + 1]);
  return factor;
}

// tile(row + m, column + n) = sum(m, from + n) for n below Count (all columns if 0), converted to
// the tile's type: float, or by rounding to nearest even __half or __nv_bfloat16, with Count a
// multiple of 16. One stmatrix for 16 columns; on sm_80, and for floats, ordinary stores.
template <int Count = 0, class Tile, int Rows, int Columns>
INFLIGHT_DEVICE void store_rows(Tile& tile, int row, int column,
                                const accumulator_fragment<float, Rows, Columns>& sum,
                                int from = 0) {
  using T = typename Tile::value_type;
  constexpr int count = Count == 0 ? Columns : Count;
  using fragment = accumulator_fragment<float, Rows, Columns>;
  static_assert(count <= Columns, "A fragment has no more columns than its type says.");
  static_assert(std::is_same_v<T, float> || impl::is_half<T>,
                "Sums are stored as float, __half or __nv_bfloat16.");
  const int lane = static_cast<int>(ptx::lane_id());
  const auto pair = [&](int i) {
    return std::is_same_v<T, __half> ? ptx::cvt_rn_f16x2(sum.registers[i], sum.registers[i + 1])
                                     : ptx::cvt_rn_bf16x2(sum.registers[i], sum.registers[i + 1]);
  };
  if constexpr (std::is_same_v<T, float> || !impl::has_sm90<Tile>) {
#pragma unroll
    for (int i = 0; i < count / 8 * 4; i += 2) {
      unsigned char* const to =
          tile.bytes + Tile::offset(row + fragment::row(i), column + fragment::column(i));
      const int at = from / 8 * 4 + i;
      if constexpr (std::is_same_v<T, float>)
        *reinterpret_cast<float2*>(to) = {sum.registers[at], sum.registers[at + 1]};
      else
        *reinterpret_cast<std::uint32_t*>(to) = pair(at);
    }
  } else {
    static_assert(count % 16 == 0, "Sums are stored as 16-bit numbers 16 columns at a time.");
    const int y = row + fragment::first_row() + lane % 16, x = column + lane / 16 * 8;
#pragma unroll
    for (int n = 0; n < count; n += 16) {
      const int at = (from + n) / 8 * 4;
      const std::uint32_t words[4] = {pair(at), pair(at + 2), pair(at + 4), pair(at + 6)};
      ptx::stmatrix<4>(ptx::shared_address(&tile) + Tile::offset(y, x + n), words);
    }
  }
}

}  // namespace inflight
