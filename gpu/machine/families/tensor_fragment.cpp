// Copies matrices between a warp's registers and gpu/tensor's layout.
#include "gpu/machine/families/tensor_fragment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace inflight::machine {
namespace {

using Of = TensorUse::Of;
using tensor::Element;

constexpr int side = 8, lanes_a_line = lanes / side;

// Copies a block of A or B: four words of each of eight lines.
template <class Word>
void gather_block(const Word* block, Word* out, int line_words) {
  for (int line = 0; line < side; ++line)
    std::memcpy(out + line * line_words, block + line * lanes_a_line, lanes_a_line * sizeof(Word));
}
template <class Word>
[[gnu::always_inline]] inline void gather_lines(const Warp& w, const Ref* registers,
                                                const Fragment& f, Word* out) {
  const int words = f.width * lanes_a_line;
  for (int b = 0; b < f.lines / side; ++b)
    for (int p = 0; p < f.width; ++p)
      gather_block(w.at<Word>(registers[f.index(b, p)]), out + b * side * words + p * lanes_a_line,
                   words);
}
template <class Word>
void spread_lines(Warp& w, const Ref* registers, const Fragment& f, const Word* from) {
  const int words = f.width * lanes_a_line;
  for (int b = 0; b < f.lines / side; ++b)
    for (int p = 0; p < f.width; ++p) {
      const Word* const block = from + b * side * words + p * lanes_a_line;
      for (int copy = 0; copy < f.copies; ++copy) {
        Word* const to = w.at<Word>(registers[copy * f.registers() + f.index(b, p)]);
        for (int l = 0; l < lanes; ++l)
          if (w.mask >> l & 1) to[l] = block[l / lanes_a_line * words + l % lanes_a_line];
      }
    }
}

// Accumulators of 32 bits take two registers a block. They are moved in squares of four rows by the
// four lanes of a row. A square is transposed: adjacent words belong to adjacent lanes in a
// register, and to adjacent rows in the matrix.
using Words [[gnu::vector_size(16)]] = std::uint32_t;

template <class V, class T>
V load(const T* at) {
  V v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <class V, class T>
void store(T* at, V v) {
  std::memcpy(at, &v, sizeof v);
}

[[gnu::always_inline]] inline void transpose(Words (&v)[lanes_a_line]) {
  const Words a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5),
              b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5),
              c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7),
              d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Calls move(words, lane, at) for each square: its register, its first lane, and the index of its
// first element in the matrix. The columns of adjacent lanes are two columns apart.
template <class Move>
[[gnu::always_inline]] inline void each_square(Warp& w, const Ref* registers, const Fragment& f,
                                               Move move) {
  constexpr int square = 4;
  for (int b = 0; b < f.lines / side; ++b)
    for (int p = 0; p < f.width; ++p)
      for (int column = 0; column < f.registers_a_block(); ++column) {
        auto* const words = w.at<std::uint32_t>(registers[f.index(b, p) + column]);
        const int at = (p * side + column) * f.lines + b * side;
        move(words, 0, at);
        move(words, square * lanes_a_line, at + square);
      }
}
[[gnu::always_inline]] inline void gather_words(const Warp& w, const Ref* registers,
                                                const Fragment& f, std::uint32_t* out) {
  each_square(const_cast<Warp&>(w), registers, f,
              [&f, out](const std::uint32_t* words, int lane, int at) {
                Words v[lanes_a_line];
                for (int i = 0; i < lanes_a_line; ++i)
                  v[i] = load<Words>(words + lane + i * lanes_a_line);
                transpose(v);
                for (int t = 0; t < lanes_a_line; ++t) store(out + at + 2 * t * f.lines, v[t]);
              });
}
// Writes the words of one row to a register, from lane `first` on. Inactive lanes keep their
// values.
[[gnu::always_inline]] inline void put(const Warp& w, std::uint32_t* words, Words v, int first) {
  if (w.mask == all_lanes) [[likely]]
    return store(words + first, v);
  for (int t = 0; t < lanes_a_line; ++t)
    if (w.mask >> (first + t) & 1) words[first + t] = v[t];
}
[[gnu::always_inline]] inline void spread_words(Warp& w, const Ref* registers, const Fragment& f,
                                                const std::uint32_t* from) {
  each_square(w, registers, f, [&](std::uint32_t* words, int lane, int at) {
    Words v[lanes_a_line];
    for (int t = 0; t < lanes_a_line; ++t) v[t] = load<Words>(from + at + 2 * t * f.lines);
    transpose(v);
    for (int i = 0; i < lanes_a_line; ++i) put(w, words, v[i], lane + i * lanes_a_line);
  });
}

// Accumulators of 16 bits take one register a block. A row's four lanes hold its eight columns.
using Halves [[gnu::vector_size(16)]] = std::uint16_t;

// Each step interleaves the upper four rows with the lower four, which rotates the bits of an
// element's index by one. After three steps the indices of row and column have changed places.
[[gnu::always_inline]] inline void transpose(Halves (&v)[side]) {
  for (int step = 0; step < 3; ++step) {
    Halves next[side];
    for (int i = 0; i < side / 2; ++i) {
      const Halves a = v[i], b = v[i + side / 2];
      next[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < side; ++i) v[i] = next[i];
  }
}
// Calls move(words, at) for each block: its register, and the index of its first element in the
// matrix.
template <class Move>
[[gnu::always_inline]] inline void each_block(Warp& w, const Ref* registers, const Fragment& f,
                                              Move move) {
  for (int b = 0; b < f.lines / side; ++b)
    for (int p = 0; p < f.width; ++p)
      move(w.at<std::uint32_t>(registers[f.index(b, p)]), p * side * f.lines + b * side);
}
[[gnu::always_inline]] inline void gather_halves(const Warp& w, const Ref* registers,
                                                 const Fragment& f, std::uint16_t* out) {
  each_block(const_cast<Warp&>(w), registers, f, [&f, out](const std::uint32_t* words, int at) {
    Halves v[side];
    for (int i = 0; i < side; ++i) v[i] = load<Halves>(words + i * lanes_a_line);
    transpose(v);
    for (int i = 0; i < side; ++i) store(out + at + i * f.lines, v[i]);
  });
}
[[gnu::always_inline]] inline void spread_halves(Warp& w, const Ref* registers, const Fragment& f,
                                                 const std::uint16_t* from) {
  each_block(w, registers, f, [&](std::uint32_t* words, int at) {
    Halves v[side];
    for (int i = 0; i < side; ++i) v[i] = load<Halves>(from + at + i * f.lines);
    transpose(v);
    for (int i = 0; i < side; ++i) put(w, words, __builtin_bit_cast(Words, v[i]), i * lanes_a_line);
  });
}

// Calls move(lane, value, index in the matrix) for each accumulator of 64 bits.
template <class Move>
void each_double(Warp& w, const Ref* registers, const Fragment& f, Move move) {
  for (int b = 0; b < f.lines / side; ++b)
    for (int p = 0; p < f.width; ++p)
      for (int column = 0; column < f.registers_a_block(); ++column) {
        auto* const values = w.at<std::uint64_t>(registers[f.index(b, p) + column]);
        for (int lane = 0; lane < lanes; ++lane) {
          const int t = lane % lanes_a_line, g = lane / lanes_a_line;
          move(lane, values[lane], (p * side + 2 * t + column) * f.lines + b * side + g);
        }
      }
}
void gather_doubles(const Warp& w, const Ref* registers, const Fragment& f, std::uint64_t* out) {
  each_double(const_cast<Warp&>(w), registers, f,
              [out](int, const std::uint64_t& value, int at) { out[at] = value; });
}
void spread_doubles(Warp& w, const Ref* registers, const Fragment& f, const std::uint64_t* from) {
  each_double(w, registers, f, [&w, from](int lane, std::uint64_t& value, int at) {
    if (w.mask >> lane & 1) value = from[at];
  });
}

// Calls move(fragment). The compiler knows the shape if it is one of the usual ones.
template <class Move>
void by_shape(Fragment f, Move move) {
  constexpr struct {
    int lines, width, tall;
  } usual[] = {{16, 2, 2}, {16, 1, 2}, {8, 2, 1}, {8, 1, 1}};
  const auto is = [&f](const auto& u) {
    return f.lines == u.lines && f.width == u.width && f.tall == u.tall;
  };
  const auto as = [&f](const auto& u) {
    Fragment known = f;
    known.lines = u.lines, known.width = u.width, known.tall = u.tall;
    return known;
  };
  if (is(usual[0])) return move(as(usual[0]));
  if (is(usual[1])) return move(as(usual[1]));
  if (is(usual[2])) return move(as(usual[2]));
  if (is(usual[3])) return move(as(usual[3]));
  move(f);
}

int words_of(Element e, int elements) {
  return elements * tensor::format(e).bits / (e == Element::f64 ? 64 : 32);
}

}  // namespace

Fragment accumulator_of(const TensorUse& use, Element element) {
  const tensor::Product& p = use.product;
  return {element, p.m, p.n / side, std::min(2, p.m / side), 1, true};
}

Fragment fragment_of(const TensorUse& use, Of part) {
  const tensor::Product& p = use.product;
  if (part == Of::product || part == Of::accumulator) return accumulator_of(use, p.d);
  const bool a = part == Of::a;
  // Packed 4-bit floats are held as 4-bit integers are.
  Fragment f{use.packed ? Element::u4 : a ? p.a : p.b, a ? p.m : p.n};
  f.width = words_of(f.element, a ? p.values() : p.k) / lanes_a_line;
  f.tall = a ? std::min(2, p.m / side) : 1;
  constexpr int registers_of_halves = 8;
  if (use.wmma && f.element == Element::f16) f.copies = registers_of_halves / f.registers();
  return f;
}

void gather(const Warp& w, const Ref* registers, const Fragment& fragment, void* out) {
  by_shape(
      fragment, [&w, registers, out ](const Fragment& f) __attribute__((always_inline)) {
        if (!f.pairs && f.word_bytes() == 4)
          gather_lines(w, registers, f, static_cast<std::uint32_t*>(out));
        else if (!f.pairs)
          gather_lines(w, registers, f, static_cast<std::uint64_t*>(out));
        else if (f.element == Element::f16)
          gather_halves(w, registers, f, static_cast<std::uint16_t*>(out));
        else if (f.element == Element::f64)
          gather_doubles(w, registers, f, static_cast<std::uint64_t*>(out));
        else
          gather_words(w, registers, f, static_cast<std::uint32_t*>(out));
      });
}

void spread(Warp& w, const Ref* registers, const Fragment& fragment, const void* from) {
  by_shape(
      fragment, [&w, registers, from ](const Fragment& f) __attribute__((always_inline)) {
        if (!f.pairs && f.word_bytes() == 4)
          spread_lines(w, registers, f, static_cast<const std::uint32_t*>(from));
        else if (!f.pairs)
          spread_lines(w, registers, f, static_cast<const std::uint64_t*>(from));
        else if (f.element == Element::f16)
          spread_halves(w, registers, f, static_cast<const std::uint16_t*>(from));
        else if (f.element == Element::f64)
          spread_doubles(w, registers, f, static_cast<const std::uint64_t*>(from));
        else
          spread_words(w, registers, f, static_cast<const std::uint32_t*>(from));
      });
}

namespace {

// Matrices of m16n8k16 and of the other products of 16 x 8 with as many bits in a row of A.
constexpr Fragment usual_a{Element::f16, 16, 2, 2}, usual_b{Element::f16, 8, 2, 1};
constexpr Fragment usual_halves{Element::f16, 16, 1, 2, 1, true},
    usual_words{Element::f32, 16, 1, 2, 1, true};

const Fragment& usual_accumulator(Element e) {
  return e == Element::f16 ? usual_halves : usual_words;
}

bool same_shape(const Fragment& a, const Fragment& b) {
  return a.lines == b.lines && a.width == b.width && a.tall == b.tall && a.copies == b.copies &&
         a.pairs == b.pairs && a.word_bytes() == b.word_bytes();
}

}  // namespace

bool is_usual(const TensorUse& use) {
  const tensor::Product& p = use.product;
  const auto is_accumulator = [&](Element e) {
    return tensor::format(e).bits <= 32 && same_shape(accumulator_of(use, e), usual_accumulator(e));
  };
  return !p.sparse && same_shape(fragment_of(use, Of::a), usual_a) &&
         same_shape(fragment_of(use, Of::b), usual_b) && is_accumulator(p.c) && is_accumulator(p.d);
}

void gather_usual(const Warp& w, const TensorUse& use, const Ref* registers, void* a, void* b,
                  void* c) {
  const Ref* const from_a = registers + usual_accumulator(use.product.d).registers();
  const Ref* const from_b = from_a + usual_a.registers();
  const Ref* const from_c = from_b + usual_b.registers();
  gather_lines(w, from_a, usual_a, static_cast<std::uint32_t*>(a));
  gather_lines(w, from_b, usual_b, static_cast<std::uint32_t*>(b));
  if (use.product.c == Element::f16)
    gather_halves(w, from_c, usual_halves, static_cast<std::uint16_t*>(c));
  else
    gather_words(w, from_c, usual_words, static_cast<std::uint32_t*>(c));
}

void spread_usual(Warp& w, const TensorUse& use, const Ref* registers, const void* d) {
  if (use.product.d == Element::f16)
    spread_halves(w, registers, usual_halves, static_cast<const std::uint16_t*>(d));
  else
    spread_words(w, registers, usual_words, static_cast<const std::uint32_t*>(d));
}

bool bind_fragment(Lowering& lo, std::size_t operand, const Fragment& f, bool written,
                   std::vector<Ref>& refs) {
  const ptx::Operand& o = lo.operands[operand];
  const bool vector = o.kind == ptx::Operand::Kind::vector;
  const std::span<const ptx::Operand> list{vector ? lo.function.pool.data() + o.index : &o,
                                           vector ? o.count : std::size_t{1}};
  const int count = f.registers() * f.copies;
  if (list.size() != static_cast<std::size_t>(count))
    return lo.refuse(
        fmt::format("operand {} takes {} registers, not {}", operand + 1, count, list.size()));
  const ptx::Type type = f.element == Element::f64 ? ptx::Type::b64 : ptx::Type::b32;
  for (const ptx::Operand& each : list) {
    refs.push_back(written ? lo.destination(each, type) : lo.source(each, type));
    if (refs.back() == no_ref) return false;
  }
  return true;
}

}  // namespace inflight::machine
