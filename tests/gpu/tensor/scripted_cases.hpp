// Hand-written copies: every swizzle, special values, and probes of undocumented behaviour.
#pragma once
#include <vector>

#include "random_cases.hpp"

namespace tensor_truth {

inline Map tile_2d(unsigned type, std::uint32_t width, std::uint32_t height,
                   std::uint32_t swizzle) {
  Map m;
  m.type = type;
  m.rank = 2;
  m.swizzle = swizzle;
  m.dim[0] = 2 * width;
  m.dim[1] = 2 * height;
  m.stride[0] = round_up(m.dim[0] * type_bytes(type), 16);
  m.box[0] = width;
  m.box[1] = height;
  return m;
}

// Every width of every mode at every position of the pattern.
inline std::vector<Case> swizzle_cases() {
  static const unsigned types[] = {0, 6, 2, 4};
  std::vector<Case> cases;
  for (std::uint32_t mode = 1; mode <= 3; ++mode)
    for (std::uint32_t width = 16; width <= 16u << mode; width += 16)
      for (std::uint32_t place = 0; place < 8; ++place) {
        Case c;
        const unsigned type = types[(width / 16 + place) % 4];
        c.map = tile_2d(type, width / type_bytes(type), 32, mode);
        c.shared = 2048 + 128 * place;
        c.salt = place % 3;
        cases.push_back(c);
      }
  return cases;
}

inline std::uint32_t padded_specials(unsigned type) {
  const std::uint32_t chunk = 16 / type_bytes(type);
  return static_cast<std::uint32_t>(round_up(specials(type).size(), chunk));
}

inline Case value_case(Kind kind, unsigned type, unsigned op) {
  Case c;
  c.kind = kind;
  c.op = op;
  Map& m = c.map;
  m.type = type;
  m.rank = 2;
  m.dim[0] = m.box[0] = padded_specials(type);
  m.dim[1] = m.box[1] = kind == Kind::value_reduce ? specials(type).size() : 1;
  m.stride[0] = m.dim[0] * type_bytes(type);
  return c;
}

inline std::vector<Case> value_cases() {
  std::vector<Case> cases;
  for (unsigned type = 0; type < type_count; ++type)
    for (Kind kind : {Kind::value_load, Kind::value_store})
      if (is_real(type)) cases.push_back(value_case(kind, type, 0));
  for (unsigned type = 0; type < type_count; ++type)
    for (unsigned op = 0; op < op_count; ++op)
      if (reducible(type, op)) cases.push_back(value_case(Kind::value_reduce, type, op));
  return cases;
}
// Operations that no documentation allows and that may fault, one of each kind.
inline std::vector<Case> doubtful_value_cases() {
  std::vector<Case> cases;
  for (unsigned type = 0; type < type_count; ++type)
    for (unsigned op : {op_add, op_min, op_inc, op_and})
      if (!reducible(type, op)) cases.push_back(value_case(Kind::value_reduce, type, op));
  return cases;
}

// The constant that out-of-range elements of each floating-point type read.
inline std::vector<Case> fill_cases() {
  std::vector<Case> cases;
  for (unsigned type = 6; type < type_count; ++type) {
    Case c = value_case(Kind::value_load, type, 0);
    c.map.fill = 1;
    c.at[1] = 1;
    cases.push_back(c);
  }
  return cases;
}

// Probes: copies of plain 32-bit words to which initial_global() gives their addresses as values.
inline Case probe(std::uint32_t rank, std::uint32_t width) {
  Case c;
  c.kind = Kind::probe;
  Map& m = c.map;
  m.type = 2;
  m.rank = rank;
  m.box[0] = width;
  std::uint64_t stride = 16 * width + 16;
  for (unsigned d = 0; d < rank; ++d) {
    m.dim[d] = d == 0 ? 4 * width : 6;
    m.box[d] = d == 0 ? width : 2;
    m.stride[d] = stride;
    stride *= 6;
  }
  m.address = 8192;
  c.shared = 1024;
  return c;
}

inline void add_interleave_probes(std::vector<Case>& cases) {
  // The strides differ enough to show which of them a step along each dimension uses.
  static const std::uint64_t strides[] = {0x40, 0x400, 0x2000, 0x8000};
  for (std::uint32_t interleave = 1; interleave <= 2; ++interleave)
    for (std::uint32_t rank = 3; rank <= 5; ++rank)
      for (std::uint32_t step = 0; step < 13; ++step) {
        const std::uint32_t slice = (8u << interleave) / 4;
        Case c = probe(rank, slice);
        Map& m = c.map;
        m.interleave = interleave;
        m.swizzle = interleave == 2 ? 1 : 0;
        for (unsigned d = 0; d < rank; ++d) {
          m.box[d] = d == 0 ? slice : 1;
          m.dim[d] = d == 0 ? 4 * slice : 3;
          if (d > 0) m.stride[d - 1] = strides[d - 1];
        }
        switch (step) {
          case 0:
            break;
          case 1:
            c.at[0] = 4;
            break;
          case 2:
            c.at[0] = static_cast<std::int32_t>(slice);
            break;
          case 3:
            m.box[0] = 2 * slice;
            break;
          case 4:
            m.box[0] = 4;
            m.box[1] = 2;
            break;
          case 5:
            m.box[0] = 3 * slice;
            m.box[1] = 2;
            break;
          case 6:
            c.at[0] = -4;
            m.box[0] = 2 * slice;
            break;
          case 7:
          case 8:
          case 9:
          case 10:
            m.box[std::min(step - 6, rank - 1)] = 4;
            break;
          case 11:
            m.box[0] = 2 * slice;
            m.element_stride[0] = 2;
            break;
          default:
            m.dim[0] = slice + 1;
            m.box[0] = 2 * slice;
            m.box[1] = 2;
            m.box[2] = 2;
        }
        cases.push_back(c);
      }
}

inline void add_tile_probes(std::vector<Case>& cases) {
  for (std::uint32_t first = 2; first <= 8; first += 2) {  // does dimension 0 ignore its stride?
    Case c = probe(2, 8);
    c.map.element_stride[0] = first;
    cases.push_back(c);
  }
  for (std::uint32_t step = 2; step <= 8; ++step) {  // strides with starts that they do not divide
    Case c = probe(3, 4);
    c.map.box[1] = 6;
    c.map.element_stride[1] = step;
    c.at[1] = -static_cast<std::int32_t>(step) + 1;
    cases.push_back(c);
  }
  for (std::int32_t at = -8; at <= 16; at += 4) {  // narrow boxes
    Case c = probe(2, 4);
    c.map.swizzle = 3;
    c.at[0] = at;
    cases.push_back(c);
  }
  Case large = probe(2, 256);  // fills most of the arena
  large.map.box[1] = 32;
  large.map.dim[0] = 256;
  large.map.dim[1] = 40;
  large.map.stride[0] = 1024;
  cases.push_back(large);
}

// Cases that are expected to fault, a few of each kind.
inline void add_faults(std::vector<Case>& cases) {
  for (Kind kind : {Kind::load, Kind::store, Kind::reduce})
    for (std::int32_t at : {-1, 2, 9}) {  // not a whole chunk
      Case c = probe(2, 8);
      c.kind = kind;
      c.at[0] = at;
      cases.push_back(c);
    }
  for (Kind kind : {Kind::store, Kind::reduce})
    for (unsigned d = 0; d < 3; ++d)
      for (bool im2col : {false, true}) {  // negative, or a bounding box beyond the tensor
        Case c = probe(3, 8);
        c.kind = kind;
        c.map.im2col = im2col;
        c.map.channels = 8;
        c.map.lower[0] = d == 1 ? -1 : 0;
        c.map.upper[0] = d == 2 ? 1 : 0;
        if (!im2col || d == 0) c.at[d] = d == 0 ? -4 : -1;
        cases.push_back(c);
      }
  for (Kind kind : {Kind::load, Kind::store})
    for (std::uint32_t swizzle : {0u, 1u, 3u})  // shared memory aligned to less than 128
      for (std::uint32_t place : {16u, 32u, 64u}) {
        Case c = probe(2, 8);
        if (kind != Kind::load) c.kind = kind;
        c.map.swizzle = swizzle;
        c.shared = 1024 + place;
        cases.push_back(c);
      }
}

inline void add_im2col_probes(std::vector<Case>& cases) {
  for (std::uint32_t rank = 3; rank <= 5; ++rank)
    for (std::uint32_t step = 0; step < 12; ++step) {
      if ((step == 8 || step == 9) && rank != 4) continue;  // faults
      Case c = probe(rank, 4);
      Map& m = c.map;
      m.im2col = true;
      m.channels = 4;
      m.pixels = 14;
      for (unsigned d = 1; d < rank; ++d) m.dim[d] = 3 + d;
      const unsigned spatial = m.spatial();
      switch (step) {
        case 0:
          break;
        case 1:
          for (unsigned s = 0; s < spatial; ++s) m.lower[s] = -1 - static_cast<int>(s);
          break;
        case 2:
          for (unsigned s = 0; s < spatial; ++s) m.upper[s] = -1 - static_cast<int>(s % 2);
          break;
        case 3:
          for (unsigned s = 0; s < spatial; ++s) c.offset[s] = 1 + s;
          break;
        case 4:
          m.element_stride[1] = 2;
          break;
        case 5:
          m.element_stride[2] = 2;
          break;
        case 6:
          m.element_stride[rank - 1] = 2;
          break;
        case 7:
          for (unsigned s = 0; s < spatial; ++s) c.at[s + 1] = 2;
          break;
        case 8:
          c.at[1] = 3;
          m.upper[0] = -2;
          break;  // starts past the box
        case 9:
          c.at[1] = -2;
          break;  // starts before the box
        case 10:
          m.pixels = 64;
          break;  // past the last image
        default:
          for (unsigned s = 0; s < spatial; ++s) c.offset[s] = 65535;
          break;
      }
      for (unsigned s = 0; s < spatial && step != 7 && step != 8 && step != 9; ++s)
        c.at[s + 1] = m.lower[s];
      cases.push_back(c);
    }
}

inline void add_interleaved_im2col_probes(std::vector<Case>& cases) {
  for (std::uint32_t interleave = 1; interleave <= 2; ++interleave)
    for (std::uint32_t rank = 3; rank <= 5; ++rank)
      for (std::uint32_t step = 0; step < 9; ++step) {
        const std::uint32_t slice = (8u << interleave) / 4;
        Case c = probe(rank, slice);
        Map& m = c.map;
        m.im2col = true;
        m.interleave = interleave;
        m.swizzle = interleave == 2 ? 1 : 0;
        m.channels = step == 1 ? 2 * slice : slice;
        m.pixels = 40;
        for (unsigned d = 0; d < rank; ++d) m.dim[d] = 3 + d % 2;
        for (std::uint64_t& stride : m.stride) stride *= 2;
        for (unsigned s = 0; s < m.spatial(); ++s) {
          if (step == 2) m.lower[s] = c.at[s] = -1 - static_cast<int>(s);
          if (step == 3) m.upper[s] = -1;
          if (step == 4) c.offset[s] = 1 + s;
        }
        if (step >= 5) m.element_stride[std::min(step - 5, rank - 1)] = 2;
        if (step == 8) m.element_stride[rank - 1] = 2, c.at[rank - 2] = 1;
        cases.push_back(c);
      }
}

inline void add_replace_probes(std::vector<Case>& cases) {
  const struct {
    std::uint32_t field, ordinal;
    std::uint64_t value;
  } writes[] = {{2, 0, 1},   {2, 0, 2},  {2, 0, 3}, {3, 0, 4}, {3, 0, 8},  {3, 1, 1},
                {3, 1, 3},   {3, 2, 4},  {4, 0, 3}, {4, 1, 1}, {4, 1, 4},  {5, 0, 32},
                {5, 0, 512}, {5, 1, 64}, {6, 0, 2}, {6, 1, 1}, {6, 1, 2},  {6, 2, 3},
                {7, 0, 1},   {7, 0, 3},  {7, 0, 7}, {7, 0, 8}, {7, 0, 9},  {8, 0, 0},
                {9, 0, 0},   {9, 0, 1},  {9, 0, 2}, {9, 0, 3}, {10, 0, 0}, {1, 0, 16384}};
  for (const auto& write : writes) {
    Case c = probe(3, 4);
    c.map.box[1] = 2;
    c.at[1] = -1;
    c.replace = {write.field, write.ordinal, write.value};
    cases.push_back(c);
    if (write.field == 7 || write.field == 9) {  // in a map of f32, so that fills can be NaN
      c.map.type = 7;
      c.map.fill = 1;
      cases.push_back(c);
    }
  }
  Case c = probe(3, 4);
  c.map.type = 7;
  c.at[0] = -4;
  c.replace = {10, 0, 1};
  cases.push_back(c);
}

// --- memory before a case ------------------------------------------------------------------------
inline void put(std::vector<unsigned char>& image, std::size_t at, unsigned type,
                std::uint64_t bits) {
  std::memcpy(&image[at], &bits, type_bytes(type));
}
// Rows of special values: each row all of them, or one row each.
inline void put_specials(std::vector<unsigned char>& image, const Map& m, bool by_row) {
  const std::vector<std::uint64_t> values = specials(m.type);
  const std::uint32_t size = type_bytes(m.type), width = padded_specials(m.type);
  for (std::uint32_t row = 0; row < m.box[1]; ++row)
    for (std::uint32_t i = 0; i < width; ++i)
      put(image, (std::size_t{row} * width + i) * size, m.type,
          by_row              ? values[row]
          : i < values.size() ? values[i]
                              : 0);
}

inline bool is_value(Kind kind) { return kind >= Kind::value_load; }

inline std::vector<unsigned char> initial_global(const Case& c) {
  if (c.kind == Kind::probe) return address_pattern();
  if (!is_value(c.kind)) return global_pattern(c.map.type, c.salt);
  std::vector<unsigned char> image(global_bytes, untouched);
  if (c.kind != Kind::value_store) put_specials(image, c.map, c.kind == Kind::value_reduce);
  return image;
}
inline bool is_load(Kind kind) {
  return kind == Kind::load || kind == Kind::probe || kind == Kind::value_load;
}
inline std::vector<unsigned char> initial_shared(const Case& c) {
  if (!is_load(c.kind) && !is_value(c.kind)) return shared_pattern(c.map.type, c.salt);
  std::vector<unsigned char> image(shared_bytes, untouched);
  if (!is_load(c.kind)) put_specials(image, c.map, false);
  return image;
}

// --- answers -------------------------------------------------------------------------------------
// Special values: the resulting elements in hexadecimal.
inline std::string values_text(const Case& c, const unsigned char* image) {
  const std::uint32_t size = type_bytes(c.map.type), width = c.map.box[0];
  const std::size_t count = specials(c.map.type).size();
  std::string text;
  for (std::uint32_t row = 0; row < c.map.box[1]; ++row)
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, image + (std::size_t{row} * width + i) * size, size);
      char word[24];
      std::snprintf(word, sizeof word, "%llx", static_cast<unsigned long long>(bits));
      text.append(text.empty() ? "" : " ").append(word);
    }
  return text;
}

// Probes: the origin of each run of words in shared memory. "1024+64<8192" means that the 64 bytes
// at 1024 come from 8192. "z" instead of an origin means zeros, "x" other bits in hexadecimal.
inline std::string origins_text(const unsigned char* image) {
  std::string text;
  char word[64];
  const auto at = [&](std::size_t i) {
    std::uint32_t bits;
    std::memcpy(&bits, image + i, 4);
    return bits;
  };
  const auto origin = [](std::uint32_t bits) {
    return bits >= 0x40000000 && bits < 0x40000000 + global_bytes;
  };
  for (std::size_t i = 0; i < shared_bytes;) {
    const std::uint32_t first = at(i);
    const std::size_t start = i;
    const bool known = origin(first) && first % 4 == 0;
    for (i += 4; i < shared_bytes; i += 4)
      if (at(i) != (known ? first + (i - start) : first)) break;
    if (first == 0xeeeeeeee) continue;
    if (known)
      std::snprintf(word, sizeof word, "%zu+%zu<%u", start, i - start, first - 0x40000000);
    else if (first == 0)
      std::snprintf(word, sizeof word, "%zu+%zuz", start, i - start);
    else
      std::snprintf(word, sizeof word, "%zu+%zux%x", start, i - start, first);
    text.append(text.empty() ? "" : " ").append(word);
  }
  return text.empty() ? "nothing" : text;
}

// The text for the memory that a case leaves.
inline std::string image_text(const Case& c, const unsigned char* shared,
                              const unsigned char* global) {
  if (c.kind == Kind::probe) return origins_text(shared);
  if (is_value(c.kind)) return values_text(c, is_load(c.kind) ? shared : global);
  char word[24];
  const bool load = is_load(c.kind);
  std::snprintf(word, sizeof word, "%016llx",
                static_cast<unsigned long long>(
                    hash(load ? shared : global, load ? shared_bytes : global_bytes)));
  return word;
}

}  // namespace tensor_truth
