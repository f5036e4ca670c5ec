// Integers and f64, some rows at once. Products of 8-bit integers and their sums are exact in
// f32, which multiplies and adds fastest.
#include "gpu/tensor/cores.hpp"
#include "gpu/tensor/vector.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

bool integers(const Product& product, const Matrices& matrices);
bool doubles(const Product& product, const Matrices& matrices);

namespace {

constexpr int most_depth = 128, most_rows = 64, columns_at_once = 8;

[[gnu::always_inline]] inline Floats multiply_add(Floats a, float b, Floats c) {
  return a * b + c;  // exact, fused or not
}

// Elements of four bits, one a byte.
void widen(const void* packed, int count, std::uint8_t* out) {
  const auto* const from = static_cast<const std::uint8_t*>(packed);
  for (int i = 0; i < count; ++i) out[i] = from[i / 2] >> i % 2 * 4 & 15;
}

// The value of an element's bits.
[[gnu::always_inline]] inline Floats value_of(Bits raw, int bits, bool is_signed) {
  const int unused = 32 - bits;
  const Bits high = raw << unused;
  return to_floats(is_signed ? as<Ints>(high) >> unused : as<Ints>(high >> unused));
}

struct Operand {
  const std::uint8_t* bytes;
  int bits;
  bool is_signed;
};

void decode_rows(const Product& p, const Matrices& at, const Operand& a, int first,
                 Floats* values) {
  constexpr int a_word = 4;
  const int count = p.values();
  for (int k = 0; p.sparse && k < p.k; ++k) values[k] = Floats{};
  for (int i = 0; i < count; i += a_word) {
    const Bits word = word_of_rows(a.bytes, count / a_word, first, p.m - 1, i / a_word);
    for (int part = 0; part < a_word; ++part) {
      const Floats value = value_of(word >> 8 * part, a.bits, a.is_signed);
      if (!p.sparse) {
        values[i + part] = value;
        continue;
      }
      for (int l = 0; l < lanes && first + l < p.m; ++l)
        values[at.columns[(first + l) * count + i + part]][l] = value[l];
    }
  }
}

void decode_columns(const Operand& b, int count, float* values) {
  using Bytes [[gnu::vector_size(lanes)]] = std::uint8_t;
  for (int i = 0; i < count; i += lanes) {
    const Bits raw = __builtin_convertvector(load<Bytes>(b.bytes + i), Bits);
    store(values + i, value_of(raw, b.bits, b.is_signed));
  }
}

Ints added(Ints sum, Ints c, bool saturates) {
  const Ints total = as<Ints>(as<Bits>(sum) + as<Bits>(c));
  if (!saturates) return total;
  const Ints overflown = ((sum ^ total) & (c ^ total)) < 0;
  return pick(overflown, (c >> 31) ^ 0x7fffffff, total);
}

constexpr int blocked = 4;

void multiply_block(const Product& p, const Matrices& at, const Floats* a, const float* b, int row,
                    int column) {
  Floats sums[blocked] = {};
  for (int k = 0; k < p.k; ++k)
    for (int j = 0; j < blocked; ++j) sums[j] = multiply_add(a[k], b[j * p.k + k], sums[j]);
  const int count = p.m - row < lanes ? p.m - row : lanes;
  const auto bytes = static_cast<std::size_t>(count) * sizeof(std::int32_t);
  for (int j = 0; j < blocked; ++j) {
    const std::ptrdiff_t index = std::ptrdiff_t{column + j} * p.m + row;
    Ints c = {};
    if (at.c) std::memcpy(&c, static_cast<const std::int32_t*>(at.c) + index, bytes);
    const Ints d = added(truncated(sums[j]), c, p.saturates);
    std::memcpy(static_cast<std::int32_t*>(at.d) + index, &d, bytes);
  }
}

// Single bits: sixty-four at a time.
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

// Chains of eight rows. Is any of them NaN?
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
  Operand a{static_cast<const std::uint8_t*>(at.a), format(p.a).bits, format(p.a).is_signed};
  Operand b{static_cast<const std::uint8_t*>(at.b), format(p.b).bits, format(p.b).is_signed};
  alignas(64) std::uint8_t a_bytes[16 * 64], b_bytes[8 * most_depth];
  if (a.bits == 4) {
    if (p.m > 16 || p.n > 8) return false;
    widen(at.a, p.m * p.values(), a_bytes), widen(at.b, p.n * p.k, b_bytes);
    a.bytes = a_bytes, b.bytes = b_bytes;
  }
  Floats rows[most_rows / lanes][most_depth];
  for (int row = 0; row < p.m; row += lanes) decode_rows(p, at, a, row, rows[row / lanes]);
  alignas(64) float columns[columns_at_once * most_depth];
  for (int column = 0; column < p.n; column += columns_at_once) {
    decode_columns({b.bytes + column * p.k, b.bits, b.is_signed}, columns_at_once * p.k, columns);
    for (int row = 0; row < p.m; row += lanes)
      for (int j = 0; j < columns_at_once; j += blocked)
        multiply_block(p, at, rows[row / lanes], columns + j * p.k, row, column + j);
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
