// The interpolator of an H100's multifunction unit (MUFU), and its reciprocals, to the bit. It
// works as S. Oberman and M. Siu describe in "A High-Performance Area-Efficient Multifunction
// Interpolator" (ARITH-17, 2005).
//
// The upper bits of an argument choose a segment of its function, a row of a table. The 17 bits
// below, x, are the place in the segment. The unit adds C0 + C1 x + C2 x^2 and a constant exactly,
// but with a truncated square, and cuts the sum off after the result's bits. Here sums are in two
// words, as the vectors of most processors have no products of 64 bits.
//
// All functions are inlined, so they use the instruction set for which the caller is compiled.
#pragma once
#include "gpu/numbers/small_floats.hpp"

namespace inflight::numbers::multifunction {

// x^2 / 2^19 without the partial products below 1. The bits a > b of x make the product
// 2^(a + b + 1), and a bit alone 2^(2 a). All fits in 16 bits, of which vectors hold the most.
[[gnu::always_inline]] inline std::uint32_t square(std::uint32_t x) {
  const std::uint16_t upper = static_cast<std::uint16_t>(x >> 9),
                      lower = static_cast<std::uint16_t>(x & 511);
  std::uint16_t sum = static_cast<std::uint16_t>(static_cast<std::uint16_t>(upper * upper) >> 1);
  // Two bits of `upper` at a time: with the lower bits that count for both, and with the one that
  // counts for the higher only.
  for (int a = 0; a < 8; a += 2) {
    const std::uint16_t both = static_cast<std::uint16_t>((upper >> a & 3) * (lower >> (9 - a)));
    const std::uint16_t higher =
        static_cast<std::uint16_t>(upper >> (a + 1) & lower >> (8 - a) & 1);
    sum = static_cast<std::uint16_t>(sum + both + higher);
  }
  return sum;
}

// The sum is high 2^8 + low.
struct Sum {
  std::uint32_t high, low;
};
// C0 counts 2^Unit. C1 and C2 have the signs given.
template <int Unit, int Sign1, int Sign2, std::int32_t Constant>
[[gnu::always_inline]] inline Sum interpolate(const std::uint64_t* rows, std::uint32_t segment,
                                              std::uint32_t x) {
  const std::uint64_t row = rows[segment];
  const std::uint32_t upper = static_cast<std::uint32_t>(row >> 32),
                      lower = static_cast<std::uint32_t>(row);
  const std::uint32_t c0 = upper >> 4;
  const std::int32_t c1 = Sign1 * static_cast<std::int32_t>((upper & 15) << 16 | lower >> 16);
  const std::int32_t c2 = Sign2 * static_cast<std::int32_t>(lower & 0xffff);
  const std::int32_t low = c1 * static_cast<std::int32_t>(x & 255) +
                           c2 * static_cast<std::int32_t>(square(x)) + Constant;
  const std::uint32_t high = (c0 << (Unit - 8)) +
                             static_cast<std::uint32_t>(c1 * static_cast<std::int32_t>(x >> 8)) +
                             static_cast<std::uint32_t>(low >> 8);
  return {high, static_cast<std::uint32_t>(low) & 255};
}

// 1/x of x in [1, 2). A row has C0, |C1| and |C2| of a segment in 7, 5 and 4 hexadecimal digits.
inline constexpr std::uint64_t reciprocals[128] = {
    0x4000000'0fffe'07ea, 0x3f80fe2'0fc0a'07ba, 0x3f03f06'0f82d'078c, 0x3e88cb5'0f467'0762,
    0x3e0f83e'0f0b6'0736, 0x3d980f8'0ed1b'070c, 0x3d22638'0e995'06e6, 0x3cae75a'0e622'06be,
    0x3c3c3c4'0e2c3'069a, 0x3bcbade'0df77'0676, 0x3b5cc11'0dc3d'0652, 0x3aef6cb'0d914'062e,
    0x3a83a85'0d5fd'060c, 0x3a196b4'0d2f7'05ec, 0x39b0ad3'0d001'05cc, 0x3949662'0cd1b'05ae,
    0x38e38e5'0ca44'058e, 0x387f1e2'0c77c'0570, 0x381c0e2'0c4c3'0554, 0x37ba572'0c218'053a,
    0x3759f23'0bf7b'0520, 0x36fad89'0bceb'0504, 0x369d037'0ba69'04ee, 0x36406ca'0b7f3'04d4,
    0x35e50d9'0b589'04ba, 0x358ae06'0b32c'04a4, 0x3531dee'0b0da'048c, 0x34da036'0ae94'0478,
    0x3483486'0ac59'0462, 0x342da81'0aa28'044a, 0x33d91d5'0a803'0438, 0x3385a2b'0a5e7'0422,
    0x3333335'0a3d6'040e, 0x32e1ca1'0a1cf'03fc, 0x3291620'09fd1'03ea, 0x3241f6b'09ddc'03d4,
    0x31f3833'09bf1'03c4, 0x31a6034'09a0f'03b4, 0x3159724'09835'03a2, 0x310dcc1'09664'0392,
    0x30c30c5'0949b'0382, 0x30792f1'092da'0372, 0x3030305'09121'0362, 0x2fe80c2'08f70'0354,
    0x2fa0bea'08dc6'0344, 0x2f5a443'08c24'0338, 0x2f14992'08a88'0326, 0x2ecfb9e'088f4'031a,
    0x2e8ba31'08767'030c, 0x2e48511'085e0'02fe, 0x2e05c0c'08460'02f2, 0x2dc3ef0'082e7'02e6,
    0x2d82d85'08174'02dc, 0x2d4279c'08006'02cc, 0x2d02d04'07e9f'02c2, 0x2cc3d8e'07d3e'02b8,
    0x2c8590d'07be2'02aa, 0x2c47f52'07a8d'02a2, 0x2c0b02e'0793c'0296, 0x2bceb78'077f1'028c,
    0x2b93107'076ab'0280, 0x2b580b0'0756b'0278, 0x2b1da49'0742f'026c, 0x2ae3da9'072f8'0262,
    0x2aaaaac'071c7'025c, 0x2a7212c'0709a'0252, 0x2a3a100'06f71'0246, 0x2a02a04'06e4d'023e,
    0x29cbc17'06d2e'0236, 0x2995712'06c13'022e, 0x295fad6'06afc'0224, 0x292a73f'069ea'021e,
    0x28f5c2b'068db'0214, 0x28c197b'067d1'020e, 0x288df0e'066ca'0204, 0x285acc6'065c8'0200,
    0x2828285'064c9'01f6, 0x27f602a'063ce'01f0, 0x27c459a'062d6'01e6, 0x27932b6'061e2'01e0,
    0x2762764'060f2'01da, 0x2732388'06005'01d2, 0x2702705'05f1c'01ce, 0x26d31c1'05e35'01c4,
    0x26a43a1'05d52'01be, 0x2675c8d'05c73'01bc, 0x2647c6b'05b96'01b4, 0x261a322'05abc'01ac,
    0x25ed09a'059e6'01a8, 0x25c04bb'05912'01a0, 0x2593f6b'05841'019a, 0x2568098'05774'0198,
    0x253c827'056a8'018e, 0x2511604'055e0'018a, 0x24e6a19'0551b'0188, 0x24bc450'05458'0182,
    0x2492494'05397'017a, 0x2468ad1'052d9'0174, 0x243f6f3'0521e'0170, 0x24168e3'05165'016c,
    0x23ee092'050af'0168, 0x23c5de9'04ffb'0164, 0x239e0d7'04f49'015e, 0x237694a'04e9a'015a,
    0x234f72e'04ded'0156, 0x2328a71'04d42'0152, 0x2302304'04c99'014c, 0x22dc0d3'04bf3'014a,
    0x22b63ce'04b4e'0142, 0x2290be4'04aac'0140, 0x226b904'04a0c'013e, 0x2246b1f'0496d'0136,
    0x2222224'048d1'0134, 0x21fde04'04837'0132, 0x21d9eaf'0479e'012c, 0x21b6418'04708'012a,
    0x2192e2c'04673'0126, 0x216fcdf'045e0'0122, 0x214d024'0454f'011e, 0x212a7e8'044c0'011e,
    0x2108423'04432'0118, 0x20e64c4'043a6'0114, 0x20c49bd'0431c'0112, 0x20a3301'04293'010e,
    0x2082084'0420c'010a, 0x2061239'04187'0108, 0x2040811'04103'0106, 0x2020203'04081'0104};

// 2^24 / (1 + fraction 2^-23) - 2^23.
[[gnu::always_inline]] inline std::uint32_t reciprocal_part(std::uint32_t fraction) {
  const Sum s = interpolate<14, -1, 1, 4046>(reciprocals, fraction >> 16, (fraction & 0xffff) << 1);
  return (s.high ^ 0x80000000) >> 8;
}
// Subnormal arguments and results become zeros.
[[gnu::always_inline]] inline float reciprocal(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t exponent = bits >> 23 & 255;
  const std::uint32_t r = reciprocal_part(bits & 0x7fffff) + ((253 - exponent) << 23);
  const std::uint32_t normal = select(static_cast<std::int32_t>(r) < 0x00800000, 0, r);
  const std::uint32_t magnitude = select(exponent == 0, f32_infinity, normal);
  return std::bit_cast<float>(
      select(is_nan(bits), f32_magnitude, magnitude | (bits & ~f32_magnitude)));
}

}  // namespace inflight::numbers::multifunction
