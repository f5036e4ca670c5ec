// Computes the addresses of a warp's lanes, using AVX2 if the host has it. Every observed access,
// every copy and every operation on an mbarrier begins with this.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "gpu/machine/run/access.hpp"

#ifdef __x86_64__
#  include <immintrin.h>
#endif

namespace inflight::machine {
namespace {

// What is added to each lane's register, and the bits of the sum that count.
struct Sum {
  std::uint64_t offset, keep;
};

// Compiled for each instruction set, as vectors of that set.
template <class T>
[[gnu::always_inline]] inline void add(const T* __restrict from, const Sum& sum,
                                       std::uint64_t* __restrict to) {
  for (int l = 0; l < lanes; ++l) to[l] = (from[l] + sum.offset) & sum.keep;
}

template <class T>
using Add = void (*)(const T*, const Sum&, std::uint64_t*);

template <class T>
void add_plain(const T* from, const Sum& sum, std::uint64_t* to) {
  add(from, sum, to);
}

// Sets `to` to the low bits of the sums, which are only right if all have 16 bits. Returns 0 if so.
std::uint32_t add_narrow_plain(const std::uint32_t* from, std::uint32_t offset, std::uint16_t* to) {
  std::uint32_t bits = 0;
  for (int l = 0; l < lanes; ++l) {
    const std::uint32_t sum = from[l] + offset;
    bits |= sum;
    to[l] = static_cast<std::uint16_t>(sum);
  }
  return bits >> 16;
}

bool is_row_plain(const std::uint64_t* addresses, std::uint64_t bytes) {
  std::uint64_t differ = 0;
  for (std::uint64_t l = 0; l < lanes; ++l) differ |= addresses[l] ^ (addresses[0] + l * bytes);
  return differ == 0;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) std::uint32_t add_narrow_avx2(const std::uint32_t* from,
                                                              std::uint32_t offset,
                                                              std::uint16_t* to) {
  const __m256i more = _mm256_set1_epi32(static_cast<int>(offset));
  __m256i bits = _mm256_setzero_si256();
  for (int l = 0; l < lanes; l += 16) {
    const auto* const at = reinterpret_cast<const __m256i*>(from + l);
    const __m256i low = _mm256_add_epi32(_mm256_loadu_si256(at), more),
                  high = _mm256_add_epi32(_mm256_loadu_si256(at + 1), more);
    bits = _mm256_or_si256(bits, _mm256_or_si256(low, high));
    // Packing takes four lanes of each in turn.
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + l), packed);
  }
  return _mm256_testz_si256(bits, _mm256_set1_epi32(static_cast<int>(0xffff0000u))) ? 0 : 1;
}

__attribute__((target("avx2"))) bool is_row_avx2(const std::uint64_t* addresses,
                                                 std::uint64_t bytes) {
  const auto at = [&](std::uint64_t lane) {
    return static_cast<long long>(addresses[0] + lane * bytes);
  };
  __m256i expected = _mm256_setr_epi64x(at(0), at(1), at(2), at(3));
  const __m256i four = _mm256_set1_epi64x(static_cast<long long>(4 * bytes));
  __m256i differ = _mm256_setzero_si256();
  for (int l = 0; l < lanes; l += 4) {
    const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(addresses + l));
    differ = _mm256_or_si256(differ, _mm256_xor_si256(there, expected));
    expected = _mm256_add_epi64(expected, four);
  }
  return _mm256_testz_si256(differ, differ) != 0;
}

const auto add_narrow_here = __builtin_cpu_supports("avx2") ? add_narrow_avx2 : add_narrow_plain;
const auto is_row_here = __builtin_cpu_supports("avx2") ? is_row_avx2 : is_row_plain;

template <class T>
__attribute__((target("avx2"))) void add_avx2(const T* from, const Sum& sum, std::uint64_t* to) {
  add(from, sum, to);
}
template <class T>
const Add<T> add_here = __builtin_cpu_supports("avx2") ? add_avx2<T> : add_plain<T>;
#else
template <class T>
constexpr Add<T> add_here = add_plain<T>;
constexpr auto add_narrow_here = add_narrow_plain;
constexpr auto is_row_here = is_row_plain;
#endif

// An address operand: its register, or no_ref, and what is added.
struct Operand {
  Ref base;
  bool wide;  // the register has 64 bits
  std::int64_t offset;
};

[[gnu::always_inline]] inline void form(const Warp& w, const Operand& operand, ptx::Space space,
                                        std::uint64_t (&out)[lanes]) {
  const Sum sum{static_cast<std::uint64_t>(operand.offset), address_bits(space)};
  if (operand.base == no_ref)
    std::fill(std::begin(out), std::end(out),
              (base_without_register(w, space) + sum.offset) & sum.keep);
  else if (operand.wide)
    add_here<std::uint64_t>(w.at<std::uint64_t>(operand.base), sum, out);
  else
    add_here<std::uint32_t>(w.at<std::uint32_t>(operand.base), sum, out);
}

}  // namespace

void lane_addresses(const Warp& w, const Op* op, ptx::Space space, std::uint64_t (&out)[lanes]) {
  form(w, {op->a, (op->flags & Op::address_64) != 0, op->imm}, space, out);
}

void second_addresses(const Warp& w, const Op* op, ptx::Space space, std::uint64_t (&out)[lanes]) {
  const auto offset = static_cast<std::int32_t>(op->extra);
  form(w, {op->d, (op->flags & Op::second_address_64) != 0, offset}, space, out);
}

bool narrow_addresses(const Warp& w, const Op* op, std::uint32_t mask,
                      std::array<std::uint16_t, lanes>& out) {
  using Address = AddressIn<ptx::Space::shared>;
  const auto offset = static_cast<Address>(op->imm);
  if (op->a == no_ref) {
    const Address at = base_without_register(w, ptx::Space::shared) + offset;
    out.fill(static_cast<std::uint16_t>(at));
    return at >> 16 == 0;
  }
  if (op->flags & Op::address_64) return false;
  const auto* const from = w.at<Address>(op->a);
  if (add_narrow_here(from, offset, out.data()) == 0) return true;
  Address bits = 0;  // of the lanes that take part
  for (std::size_t l = 0; l < lanes; ++l) {
    const Address at = from[l] + offset;
    out[l] = static_cast<std::uint16_t>(at);
    if (mask >> l & 1) bits |= at;
  }
  return bits >> 16 == 0;
}

bool is_row(const std::uint64_t (&addresses)[lanes], std::uint32_t bytes) {
  return addresses[1] - addresses[0] == bytes && is_row_here(addresses, bytes);
}

}  // namespace inflight::machine
