// m8n8k4 of f16 and sparse metadata (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16" and
// "Sparse matrix storage").
#include "gpu/machine/families/tensor_quads.hpp"

#include "gpu/machine/families/tensor_fragment.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {
namespace {

using tensor::Element;

constexpr int side = 8, depth = 4, quads = 4;
using Half = std::uint16_t;

Fragment halves(int registers) {
  Fragment f;
  f.lines = side * registers, f.width = 1;
  return f;
}
// Eight elements a lane.
Fragment sums(Element e) { return halves(e == Element::f16 ? 4 : 8); }

// The lanes of quad q's product: 4q to 4q+3 and, as its upper half, 4q+16 to 4q+19.
int lane_of(int quad, int i) { return quad * 4 + i % 4 + i / 4 * 16; }

// Element i of a lane. Two halves share a register.
Half half_at(const Warp& w, const Ref* registers, int lane, int i) {
  return static_cast<Half>(w.at<std::uint32_t>(registers[i / 2])[lane] >> i % 2 * 16);
}

// Gathers A or B. If `lines`, a lane has the four elements of a line; else it has one column of the
// four lines of its half.
void gather_quad(const Warp& w, const Ref* registers, int quad, bool lines, Half* out) {
  for (int l = 0; l < side; ++l)
    for (int i = 0; i < depth; ++i) {
      const int line = lines ? l : l / 4 * 4 + i, k = lines ? i : l % 4;
      out[line * depth + k] = half_at(w, registers, lane_of(quad, l), i);
    }
}

struct Place {
  int row, column;
};
Place place_of(Element e, int l, int i) {
  if (e == Element::f16) return {l, i};
  return {(l & 1) + (i & 2) + l / 4 * 4, (i & 4) + (l & 2) + (i & 1)};
}
template <class Move>
void each_sum(Element e, Move move) {
  for (int l = 0; l < side; ++l)
    for (int i = 0; i < side; ++i) {
      const Place at = place_of(e, l, i);
      move(l, i, at.column * side + at.row);
    }
}

void gather_sums(const Warp& w, const Ref* registers, int quad, Element e, void* out) {
  each_sum(e, [&](int l, int i, int at) {
    if (e == Element::f16)
      static_cast<Half*>(out)[at] = half_at(w, registers, lane_of(quad, l), i);
    else
      static_cast<std::uint32_t*>(out)[at] = w.at<std::uint32_t>(registers[i])[lane_of(quad, l)];
  });
}
void spread_sums(Warp& w, const Ref* registers, int quad, Element e, const void* from) {
  each_sum(e, [&](int l, int i, int at) {
    const int lane = lane_of(quad, l);
    if (!(w.mask >> lane & 1)) return;
    if (e == Element::f16)
      w.at<Half>(registers[i / 2])[2 * lane + i % 2] = static_cast<const Half*>(from)[at];
    else
      w.at<std::uint32_t>(registers[i])[lane] = static_cast<const std::uint32_t*>(from)[at];
  });
}

// --- metadata ---

// Metadata is in pieces of 16 bits, and a lane holds one for each of two rows. For narrow elements
// it is in pieces of 32 bits, and a lane holds one for one row.
bool narrow(const tensor::Product& p) { return tensor::format(p.a).bits < 16; }
// The number of 2-bit indices of a row: tf32 has two for each value, 4-bit types one for two
// values.
int indices(const tensor::Product& p) {
  return p.a == Element::tf32            ? 2 * p.values()
         : tensor::format(p.a).bits == 4 ? p.values() / 2
                                         : p.values();
}
int pieces(const tensor::Product& p) { return indices(p) / (narrow(p) ? 16 : 8); }
int lanes_a_row(const tensor::Product& p) { return pieces(p) * (narrow(p) ? 2 : 1); }

// The bits of a piece of a row, in the low bits.
std::uint32_t piece_at(const tensor::Product& p, const std::uint32_t* metadata, int selector,
                       int row, int piece) {
  const int upper = row / side;
  const std::uint32_t* const quad = metadata + row % side * 4 + selector * lanes_a_row(p);
  return narrow(p) ? quad[2 * piece + upper] : quad[piece] >> 16 * upper;
}

}  // namespace

bool bind_quads(Lowering& lo, const TensorUse& use, std::vector<Ref>& refs) {
  return bind_fragment(lo, 0, sums(use.product.d), true, refs) &&
         bind_fragment(lo, 1, halves(2), false, refs) &&
         bind_fragment(lo, 2, halves(2), false, refs) &&
         bind_fragment(lo, 3, sums(use.product.c), false, refs);
}

void multiply_quads(Warp& w, const TensorUse& use, const Ref* registers) {
  const Ref* const a = registers + sums(use.product.d).registers();
  const Ref* const b = a + 2;
  const Ref* const c = b + 2;
  const auto& numerics = tensor::numerics_of(w.block->grid->limits->architecture);
  std::uint32_t results[quads][side * side];
  for (int q = 0; q < quads; ++q) {
    Half a_lines[side * depth], b_lines[side * depth];
    gather_quad(w, a, q, !use.a_by_columns, a_lines);
    gather_quad(w, b, q, !use.b_by_rows, b_lines);
    std::uint32_t sums[side * side];
    gather_sums(w, c, q, use.product.c, sums);
    tensor::multiply(numerics, use.product, {a_lines, b_lines, sums, results[q]});
  }
  for (int q = 0; q < quads; ++q) spread_sums(w, registers, q, use.product.d, results[q]);
}

int metadata_choices(const tensor::Product& product) { return 4 / lanes_a_row(product); }

void selected_columns(const tensor::Product& p, const std::uint32_t* metadata, int selector,
                      std::uint8_t* columns) {
  const int count = indices(p), a_piece = count / pieces(p);
  for (int row = 0; row < p.m; ++row)
    for (int i = 0; i < count; ++i) {
      const std::uint32_t bits = piece_at(p, metadata, selector, row, i / a_piece);
      const int at = i / 2 * 4 + static_cast<int>(bits >> 2 * (i % a_piece) & 3);
      std::uint8_t* const of_row = columns + row * p.values();
      if (p.a == Element::tf32) {
        of_row[i / 2] = static_cast<std::uint8_t>(at / 2);
      } else if (count < p.values()) {
        of_row[2 * i] = static_cast<std::uint8_t>(2 * at);
        of_row[2 * i + 1] = static_cast<std::uint8_t>(2 * at + 1);
      } else {
        of_row[i] = static_cast<std::uint8_t>(at);
      }
    }
}

}  // namespace inflight::machine
