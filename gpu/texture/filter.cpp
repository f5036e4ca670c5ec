// Computes sums of weighted texels.
#include "gpu/texture/filter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/srgb.hpp"

namespace inflight::texture {
namespace {

int weight_bits_of(const Mix& mix) { return static_cast<int>(std::bit_width(mix.all)) - 1; }

template <class T>
T channel(const std::byte* texel, unsigned c) {
  T v;
  std::memcpy(&v, texel + c * sizeof(T), sizeof v);
  return v;
}

// --- integers: convert a sum of weighted texels to a number in which `one` is 1.0 ---

constexpr std::int64_t half_up(std::int64_t sum, int bits) {
  return (sum + (std::int64_t{1} << (bits - 1))) >> bits;
}

struct U8 {
  using T = std::uint8_t;
  static constexpr std::int32_t one = 65535;
  static std::int64_t steps(std::int64_t sum, int bits) { return half_up(sum * 257, bits); }
};
struct U16 {
  using T = std::uint16_t;
  static constexpr std::int32_t one = 65535;
  static std::int64_t steps(std::int64_t sum, int bits) { return half_up(sum, bits); }
};
struct S8 {
  using T = std::int8_t;
  static constexpr std::int32_t one = 32767;
  // 127 * 256 becomes 32767.
  static std::int64_t steps(std::int64_t sum, int bits) {
    const int more = bits - 8;
    return half_up((sum << 11) + ((sum >> (4 + more)) << more) * 257, 11 + more);
  }
};
struct S16 {
  using T = std::int16_t;
  static constexpr std::int32_t one = 32767;
  static std::int64_t steps(std::int64_t sum, int bits) { return half_up(sum, bits); }
};

template <class I, unsigned channels>
Value mix_integers(const Mix& mix) {
  Value out{};
  for (unsigned c = 0; c < channels; ++c) {
    std::int64_t sum = 0;
    for (unsigned i = 0; i < mix.count; ++i)
      sum += std::int64_t{mix.weight[i]} * channel<typename I::T>(mix.texel[i], c);
    const auto bounded =
        static_cast<float>(std::max<std::int64_t>(I::steps(sum, weight_bits_of(mix)), -I::one));
    out[c] = std::bit_cast<std::uint32_t>(bounded / static_cast<float>(I::one));
  }
  return out;
}

// Integers that are read as integers, which the driver's textures allow. Measured on an H100: 8 and
// 16 bits are rounded to nearest, halves up, and 32 bits down.
template <class T, unsigned channels>
Value mix_elements(const Mix& mix) {
  Value out{};
  for (unsigned c = 0; c < channels; ++c) {
    std::int64_t sum = 0;
    for (unsigned i = 0; i < mix.count; ++i)
      sum += std::int64_t{mix.weight[i]} * channel<T>(mix.texel[i], c);
    const int bits = weight_bits_of(mix);
    out[c] = static_cast<std::uint32_t>(sizeof(T) < 4 ? half_up(sum, bits) : sum >> bits);
  }
  return out;
}

// --- floats ---

// A number: a significand, and the biased exponent of the format.
struct Number {
  std::int64_t significand = 0;
  int exponent = 0;
  bool special = false;  // infinite or NaN
};

struct F32 {
  using T = std::uint32_t;
  static constexpr int digits = 24, least = 1;
  static constexpr bool gradual = false;   // gradual underflow: subnormals are kept
  static constexpr int between_quads = 0;  // extra guard bits when quads are added
  static constexpr std::uint32_t nan = 0x7fffffff;
  static Number split(T bits) {
    const int e = static_cast<int>(bits >> 23 & 255);
    const std::int64_t m = e ? (bits & 0x7fffff) | 0x800000 : 0;
    return {bits >> 31 ? -m : m, e, e == 255};
  }
  static constexpr int bias = 127;
};
struct F16 {
  using T = std::uint16_t;
  static constexpr int digits = 11, least = 1;
  static constexpr bool gradual = true;
  static constexpr int between_quads = 1;
  static constexpr std::uint32_t nan = 0x7fffe000;
  static Number split(T bits) {
    const int e = bits >> 10 & 31;
    const std::int64_t m = (bits & 0x3ff) | (e ? 0x400 : 0);
    return {bits >> 15 ? -m : m, std::max(e, 1), e == 31};
  }
  static constexpr int bias = 15;
};

constexpr int guard_bits = 4;

// 2^e, for every e of a normal double.
double power(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); }

// Rounds `sum` * 2^exponent to F's digits, halves away from zero.
template <class F>
float rounded(std::int64_t sum, int exponent) {
  const std::uint64_t size = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  if (size == 0) return 0;
  // The lowest digit kept: given by the leading one, or by the least exponent of the format.
  int cut = static_cast<int>(std::bit_width(size)) - F::digits;
  const int least_cut = F::least - F::bias - (F::digits - 1) - exponent;
  if (F::gradual) cut = std::max(cut, least_cut);
  std::uint64_t kept = size;
  if (cut > 0) {
    kept = cut > 62 ? 0 : (size + (std::uint64_t{1} << (cut - 1))) >> cut;
    exponent += cut;
  }
  const double value = static_cast<double>(kept) * power(exponent);
  if (!F::gradual && value < 0x1p-126) return 0;
  return static_cast<float>(sum < 0 ? -value : value);
}

std::int64_t toward_zero(std::int64_t v, int shift) { return v < 0 ? -(-v >> shift) : v >> shift; }

// The sum of the texels of one quad, aligned to the greatest of them: sum * 2^exponent.
struct Sum {
  std::int64_t sum = 0;
  int exponent = 0;
  bool special = false;
};

template <class F>
Sum sum_of_quad(const Mix& mix, unsigned first, unsigned end, unsigned c) {
  Number numbers[4];
  Sum out;
  for (unsigned i = first; i < end; ++i) {
    const Number n = numbers[i - first] = F::split(channel<typename F::T>(mix.texel[i], c));
    out.special |= n.special;
    if (n.significand != 0) out.exponent = std::max(out.exponent, n.exponent);
  }
  for (unsigned i = first; i < end; ++i) {
    const auto& [m, exponent, special] = numbers[i - first];
    if (m == 0) continue;
    const int shift = std::min(out.exponent - exponent, 63);
    out.sum += toward_zero(m * (1 << guard_bits), shift) * mix.weight[i];
  }
  return out;
}

// Adds the quads' sums, aligned to the greatest of them.
template <class F>
Sum sum_of_quads(const Mix& mix, unsigned c) {
  Sum sums[32];
  Sum all;
  for (unsigned q = 0; q < mix.quads; ++q) {
    sums[q] = sum_of_quad<F>(mix, mix.first_of_quad[q], mix.end_of_quad(q), c);
    all.special |= sums[q].special;
    if (sums[q].sum != 0) all.exponent = std::max(all.exponent, sums[q].exponent);
  }
  for (unsigned q = 0; q < mix.quads; ++q) {
    const int shift = std::min(all.exponent - sums[q].exponent, 63);
    all.sum += sums[q].sum * (1 << F::between_quads) >> shift;
  }
  return all;
}

template <class F, unsigned channels>
Value mix_floats(const Mix& mix) {
  Value out{};
  for (unsigned c = 0; c < channels; ++c) {
    const bool one = mix.quads == 1;
    const Sum all = one ? sum_of_quad<F>(mix, 0, mix.count, c) : sum_of_quads<F>(mix, c);
    if (all.special) {
      out[c] = F::nan;
      continue;
    }
    const int exponent = all.exponent - F::bias - (F::digits - 1) - guard_bits -
                         weight_bits_of(mix) - (one ? 0 : F::between_quads);
    out[c] = std::bit_cast<std::uint32_t>(rounded<F>(all.sum, exponent));
  }
  return out;
}

template <class I>
Filter integers(unsigned channels) {
  return channels == 1   ? mix_integers<I, 1>
         : channels == 2 ? mix_integers<I, 2>
                         : mix_integers<I, 4>;
}
template <class T>
Filter elements(unsigned channels) {
  return channels == 1   ? mix_elements<T, 1>
         : channels == 2 ? mix_elements<T, 2>
                         : mix_elements<T, 4>;
}
Filter elements(Format format) {
  const unsigned n = format.channels;
  if (format.kind == Kind::unsigned_integer)
    return format.bits == 8    ? elements<std::uint8_t>(n)
           : format.bits == 16 ? elements<std::uint16_t>(n)
                               : elements<std::uint32_t>(n);
  return format.bits == 8    ? elements<std::int8_t>(n)
         : format.bits == 16 ? elements<std::int16_t>(n)
                             : elements<std::int32_t>(n);
}
template <class F>
Filter floats(unsigned channels) {
  return channels == 1 ? mix_floats<F, 1> : channels == 2 ? mix_floats<F, 2> : mix_floats<F, 4>;
}

std::uint8_t code_of(const Mix& mix, unsigned i, unsigned c) {
  return static_cast<std::uint8_t>(mix.texel[i][c]);
}

// The sum of the texels from `first` to `end`, in steps of the brightest of them.
struct LightSum {
  std::int64_t sum = 0;
  std::uint8_t step = 0;
};
LightSum light_sum(const Mix& mix, unsigned first, unsigned end, unsigned c) {
  LightSum out;
  for (unsigned i = first; i < end; ++i)
    out.step = std::max(out.step, light_of(code_of(mix, i, c)).step);
  for (unsigned i = first; i < end; ++i) {
    const std::int64_t light = light_of(code_of(mix, i, c)).light;
    out.sum += (light >> out.step << out.step) * mix.weight[i];
  }
  return out;
}

// The sum of several quads: probes, slices and levels. Up to four quads of one level are added at a
// time. They lose bits below 2^-22, and from the first bright texel on below 2^-18, as the sum
// before them does. Measured: tests/gpu/texture_cubes.cu.
std::int64_t light_of_quads(const Mix& mix, unsigned c) {
  constexpr unsigned at_a_time = 4;
  constexpr std::uint8_t bright = 5;  // a step
  constexpr int dark_bits = 22, bright_bits = 18;
  int cut = light_bits + weight_bits_of(mix) - dark_bits;
  const auto lowered = [&cut](std::int64_t sum) { return sum >> cut << cut; };
  std::int64_t all = 0;
  for (unsigned q = 0, end; q < mix.quads; q = end) {
    end = std::min(q + at_a_time,
                   q < mix.second_level ? std::min(mix.second_level, mix.quads) : mix.quads);
    LightSum sums[at_a_time];
    for (unsigned i = q; i < end; ++i) {
      sums[i - q] = light_sum(mix, mix.first_of_quad[i], mix.end_of_quad(i), c);
      if (sums[i - q].step >= bright) cut = light_bits + weight_bits_of(mix) - bright_bits;
    }
    all = lowered(all);
    for (unsigned i = q; i < end; ++i) all += lowered(sums[i - q].sum);
  }
  return all;
}

// 8-bit sRGB is mixed as linear light. w is not light.
std::uint32_t mix_light(const Mix& mix, unsigned c) {
  const std::int64_t sum =
      mix.quads > 1 ? light_of_quads(mix, c) : light_sum(mix, 0, mix.count, c).sum;
  return std::bit_cast<std::uint32_t>(rounded<F16>(sum, -light_bits - weight_bits_of(mix)));
}
template <unsigned channels>
Value mix_srgb(const Mix& mix) {
  Value out{};
  for (unsigned c = 0; c < std::min(channels, 3u); ++c) out[c] = mix_light(mix, c);
  if (channels == 4) out[3] = mix_integers<U8, 4>(mix)[3];
  return out;
}
Filter srgb(unsigned channels) {
  return channels == 1 ? mix_srgb<1> : channels == 2 ? mix_srgb<2> : mix_srgb<4>;
}

}  // namespace

Filter filter_of(Format format, As as) {
  const unsigned n = format.channels;
  if (format.kind == Kind::floating) return format.bits == 32 ? floats<F32>(n) : floats<F16>(n);
  if (as == As::element || format.bits == 32) return elements(format);
  if (as == As::srgb && format.bits == 8 && format.kind == Kind::unsigned_integer) return srgb(n);
  if (format.kind == Kind::unsigned_integer)
    return format.bits == 8 ? integers<U8>(n) : integers<U16>(n);
  return format.bits == 8 ? integers<S8>(n) : integers<S16>(n);
}

}  // namespace inflight::texture
