// Encodings at and past the limits, with one argument changed at a time or two random ones. Null
// corners and a rank of 2^32 - 1 are left out because they crash the driver itself.
#pragma once
#include <vector>

#include "random_cases.hpp"

namespace tensor_truth {

inline Map legal_tile(std::uint32_t rank, std::uint32_t interleave) {
  Map m;
  m.type = 6;
  m.rank = rank;
  m.interleave = interleave;
  m.swizzle = interleave == 2 ? 1 : 0;
  std::uint64_t stride = 128;
  for (unsigned d = 0; d < most_dimensions; ++d) {
    m.dim[d] = 64;
    m.box[d] = d == 0 ? 16 : 4;
    m.stride[d] = stride;
    stride *= 64;
  }
  return m;
}
inline Map legal_im2col(std::uint32_t rank, std::uint32_t interleave) {
  Map m = legal_tile(rank, interleave);
  m.im2col = true;
  m.channels = 16;
  m.pixels = 32;
  return m;
}

class EncodingList {
 public:
  std::vector<Case> cases;
  void add(const Map& m) {
    Case c;
    c.kind = Kind::encode;
    c.map = m;
    cases.push_back(c);
  }
  // Adds the map with one argument set to each of these values in turn.
  template <class T>
  void vary(Map m, T& (*field)(Map&), std::initializer_list<std::uint64_t> values) {
    for (std::uint64_t value : values) {
      field(m) = static_cast<T>(value);
      add(m);
    }
  }
  template <class T>
  void vary_each(const Map& m, unsigned count, T* (*array)(Map&),
                 std::initializer_list<std::uint64_t> values) {
    for (unsigned i = 0; i < count; ++i)
      for (std::uint64_t value : values) {
        Map changed = m;
        array(changed)[i] = static_cast<T>(value);
        add(changed);
      }
  }
};

inline void add_common_edges(EncodingList& l, const Map& m) {
  l.add(m);
  for (std::uint32_t type = 0; type <= 17; ++type) {
    Map changed = m;
    changed.type = type;
    for (changed.fill = 0; changed.fill <= 1; ++changed.fill) l.add(changed);
  }
  l.vary<std::uint64_t>(m, [](Map& x) -> std::uint64_t& { return x.address; },
                        {1, 2, 4, 8, 15, 16, 24, 32, 48});
  l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.l2; }, {1, 2, 3, 4, 255});
  l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.fill; }, {2, 3});
  l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.swizzle; },
                        {0, 1, 2, 3, 4, 5, 6, 7});
  l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.misalign; },
                        {1, 2, 4, 8, 16, 32, 64});
  l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.null; },
                        {null_map, null_dim, null_strides, null_element_strides});
  const unsigned last = m.rank - 1;
  l.vary_each<std::uint64_t>(m, 1, [](Map& x) { return x.dim; },
                             {0, 1, 4294967295, 4294967296, 4294967297});
  l.vary_each<std::uint64_t>(m, last, [](Map& x) { return x.stride; },
                             {0, 8, 12, 16, 24, 32, 48, 112, 127, (1ull << 40) - 32,
                              (1ull << 40) - 16, 1ull << 40, (1ull << 40) + 16});
  l.vary_each<std::uint32_t>(m, last + 1, [](Map& x) { return x.element_stride; }, {0, 2, 8, 9});
}

// Boxes of about the size of shared memory.
inline void add_large_boxes(EncodingList& l) {
  static const std::uint32_t boxes[][3] = {
      {16, 64, 227},  {16, 87, 167},  {16, 64, 228}, {16, 121, 121}, {16, 127, 129}, {16, 128, 128},
      {16, 145, 113}, {16, 150, 112}, {256, 32, 31}, {256, 4, 227},  {256, 4, 228},  {256, 32, 32}};
  for (const auto& box : boxes)
    for (std::uint32_t swizzle : {0u, 3u})
      for (std::uint32_t step : {1u, 2u})
        for (std::uint32_t type : {0u, 4u}) {
          Map m = legal_tile(3, 0);
          m.type = type;
          m.swizzle = swizzle;
          for (unsigned d = 0; d < 3; ++d) m.box[d] = box[d];
          m.box[0] /= type_bytes(type);
          m.element_stride[2] = step;
          l.add(m);
        }
  for (std::uint32_t pixels : {900u, 904u, 908u, 909u, 912u, 913u, 1023u, 1024u})
    for (std::uint32_t type : {0u, 2u}) {
      Map m = legal_im2col(3, 0);
      m.type = type;
      m.channels = 256;
      m.pixels = pixels;
      l.add(m);
    }
}

inline void add_tile_edges(EncodingList& l) {
  for (std::uint32_t interleave = 0; interleave <= 2; ++interleave)
    for (std::uint32_t rank : {1u, 3u, 5u}) {
      const Map m = legal_tile(rank, interleave);
      if (interleave == 0 || rank == 3) add_common_edges(l, m);
      l.vary_each<std::uint32_t>(m, rank, [](Map& x) { return x.box; }, {0, 1, 255, 256, 257});
      l.vary_each<std::uint64_t>(m, rank, [](Map& x) { return x.dim; },
                                 {0, 1, 4294967296, 4294967297});
    }
  l.vary<std::uint32_t>(legal_tile(3, 0), [](Map& x) -> std::uint32_t& { return x.rank; },
                        {0, 1, 2, 4, 5, 6, 7, 255});
  l.vary<std::uint32_t>(legal_tile(2, 1), [](Map& x) -> std::uint32_t& { return x.rank; }, {1, 2});
  l.vary<std::uint32_t>(legal_tile(3, 0), [](Map& x) -> std::uint32_t& { return x.interleave; },
                        {3, 4, 255});
  l.vary<std::uint32_t>(legal_tile(3, 0), [](Map& x) -> std::uint32_t& { return x.null; },
                        {null_box});
  // Combines the row of the box with every swizzle and layout.
  for (std::uint32_t type : {0u, 1u, 2u, 4u})
    for (std::uint32_t swizzle = 0; swizzle <= 3; ++swizzle)
      for (std::uint32_t bytes : {8u, 16u, 24u, 32u, 40u, 48u, 64u, 80u, 128u, 144u, 256u}) {
        Map m = legal_tile(3, type == 1 ? 1 : 0);
        m.type = type;
        m.swizzle = swizzle;
        m.box[0] = bytes / type_bytes(type);
        l.add(m);
      }
  add_large_boxes(l);
  Map large = legal_tile(5, 0);  // more than any shared memory
  for (std::uint32_t& b : large.box) b = 256;
  l.add(large);
  Map huge = legal_tile(5, 0);  // past the address space
  for (std::uint64_t& d : huge.dim) d = 4294967296;
  l.add(huge);
}

// Bounding boxes of zero or small area in each dimension, and dimensions past 32 bits.
inline void add_bounding_boxes(EncodingList& l) {
  for (std::uint32_t interleave = 0; interleave <= 2; ++interleave)
    for (std::uint32_t rank = 3; rank <= 5; ++rank) {
      const Map m = legal_im2col(rank, interleave);
      for (unsigned d = 0; d < rank; ++d) {
        for (unsigned s = 0; s < m.spatial(); ++s)
          for (std::int32_t gap = -1; gap <= 1; ++gap) {
            Map narrow = m;
            narrow.dim[d] = 10;
            narrow.lower[s] = 5;
            narrow.upper[s] = -5 + gap;
            l.add(narrow);
          }
        for (std::uint64_t dim : {2147483647ull, 2147483648ull, 4294967295ull, 4294967296ull}) {
          Map wide = m;
          wide.dim[d] = dim;
          l.add(wide);
          for (unsigned s = 0; s < m.spatial(); ++s) wide.lower[s] = -2, wide.upper[s] = 1;
          l.add(wide);
        }
      }
    }
}

inline void add_im2col_edges(EncodingList& l) {
  for (std::uint32_t interleave = 0; interleave <= 2; ++interleave)
    for (std::uint32_t rank = 3; rank <= 5; ++rank) {
      const Map m = legal_im2col(rank, interleave);
      if (rank == 4 && interleave == 0) add_common_edges(l, m);
      if (interleave != 0 && rank == 5) continue;
      const std::uint64_t most = rank == 3 ? 32768 : rank == 4 ? 128 : 16;
      const auto minus = [](std::uint64_t v) { return static_cast<std::uint64_t>(0) - v; };
      for (unsigned s = 0; s < rank - 2 && interleave == 0; ++s)
        for (std::uint64_t value : {minus(most + 1), minus(most), most - 1, most}) {
          Map wide = m;
          for (std::uint64_t& d : wide.dim) d = 100000;
          wide.lower[s] = static_cast<std::int32_t>(value);
          l.add(wide);
          wide.lower[s] = 0;
          wide.upper[s] = static_cast<std::int32_t>(value);
          l.add(wide);
        }
      l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.channels; },
                            {0, 1, 4, 7, 8, 9, 12, 24, 64, 255, 256, 257, 264});
      l.vary<std::uint32_t>(m, [](Map& x) -> std::uint32_t& { return x.pixels; },
                            {0, 1, 256, 257, 1023, 1024, 1025});
    }
  l.vary<std::uint32_t>(legal_im2col(4, 0), [](Map& x) -> std::uint32_t& { return x.rank; },
                        {0, 1, 2, 6});
  for (std::uint32_t swizzle = 0; swizzle <= 3; ++swizzle)
    for (std::uint32_t channels : {8u, 16u, 24u, 32u, 40u, 64u, 72u}) {
      Map m = legal_im2col(4, 0);
      m.swizzle = swizzle;
      m.channels = channels;
      l.add(m);
    }
}

// Changes two arguments at once, to test combinations of rules.
inline Map random_encoding(std::uint64_t seed) {
  Random r(seed);
  const std::uint32_t rank = 3 + r.below(3);
  Map m = r.chance(50) ? legal_tile(rank, r.below(3)) : legal_im2col(rank, r.below(3));
  for (int change = 0; change < 2; ++change) {
    const unsigned d = r.below(rank);
    switch (r.below(11)) {
      case 0:
        m.type = r.below(14);
        break;
      case 1:
        m.rank = 1 + r.below(5);
        break;
      case 2:
        m.address = 8 * r.below(5);
        break;
      case 3:
        m.dim[d] = r.chance(50) ? r.below(3) : 4294967294 + r.below(4);
        break;
      case 4:
        m.stride[d] = 8 * r.below(40);
        break;
      case 5:
        m.box[d] = r.below(260);
        break;
      case 6:
        m.element_stride[d] = r.below(10);
        break;
      case 7:
        m.swizzle = r.below(5);
        break;
      case 8:
        m.fill = r.below(2);
        break;
      case 9:
        m.interleave = r.below(3);
        break;
      default:
        m.channels = 4 * r.below(66);
        m.box[0] = 4 * r.below(20);
        break;
    }
  }
  return m;
}

inline std::vector<Case> encoding_cases() {
  EncodingList l;
  add_tile_edges(l);
  add_im2col_edges(l);
  add_bounding_boxes(l);
  for (std::uint64_t seed = 0; seed < 300; ++seed) l.add(random_encoding(seed));
  return l.cases;
}

}  // namespace tensor_truth
