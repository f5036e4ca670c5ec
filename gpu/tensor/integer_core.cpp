// Products of integers and of f64, several rows at once. Integers become pairs of 16 bits, which
// one instruction multiplies and adds.
#include "gpu/tensor/cores.hpp"
#include "gpu/tensor/vector.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

bool integers(const Product& product, const Matrices& matrices);
bool doubles(const Product& product, const Matrices& matrices);

namespace {

constexpr int most_depth = 128, most_rows = 64, columns_at_once = 8;
constexpr int a_word = 4;  // elements of 8 bits in a word

struct Operand {
  const std::uint8_t* bytes;
  bool is_signed;
};

// Widens elements of four bits to one byte each.
void widen(const void* packed, int count, bool is_signed, std::uint8_t* out) {
  const auto* const from = static_cast<const std::uint8_t*>(packed);
  for (int i = 0; i < count; ++i) {
    const int bits = from[i / 2] >> i % 2 * 4 & 15;
    out[i] = static_cast<std::uint8_t>(is_signed ? (bits ^ 8) - 8 : bits);
  }
}

// Spreads a sparse row's values to their columns, with zeros between them.
void spread_rows(const Product& p, const Matrices& at, const std::uint8_t* values,
                 std::uint8_t* out) {
  std::memset(out, 0, static_cast<std::size_t>(p.m * p.k));
  for (int row = 0; row < p.m; ++row)
    for (int i = 0; i < p.values(); ++i)
      out[row * p.k + at.columns[row * p.values() + i]] = values[row * p.values() + i];
}

// The even and the odd elements of words of four, widened to pairs of 16 bits.
struct Pairs {
  Shorts even, odd;
};
[[gnu::always_inline]] inline Pairs pairs_of(Bits words, bool is_signed) {
  if (is_signed) return {as<Shorts>(words << 8) >> 8, as<Shorts>(words) >> 8};
  return {as<Shorts>(words & 0x00ff00ff), as<Shorts>(words >> 8 & 0x00ff00ff)};
}

// The words of eight columns of B.
struct Columns {
  alignas(64) std::int32_t even[columns_at_once * most_depth / a_word];
  alignas(64) std::int32_t odd[columns_at_once * most_depth / a_word];
};

void decode_rows(const Product& p, const Operand& a, int first, Pairs* rows) {
  const int words = p.k / a_word;
  Bits raw[most_depth / a_word];
  words_of_rows(a.bytes, words, first, p.m - 1, raw);
  for (int w = 0; w < words; ++w) rows[w] = pairs_of(raw[w], a.is_signed);
}

void decode_columns(const Operand& b, int words, Columns& columns) {
  for (int i = 0; i < words; i += lanes) {
    const Pairs pairs = pairs_of(load<Bits>(b.bytes + i * a_word), b.is_signed);
    store(columns.even + i, pairs.even);
    store(columns.odd + i, pairs.odd);
  }
}

Ints added(Ints sum, Ints c, bool saturates) {
  const Ints total = as<Ints>(as<Bits>(sum) + as<Bits>(c));
  if (!saturates) return total;
  const Ints overflown = ((sum ^ total) & (c ^ total)) < 0;
  return pick(overflown, (c >> 31) ^ 0x7fffffff, total);
}

constexpr int blocked = 4;

void multiply_block(const Product& p, const Matrices& at, const Pairs* a, const Columns& columns,
                    int from, int row, int column) {
  Ints sums[blocked] = {};
  const int words = p.k / a_word;
  for (int w = 0; w < words; ++w)
    for (int j = 0; j < blocked; ++j) {
      const int b = (from + j) * words + w;
      sums[j] += sum_of_products(a[w].even, as<Shorts>(Ints{} + columns.even[b]));
      sums[j] += sum_of_products(a[w].odd, as<Shorts>(Ints{} + columns.odd[b]));
    }
  const int count = p.m - row < lanes ? p.m - row : lanes;
  const auto bytes = static_cast<std::size_t>(count) * sizeof(std::int32_t);
  for (int j = 0; j < blocked; ++j) {
    const std::ptrdiff_t index = std::ptrdiff_t{column + j} * p.m + row;
    const auto* const from = static_cast<const std::int32_t*>(at.c) + index;
    auto* const to = static_cast<std::int32_t*>(at.d) + index;
    Ints c = {};
    if (at.c) count == lanes ? c = load<Ints>(from), void() : void(std::memcpy(&c, from, bytes));
    const Ints d = added(sums[j], c, p.saturates);
    count == lanes ? store(to, d) : void(std::memcpy(to, &d, bytes));
  }
}

// Single bits, 64 at a time.
void multiply_bits(const Product& p, const Matrices& at) {
  const auto* const a = static_cast<const std::uint64_t*>(at.a);
  const auto* const b = static_cast<const std::uint64_t*>(at.b);
  const auto* const c = static_cast<const std::uint32_t*>(at.c);
  auto* const d = static_cast<std::uint32_t*>(at.d);
  const int words = p.k / 64;
  for (int n = 0; n < p.n; ++n)
    for (int m = 0; m < p.m; ++m) {
      std::uint32_t sum = c ? c[n * p.m + m] : 0;
      for (int w = 0; w < words; ++w) {
        const std::uint64_t x = a[m * words + w], y = b[n * words + w];
        sum += static_cast<std::uint32_t>(
            __builtin_popcountll(p.bits == BitOperation::and_popc ? x & y : x ^ y));
      }
      d[n * p.m + m] = sum;
    }
}

#ifdef __FMA__
constexpr int side = 8;

// Computes the chains of eight rows. Returns whether any result is NaN.
bool chain(const Product& p, const Matrices& at, int row, int column, double* sums) {
  const auto* const a = static_cast<const double*>(at.a);
  const auto* const b = static_cast<const double*>(at.b) + column * p.k;
  for (int k = 0; k < p.k; ++k)
    for (int l = 0; l < side; ++l) sums[l] = __builtin_fma(a[(row + l) * p.k + k], b[k], sums[l]);
  bool nan = false;
  for (int l = 0; l < side; ++l) nan |= sums[l] != sums[l];
  return nan;
}
#endif

}  // namespace

bool integers(const Product& p, const Matrices& at) {
  if (p.a == Element::b1) {
    if (p.k % 64 != 0) return false;
    multiply_bits(p, at);
    return true;
  }
  if (p.k > most_depth || p.m > most_rows) return false;
  Operand a{static_cast<const std::uint8_t*>(at.a), format(p.a).is_signed};
  Operand b{static_cast<const std::uint8_t*>(at.b), format(p.b).is_signed};
  alignas(64) std::uint8_t a_bytes[16 * 64], b_bytes[8 * most_depth];
  if (format(p.a).bits == 4) {
    if (p.m > 16 || p.n > 8) return false;
    widen(at.a, p.m * p.values(), a.is_signed, a_bytes);
    widen(at.b, p.n * p.k, b.is_signed, b_bytes);
    a.bytes = a_bytes, b.bytes = b_bytes;
  }
  alignas(64) std::uint8_t dense[most_rows * most_depth];
  if (p.sparse) {
    spread_rows(p, at, a.bytes, dense);
    a.bytes = dense;
  }
  Pairs rows[most_rows / lanes][most_depth / a_word];
  for (int row = 0; row < p.m; row += lanes) decode_rows(p, a, row, rows[row / lanes]);
  Columns columns;
  for (int column = 0; column < p.n; column += columns_at_once) {
    decode_columns({b.bytes + column * p.k, b.is_signed}, columns_at_once * p.k / a_word, columns);
    for (int row = 0; row < p.m; row += lanes)
      for (int j = 0; j < columns_at_once; j += blocked)
        multiply_block(p, at, rows[row / lanes], columns, j, row, column + j);
  }
  return true;
}

bool doubles(const Product& p, const Matrices& at) {
#ifdef __FMA__
  if (p.rounding != Rounding::nearest) return false;
  double results[16 * 8];
  if (p.m * p.n > 16 * 8) return false;
  const auto* const c = static_cast<const double*>(at.c);
  for (int column = 0; column < p.n; ++column)
    for (int row = 0; row < p.m; row += side) {
      double* const sums = results + column * p.m + row;
      for (int l = 0; l < side; ++l) sums[l] = c ? c[column * p.m + row + l] : 0;
      if (chain(p, at, row, column, sums)) return false;
    }
  std::memcpy(at.d, results, static_cast<std::size_t>(p.m * p.n) * sizeof(double));
  return true;
#else
  return p.k < 0 && at.d == nullptr;
#endif
}

}  // namespace inflight::tensor::INFLIGHT_ISA
