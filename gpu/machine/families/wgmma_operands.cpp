// Gathers the operands of a wgmma, multiplies, and writes the result to four warps' registers (PTX
// ISA, "Register Fragments and Shared Memory Matrix Layouts" of each shape).
#include "gpu/machine/families/wgmma_operands.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {
namespace {

using async::Major;
using async::swizzle_chunk;
using tensor::Element;

constexpr std::uint32_t rows = async::warps_of_group * rows_a_warp;
constexpr std::uint32_t row_bytes_a = 32;  // sparse or not
constexpr std::uint32_t most_columns = 256, most_row_bytes_b = 64, most_values = 64;
constexpr std::uint32_t groups = 8,
                        threads_a_group = 4;  // of a warp's lanes: lane = 4 group + thread

// The matrices of one multiplication. 120 KB, so there is one for each host thread.
struct Matrices {
  alignas(64) std::byte a[rows * row_bytes_a];
  alignas(64) std::byte b[most_columns * most_row_bytes_b];
  alignas(64) std::uint32_t d[most_columns * rows];  // or half as many 16-bit values
  std::uint8_t columns[rows * most_values];
};

std::uint32_t element_bytes(Element e) { return tensor::format(e).bits / 8u; }

std::uint32_t row_bytes_b(const tensor::Product& p) {
  return static_cast<std::uint32_t>(p.k) * tensor::format(p.b).bits / 8u;
}

SharedOperand operand(std::uint64_t bits, Major major, std::uint32_t mn, std::uint32_t k_bytes) {
  SharedOperand o{async::matrix_descriptor(bits), major, mn, k_bytes / swizzle_chunk};
  // MN-major operands have 16-bit elements.
  if (major == Major::mn) o.lines = k_bytes / 2, o.chunks = mn * 2 / swizzle_chunk;
  return o;
}

// Reads a chunk; beyond the block's shared memory it is zeros. The issue has checked the ends, so
// only a swizzle or a wrap leads there.
void read_chunk(const Block& block, std::uint32_t address, void* to) {
  if (address + swizzle_chunk <= block.shared_end)
    std::memcpy(to, block.shared + address, swizzle_chunk);
  else
    std::memset(to, 0, swizzle_chunk);
}

// Copies an operand to rows along k.
void gather(const Block& block, const SharedOperand& o, std::byte* to) {
  if (o.major == Major::k) {
    for (std::uint32_t line = 0; line < o.lines; ++line)
      for (std::uint32_t chunk = 0; chunk < o.chunks; ++chunk, to += swizzle_chunk)
        read_chunk(block, o.address(line, chunk), to);
    return;
  }
  constexpr std::uint32_t values = swizzle_chunk / 2;
  auto* const out = reinterpret_cast<std::uint16_t*>(to);
  for (std::uint32_t k = 0; k < o.lines; ++k)
    for (std::uint32_t chunk = 0; chunk < o.chunks; ++chunk) {
      std::uint16_t read[values];
      read_chunk(block, o.address(k, chunk), read);
      for (std::uint32_t i = 0; i < values; ++i) out[(chunk * values + i) * o.lines + k] = read[i];
    }
}

// Copies A from registers. Register i has row `group` or the row 8 below, and the bytes of `thread`
// in the first or second half of the row.
void gather_fragments(const async::Multiplication& m, std::byte* to) {
  for (std::uint32_t w = 0; w < async::warps_of_group; ++w)
    for (std::uint32_t i = 0; i < WgmmaUse::fragments; ++i) {
      const async::RegisterLanes& lanes_of = m.fragment(w, i);
      for (std::uint32_t g = 0; g < groups; ++g) {
        const std::uint32_t row = w * rows_a_warp + i % 2 * groups + g;
        std::memcpy(to + row * row_bytes_a + i / 2 * 16, &lanes_of[g * threads_a_group], 16);
      }
    }
}

// --- accumulators: two or four registers hold eight columns; a thread has two adjacent ones ---

// f32 and s32: registers in the order of the column in the pair, then the row (`group`, or 8
// below), then the eight columns.
struct Words {
  static constexpr std::uint32_t registers = 4;  // for eight columns
  static void move(std::uint32_t* d, async::RegisterLanes& r, std::uint32_t i, std::uint32_t row,
                   std::uint32_t column, bool to_registers) {
    std::uint32_t* const first = d + (column + i % 2) * rows + row + i / 2 * groups;
    for (std::uint32_t t = 0; t < threads_a_group; ++t)
      for (std::uint32_t g = 0; g < groups; ++g) {
        std::uint32_t& there = first[t * 2 * rows + g];
        std::uint32_t& here = r[g * threads_a_group + t];
        to_registers ? void(here = there) : void(there = here);
      }
  }
};
// f16: a register has both columns.
struct Halves {
  static constexpr std::uint32_t registers = 2;
  static void move(std::uint32_t* d, async::RegisterLanes& r, std::uint32_t i, std::uint32_t row,
                   std::uint32_t column, bool to_registers) {
    auto* const first = reinterpret_cast<std::uint16_t*>(d) + column * rows + row + i * groups;
    for (std::uint32_t t = 0; t < threads_a_group; ++t)
      for (std::uint32_t g = 0; g < groups; ++g) {
        std::uint16_t* const there = first + t * 2 * rows + g;
        std::uint32_t& here = r[g * threads_a_group + t];
        if (to_registers)
          here = there[0] | std::uint32_t{there[rows]} << 16;
        else
          there[0] = static_cast<std::uint16_t>(here),
          there[rows] = static_cast<std::uint16_t>(here >> 16);
      }
  }
};

template <class Layout>
void move_accumulators(const async::Multiplication& m, std::uint32_t warp, std::uint32_t* d,
                       bool to_registers) {
  const std::size_t count = m.issue.accumulators.size();
  for (std::uint32_t i = 0; i < count; ++i)
    Layout::move(d, m.accumulator(warp, i), i % Layout::registers, warp * rows_a_warp,
                 i / Layout::registers * 8, to_registers);
}

void move_accumulators(const async::Multiplication& m, const tensor::Product& p, std::uint32_t warp,
                       std::uint32_t* d, bool to_registers) {
  if (p.d == Element::f16)
    move_accumulators<Halves>(m, warp, d, to_registers);
  else
    move_accumulators<Words>(m, warp, d, to_registers);
}

// Clears the rows of a warp that does not accumulate.
void clear_rows(const tensor::Product& p, std::uint32_t warp, std::uint32_t* d) {
  const std::uint32_t bytes = element_bytes(p.d);
  auto* const at = reinterpret_cast<std::byte*>(d) + warp * rows_a_warp * bytes;
  for (int column = 0; column < p.n; ++column)
    std::memset(at + static_cast<std::uint32_t>(column) * rows * bytes, 0, rows_a_warp * bytes);
}

// Returns false if no warp accumulates.
bool gather_accumulators(const async::Multiplication& m, const tensor::Product& p,
                         std::uint32_t* d) {
  const auto accumulates = [](const auto& part) { return part.accumulates; };
  if (std::none_of(m.parts.begin(), m.parts.end(), accumulates)) return false;
  for (std::uint32_t w = 0; w < async::warps_of_group; ++w)
    if (m.parts[w].accumulates)
      move_accumulators(m, p, w, d, false);
    else
      clear_rows(p, w, d);
  return true;
}

// --- sparsity: each value's column. Two of four values are stored, or one of two for tf32. Four
// bits of metadata give their positions ---

// The four bits of a chunk. A thread of the group has 16 bits each for row `group` and the row 8
// below. For 8-bit elements it has 32 bits for one of these rows.
std::uint32_t metadata_of(const async::Multiplication& m, const WgmmaUse& use, std::uint32_t row,
                          std::uint32_t chunk) {
  const std::uint32_t warp = row / rows_a_warp, in_warp = row % rows_a_warp;
  const std::uint32_t below = in_warp / groups;
  const bool one_row = element_bytes(use.product.a) == 1;
  const std::uint32_t thread = one_row ? below + chunk / 8 * 2 : use.selector * 2u + chunk / 4;
  const std::uint32_t at = one_row ? chunk % 8 : below * 4 + chunk % 4;
  const std::uint32_t lane = in_warp % groups * threads_a_group + thread;
  return m.fragment(warp, m.issue.fragments.size() - 1)[lane] >> at * 4 & 0xf;
}

void find_columns(const async::Multiplication& m, const WgmmaUse& use, std::uint8_t* columns) {
  const bool pairs = element_bytes(use.product.a) == 4;  // one of two
  const std::uint32_t values = static_cast<std::uint32_t>(use.product.values());
  const std::uint32_t a_chunk = pairs ? 1 : 2, span = 2 * a_chunk;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t i = 0; i < values; ++i) {
      const std::uint32_t chunk = i / a_chunk;
      const std::uint32_t bits = metadata_of(m, use, row, chunk);
      // In a pair, 0b0100 selects the first value and 0b1110 the second.
      const std::uint32_t at = pairs ? bits >> 3 : bits >> i % 2 * 2 & 3;
      *columns++ = static_cast<std::uint8_t>(chunk * span + at);
    }
}

}  // namespace

SharedOperand operand_a(const WgmmaUse& use, std::uint64_t descriptor) {
  return operand(descriptor, use.a_major, rows, row_bytes_a);
}
SharedOperand operand_b(const WgmmaUse& use, std::uint64_t descriptor) {
  return operand(descriptor, use.b_major, static_cast<std::uint32_t>(use.product.n),
                 row_bytes_b(use.product));
}

void multiply_warpgroup(const async::Multiplication& m) {
  static thread_local Matrices at;
  const auto& use = use_of<WgmmaUse>(static_cast<const Op*>(m.issue.what));
  const auto& block = *static_cast<const Block*>(m.issue.context);
  const tensor::Product& p = use.product;
  if (use.a_in_registers)
    gather_fragments(m, at.a);
  else
    gather(block, operand_a(use, m.issue.a), at.a);
  gather(block, operand_b(use, m.issue.b), at.b);
  if (p.sparse) find_columns(m, use, at.columns);
  // A multiplication that continues another one finds its accumulators still in `at.d`.
  const bool accumulates = (m.goes_on && m.parts[0].accumulates) || gather_accumulators(m, p, at.d);
  constexpr int sm = 90;  // the only one that has wgmma
  tensor::multiply(tensor::numerics_of(sm), p,
                   {.a = at.a,
                    .b = at.b,
                    .c = accumulates ? at.d : nullptr,
                    .d = at.d,
                    .columns = p.sparse ? at.columns : nullptr});
  if (m.is_followed) return;
  for (std::uint32_t w = 0; w < async::warps_of_group; ++w) move_accumulators(m, p, w, at.d, true);
}

}  // namespace inflight::machine
