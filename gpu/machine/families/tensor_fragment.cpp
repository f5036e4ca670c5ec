// Registers of a warp <-> matrices.
#include "gpu/machine/families/tensor_fragment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace inflight::machine {
namespace {

using Of = TensorUse::Of;
using tensor::Element;

constexpr int side = 8, lanes_a_line = lanes / side;

// A block of A or B: four words of each of eight lines.
template <class Word>
void gather_block(const Word* block, Word* out, int line_words) {
  for (int line = 0; line < side; ++line)
    std::memcpy(out + line * line_words, block + line * lanes_a_line, lanes_a_line * sizeof(Word));
}
template <class Word>
void gather_lines(const Warp& w, const Ref* registers, const Fragment& f, Word* out) {
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

// Accumulators: halves lie in one register, others in two.
template <class T>
struct Pair {
  T *first, *second;
  int stride;  // from lane to lane
};
template <class T>
Pair<T> pair_of(Warp& w, const Ref* registers, const Fragment& f, int block, int beside) {
  const int at = f.index(block, beside);
  T* const first = w.at<T>(registers[at]);
  if (f.registers_a_block() == 1) return {first, first + 1, 2};
  return {first, w.at<T>(registers[at + 1]), 1};
}
template <class T, class Move>
void each_pair(Warp& w, const Ref* registers, const Fragment& f, Move move) {
  for (int b = 0; b < f.lines / side; ++b)
    for (int p = 0; p < f.width; ++p) {
      const Pair<T> pair = pair_of<T>(w, registers, f, b, p);
      for (int t = 0; t < lanes_a_line; ++t)
        for (int g = 0; g < side; ++g) {
          const int lane = g * lanes_a_line + t;
          const int at = (p * side + 2 * t) * f.lines + b * side + g;
          move(lane, pair.first[lane * pair.stride], at);
          move(lane, pair.second[lane * pair.stride], at + f.lines);
        }
    }
}
template <class T>
void gather_pairs(const Warp& w, const Ref* registers, const Fragment& f, void* out) {
  auto* const to = static_cast<T*>(out);
  each_pair<T>(const_cast<Warp&>(w), registers, f,
               [to](int, const T& value, int at) { to[at] = value; });
}
template <class T>
void spread_pairs(Warp& w, const Ref* registers, const Fragment& f, const void* from) {
  const auto* const values = static_cast<const T*>(from);
  if (w.mask == all_lanes)
    return each_pair<T>(w, registers, f, [values](int, T& value, int at) { value = values[at]; });
  each_pair<T>(w, registers, f, [&w, values](int lane, T& value, int at) {
    if (w.mask >> lane & 1) value = values[at];
  });
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
  Fragment f{a ? p.a : p.b, a ? p.m : p.n};
  f.width = words_of(f.element, a ? p.values() : p.k) / lanes_a_line;
  f.tall = a ? std::min(2, p.m / side) : 1;
  constexpr int registers_of_halves = 8;
  if (use.wmma && f.element == Element::f16) f.copies = registers_of_halves / f.registers();
  return f;
}

void gather(const Warp& w, const Ref* registers, const Fragment& f, void* out) {
  if (!f.pairs && f.word_bytes() == 4)
    gather_lines(w, registers, f, static_cast<std::uint32_t*>(out));
  else if (!f.pairs)
    gather_lines(w, registers, f, static_cast<std::uint64_t*>(out));
  else if (f.element == Element::f16)
    gather_pairs<std::uint16_t>(w, registers, f, out);
  else if (f.element == Element::f64)
    gather_pairs<std::uint64_t>(w, registers, f, out);
  else
    gather_pairs<std::uint32_t>(w, registers, f, out);
}

void spread(Warp& w, const Ref* registers, const Fragment& f, const void* from) {
  if (!f.pairs && f.word_bytes() == 4)
    spread_lines(w, registers, f, static_cast<const std::uint32_t*>(from));
  else if (!f.pairs)
    spread_lines(w, registers, f, static_cast<const std::uint64_t*>(from));
  else if (f.element == Element::f16)
    spread_pairs<std::uint16_t>(w, registers, f, from);
  else if (f.element == Element::f64)
    spread_pairs<std::uint64_t>(w, registers, f, from);
  else
    spread_pairs<std::uint32_t>(w, registers, f, from);
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
