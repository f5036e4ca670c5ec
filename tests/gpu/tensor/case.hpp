// A case of tensor_truth and its one line of text. Plain C++17.
#pragma once
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>

#include "pattern.hpp"

namespace tensor_truth {

constexpr unsigned most_dimensions = 6;  // one more than the maximum

// The arguments of an encoding; global_address is an offset in the arena.
struct Map {
  bool im2col = false;
  std::uint32_t type = 7, rank = 1, interleave = 0, swizzle = 0, l2 = 0, fill = 0;
  std::uint64_t address = 0;
  std::uint64_t dim[most_dimensions] = {1, 1, 1, 1, 1, 1};
  std::uint64_t stride[most_dimensions] = {16, 16, 16, 16, 16, 16};  // for dimensions 1 and up
  std::uint32_t box[most_dimensions] = {1, 1, 1, 1, 1, 1};
  std::uint32_t element_stride[most_dimensions] = {1, 1, 1, 1, 1, 1};
  std::int32_t lower[most_dimensions] = {}, upper[most_dimensions] = {};
  std::uint32_t channels = 1, pixels = 1;
  std::uint32_t misalign = 0;  // offset of the map object itself
  std::uint32_t null = 0;      // bit mask of null pointers, see null_pointers

  unsigned dims() const { return rank < most_dimensions ? rank : most_dimensions; }
  unsigned spatial() const { return dims() > 2 ? dims() - 2 : 0; }
};
enum NullPointer : std::uint32_t {
  null_map = 1,
  null_dim = 2,
  null_strides = 4,
  null_box = 8,
  null_element_strides = 16,
  null_lower = 32,
  null_upper = 64,
};

// The field that tensormap.replace writes before the copy, or 0.
struct Replace {
  std::uint32_t field = 0;  // 1 and up, in the order of replace_field_name
  std::uint32_t ordinal = 0;
  std::uint64_t value = 0;
};
inline const char* replace_field_name(std::uint32_t field) {
  static const char* const names[] = {"",
                                      "global_address",
                                      "rank",
                                      "box_dim",
                                      "global_dim",
                                      "global_stride",
                                      "element_stride",
                                      "elemtype",
                                      "interleave_layout",
                                      "swizzle_mode",
                                      "fill_mode"};
  return field <= 10 ? names[field] : "?";
}

enum class Kind : std::uint32_t {
  load,
  store,
  reduce,
  encode,        // only encode
  probe,         // a load that shows where bytes came from
  value_load,    // the special values, loaded
  value_store,   // the special values, stored
  value_reduce,  // every pair of special values
};
inline const char* kind_name(Kind kind) {
  static const char* const names[] = {"load",  "store",      "reduce",      "encode",
                                      "probe", "value_load", "value_store", "value_reduce"};
  return names[static_cast<unsigned>(kind)];
}

struct Case {
  Kind kind = Kind::load;
  std::uint32_t op = 0;  // the reduction's operation
  Map map;
  std::int32_t at[most_dimensions] = {};
  std::uint32_t offset[3] = {};
  std::uint32_t shared = 0;  // offset of the box in the shared arena
  std::uint32_t salt = 0;    // of the patterns
  Replace replace;
  std::uint32_t group =
      0;  // not in the text: cases of one group are given up after too many faults
};

template <class T>
std::string list(char letter, const T* values, unsigned count) {
  std::string text{' ', letter};
  for (unsigned i = 0; i < count; ++i)
    text.append(i > 0 ? "," : "").append(std::to_string(values[i]));
  return text;
}
inline std::string number(char letter, std::uint64_t value) {
  return std::string{' ', letter}.append(std::to_string(value));
}

inline std::string to_text(const Map& m) {
  std::string s =
      std::string(m.im2col ? " im2col" : " tile") + number('T', m.type) + number('R', m.rank);
  if (m.interleave != 0) s += number('i', m.interleave);
  if (m.swizzle != 0) s += number('w', m.swizzle);
  if (m.l2 != 0) s += number('l', m.l2);
  if (m.fill != 0) s += number('f', m.fill);
  s += number('b', m.address) + list('d', m.dim, m.dims());
  if (m.dims() > 1) s += list('s', m.stride, m.dims() - 1);
  if (m.im2col) {
    s += list('L', m.lower, m.spatial()) + list('U', m.upper, m.spatial()) +
         number('C', m.channels) + number('P', m.pixels);
  } else {
    s += list('x', m.box, m.dims());
  }
  s += list('e', m.element_stride, m.dims());
  if (m.misalign != 0) s += number('a', m.misalign);
  if (m.null != 0) s += number('N', m.null);
  return s;
}
inline std::string to_text(const Case& c) {
  std::string s = kind_name(c.kind);
  if (c.kind == Kind::reduce || c.kind == Kind::value_reduce) s += std::string(" ") + op_name(c.op);
  s += to_text(c.map);
  if (c.kind == Kind::encode) return s;
  s += list('c', c.at, c.map.dims());
  if (c.map.im2col) s += list('o', c.offset, c.map.spatial());
  s += number('m', c.shared) + number('p', c.salt);
  if (c.replace.field != 0)
    s += std::string(" ") + replace_field_name(c.replace.field) + number('O', c.replace.ordinal) +
         number('V', c.replace.value);
  return s;
}

template <class T>
void read_list(const std::string& word, T* values, unsigned most) {
  std::istringstream in(word.substr(1));
  std::string item;
  for (unsigned i = 0; i < most && std::getline(in, item, ','); ++i)
    values[i] = static_cast<T>(item[0] == '-' ? static_cast<std::uint64_t>(std::stoll(item))
                                              : std::stoull(item));
}

// Parses one word of a line. Returns false if it is invalid.
inline bool read_word(const std::string& word, Case& c) {
  Map& m = c.map;
  for (unsigned k = 0; k < 8; ++k)
    if (word == kind_name(static_cast<Kind>(k))) return c.kind = static_cast<Kind>(k), true;
  for (unsigned o = 0; o < op_count; ++o)
    if (word == op_name(o)) return c.op = o, true;
  for (unsigned f = 1; f <= 10; ++f)
    if (word == replace_field_name(f)) return c.replace.field = f, true;
  if (word == "tile" || word == "im2col") return m.im2col = word == "im2col", true;
  switch (word[0]) {
    case 'T':
      return read_list(word, &m.type, 1), true;
    case 'R':
      return read_list(word, &m.rank, 1), true;
    case 'i':
      return read_list(word, &m.interleave, 1), true;
    case 'w':
      return read_list(word, &m.swizzle, 1), true;
    case 'l':
      return read_list(word, &m.l2, 1), true;
    case 'f':
      return read_list(word, &m.fill, 1), true;
    case 'b':
      return read_list(word, &m.address, 1), true;
    case 'd':
      return read_list(word, m.dim, most_dimensions), true;
    case 's':
      return read_list(word, m.stride, most_dimensions), true;
    case 'x':
      return read_list(word, m.box, most_dimensions), true;
    case 'e':
      return read_list(word, m.element_stride, most_dimensions), true;
    case 'L':
      return read_list(word, m.lower, most_dimensions), true;
    case 'U':
      return read_list(word, m.upper, most_dimensions), true;
    case 'C':
      return read_list(word, &m.channels, 1), true;
    case 'P':
      return read_list(word, &m.pixels, 1), true;
    case 'a':
      return read_list(word, &m.misalign, 1), true;
    case 'N':
      return read_list(word, &m.null, 1), true;
    case 'c':
      return read_list(word, c.at, most_dimensions), true;
    case 'o':
      return read_list(word, c.offset, 3), true;
    case 'm':
      return read_list(word, &c.shared, 1), true;
    case 'p':
      return read_list(word, &c.salt, 1), true;
    case 'O':
      return read_list(word, &c.replace.ordinal, 1), true;
    case 'V':
      return read_list(word, &c.replace.value, 1), true;
    default:
      return false;
  }
}

// Parses "NUMBER kind words... = answer words" into the case and the answer's text.
inline bool from_text(const std::string& line, Case& c, std::string& answer) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  c = {};
  while (words >> word && word != "=")
    if (!read_word(word, c)) return false;
  std::getline(words >> std::ws, answer);
  return word == "=";
}

// The map that the copy uses, after tensormap.replace.
inline Map replaced(const Case& c) {
  static const unsigned char elemtypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
  Map m = c.map;
  const Replace& r = c.replace;
  const auto value = static_cast<std::uint32_t>(r.value);
  switch (r.field) {
    case 2:
      m.rank = value + 1;
      break;
    case 3:
      m.box[r.ordinal] = value;
      break;
    case 6:
      m.element_stride[r.ordinal] = value;
      break;
    case 7:
      m.type = elemtypes[value];
      break;
    default:
      break;
  }
  return m;
}

// The bytes of a box. With slices, an element of dimension 0 is one slice, and a copy takes one of
// the channels.
inline std::uint32_t box_bytes(const Map& m) {
  const std::uint32_t size = m.interleave != 0 ? 8u << m.interleave : type_bytes(m.type);
  if (m.im2col) return (m.interleave != 0 ? 1 : m.channels) * size * m.pixels;
  const auto steps = [&](unsigned d) {
    return (m.box[d] + m.element_stride[d] - 1) / m.element_stride[d];
  };
  std::uint32_t bytes = size * (m.interleave != 0 ? steps(0) : m.box[0]);
  for (unsigned d = 1; d < m.dims(); ++d)
    if (m.interleave == 0 || d != m.rank - 2) bytes *= steps(d);
  return bytes;
}
// The shared memory of a box: its rows at the swizzle's pitch.
inline std::uint32_t box_extent(const Map& m) {
  const std::uint32_t size = type_bytes(m.type), row = (m.im2col ? m.channels : m.box[0]) * size;
  if (m.interleave != 0 || row == 0) return box_bytes(m);
  const std::uint32_t pitch = m.swizzle == 0 ? row : 16u << m.swizzle;
  return box_bytes(m) / row * (pitch > row ? pitch : row);
}

}  // namespace tensor_truth
