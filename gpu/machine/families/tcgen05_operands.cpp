// Gathers the operands of a tcgen05.mma, multiplies, and writes the result to tensor memory (PTX
// ISA, "TensorCore 5th Generation: Data Path Layout Organization").
#include "gpu/machine/families/tcgen05_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/families/tcgen05.hpp"
#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {
namespace {

using async::Major;
using async::swizzle_chunk;
using tensor::Element;
using Kind = BlockMultiplyUse::Kind;

constexpr std::uint32_t panel_rows = 64;  // the most that gpu/tensor multiplies at once
constexpr std::uint32_t most_rows = 128, most_columns = 256, most_values = 128;
constexpr std::uint32_t segment = 16;  // rows that lie in consecutive lanes

// The matrices of one multiplication, of one block. There is one for each host thread.
struct Matrices {
  alignas(64) std::byte a[most_rows * most_values];
  alignas(64) std::byte b[most_columns * most_values];
  alignas(64) std::uint32_t d[most_columns * panel_rows];
  alignas(64) std::uint16_t halves[most_columns * panel_rows];  // d, if it is f16
  std::uint8_t columns[most_rows * most_values];
  std::uint8_t scales_a[most_rows * 4], scales_b[most_columns * 4];
};

std::uint32_t container_bytes(Element e) { return tensor::format(e).bits / 8u; }

// The bits of an element that is packed in shared memory with padding: 4, 6; 0: it is not.
std::uint32_t packed_bits(Element e) {
  return e == Element::e2m1 ? 4 : e == Element::e2m3 || e == Element::e3m2 ? 6 : 0;
}

// Spreads 16 elements of `bits` bits, packed at the start of a chunk, to a byte each.
void expand(const std::byte* packed, std::uint32_t bits, std::byte* to) {
  std::uint64_t words[2];
  std::memcpy(words, packed, sizeof words);
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t at = i * bits;
    std::uint64_t value = words[at / 64] >> at % 64;
    if (at % 64 + bits > 64) value |= words[1] << (64 - at % 64);
    to[i] = static_cast<std::byte>(value & ((1u << bits) - 1));
  }
}
// 16 elements in 8 bytes that follow each other without padding.
void expand_dense(const std::byte* packed, std::byte* to) {
  for (std::uint32_t i = 0; i < 16; ++i) to[i] = packed[i / 2] >> i % 2 * 4 & std::byte{15};
}

// Reads a chunk; beyond the block's shared memory it is zeros. The issue has checked the ends, so
// only a swizzle or a wrap leads there.
void read_chunk(const Block& block, std::uint32_t address, std::byte* to) {
  if (address + swizzle_chunk <= block.shared_end)
    std::memcpy(to, block.shared + address, swizzle_chunk);
  else
    std::memset(to, 0, swizzle_chunk);
}

// How a row's 16 bytes become elements for gpu/tensor.
struct Form {
  std::uint32_t packed = 0;  // bits of an element in shared memory, if it is padded
  bool dense = false;        // elements of 4 bits without padding
  bool shifted = false;      // tensor memory: e2m1 is in the bits 5..2 of its byte
  std::uint32_t out() const { return dense ? 32 : 16; }  // bytes
};
Form form_of(const BlockMultiplyUse& use, Element e) {
  if (use.four_bit()) return {.dense = true};
  return {.packed = packed_bits(e), .shifted = e == Element::e2m1};
}

void put_chunk(const Form& form, const std::byte* chunk, std::byte* to) {
  if (form.dense)
    expand_dense(chunk, to), expand_dense(chunk + 8, to + 16);
  else if (form.packed)
    expand(chunk, form.packed, to);
  else
    std::memcpy(to, chunk, swizzle_chunk);
}

template <class Value>
void gather_by_k(const Block& block, const BlockOperand& o, std::byte* to) {
  constexpr std::uint32_t values = swizzle_chunk / sizeof(Value);
  for (std::uint32_t k = 0; k < o.lines; ++k)
    for (std::uint32_t chunk = 0; chunk < o.chunks; ++chunk) {
      Value read[values];
      read_chunk(block, o.address(k, chunk), reinterpret_cast<std::byte*>(read));
      for (std::uint32_t i = 0; i < values; ++i)
        std::memcpy(to + ((chunk * values + i) * o.lines + k) * sizeof(Value), &read[i],
                    sizeof(Value));
    }
}

// Copies an operand in shared memory to rows along k. Returns the end.
std::byte* gather(const Block& block, const BlockOperand& o, const Form& form,
                  std::uint32_t element_bytes, std::byte* to) {
  if (o.major == Major::k) {
    for (std::uint32_t line = 0; line < o.lines; ++line)
      for (std::uint32_t chunk = 0; chunk < o.chunks; ++chunk, to += form.out()) {
        std::byte bytes[swizzle_chunk];
        read_chunk(block, o.address(line, chunk), bytes);
        put_chunk(form, bytes, to);
      }
    return to;
  }
  switch (element_bytes) {
    case 1:
      gather_by_k<std::uint8_t>(block, o, to);
      break;
    case 2:
      gather_by_k<std::uint16_t>(block, o, to);
      break;
    default:
      gather_by_k<std::uint32_t>(block, o, to);
  }
  return to + std::size_t{o.lines} * o.chunks * swizzle_chunk;
}

// Copies A from tensor memory.
void gather_rows(TensorMemory& memory, TensorAddress at, const BlockLayout& layout,
                 const Form& form, std::byte* to) {
  constexpr std::uint32_t chunk_words = swizzle_chunk / 4;
  for (std::uint32_t row = 0; row < layout.rows; ++row)
    for (std::uint32_t chunk = 0; chunk < columns_of_a / chunk_words; ++chunk, to += form.out()) {
      std::uint32_t words[chunk_words];
      for (std::uint32_t i = 0; i < chunk_words; ++i)
        words[i] = memory.column(at.column + chunk * chunk_words + i)[at.lane + layout.lane(row)];
      if (form.shifted)
        for (std::uint32_t& each : words) each = each >> 2 & 0x0f0f0f0f;
      const Form unpacked{.dense = form.dense};
      put_chunk(unpacked, reinterpret_cast<const std::byte*>(words), to);
    }
}

// --- D: 16 rows of a column at a time ---

// Calls f(words of tensor memory, index in the panel, lane) for each 16 rows of a panel's columns.
template <class F>
void each_segment(TensorMemory& memory, TensorAddress d, const BlockLayout& layout,
                  std::uint32_t columns, std::uint32_t first_row, std::uint32_t rows, F f) {
  const std::uint32_t in_part = columns / layout.parts;
  for (std::uint32_t n = 0; n < columns; ++n)
    for (std::uint32_t r = 0; r < rows; r += segment) {
      const std::uint32_t lane =
          d.lane + layout.lane(first_row + r) + n / in_part * layout.lanes_a_part();
      f(memory.column(d.column + n % in_part) + lane, n * rows + r, lane);
    }
}

// The accumulator times 2^-scale, exact unless it becomes subnormal.
std::uint32_t scaled_down(std::uint32_t bits, std::uint32_t scale) {
  if (scale == 0) return bits;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  value = std::ldexp(value, -static_cast<int>(scale));
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
std::uint16_t half_scaled_down(std::uint32_t bits, std::uint32_t scale) {
  const std::uint32_t exponent = bits >> 10 & 31;
  if (scale == 0 || exponent == 31) return static_cast<std::uint16_t>(bits);
  if (exponent > scale) return static_cast<std::uint16_t>(bits - (scale << 10));
  const std::uint32_t significand = (bits & 0x3ff) | (exponent ? 0x400 : 0);
  return static_cast<std::uint16_t>((bits & 0x8000) |
                                    significand >> (scale + 1 - std::max(exponent, 1u)));
}

// --- sparsity ---

// The four bits for a chunk of `span` elements of a row, from element k on.
std::uint32_t metadata_of(TensorMemory& memory, TensorAddress at, const BlockLayout& layout,
                          Kind kind, std::uint32_t row, std::uint32_t k) {
  if (kind == Kind::f16 || kind == Kind::tf32) {
    const std::uint32_t scale = kind == Kind::tf32 ? 2 : 1, bit = k * scale;
    const std::uint32_t base = layout.spread ? row / 16 * 32 : row / 16 * 16;
    const std::uint32_t lane = row % 8 + base + 8 * (bit / 16);
    return memory.column(at.column)[at.lane + lane] >> (bit % 16 + row / 8 % 2 * 16) & 0xf;
  }
  return memory.column(at.column + k / 32)[at.lane + layout.lane(row)] >> k % 32 & 0xf;
}

void find_columns(TensorMemory& memory, const async::TensorOperation& o, const BlockLayout& layout,
                  const BlockMultiplyUse& use, const tensor::Product& p, std::uint8_t* columns) {
  const bool pairs = use.kind == Kind::tf32;  // one of two
  const auto values = static_cast<std::uint32_t>(p.values());
  const std::uint32_t a_chunk = pairs ? 1 : 2, span = 2 * a_chunk;
  for (std::uint32_t row = 0; row < layout.rows; ++row)
    for (std::uint32_t i = 0; i < values; ++i) {
      const std::uint32_t first = i / a_chunk * span;
      const std::uint32_t bits =
          metadata_of(memory, TensorAddress(o.metadata), layout, use.kind, row, first);
      const std::uint32_t at = pairs ? bits >> 3 : bits >> i % 2 * 2 & 3;
      *columns++ = static_cast<std::uint8_t>(first + at);
    }
}

// --- scales ---

// The scale of row or column x for each block of k, as a quarter of the lanes has it.
void read_scales(TensorMemory& memory, std::uint32_t address, std::uint32_t id,
                 std::uint32_t blocks, std::uint32_t quarter, std::uint32_t x, std::uint8_t* to) {
  constexpr std::uint32_t id_bits = 0xc0000000;  // CuTe keeps the id there too
  const TensorAddress at(address & ~id_bits);
  const std::uint32_t word = memory.column(at.column + x / 32)[quarter * 32 + x % 32];
  for (std::uint32_t i = 0; i < blocks; ++i)
    to[i] = static_cast<std::uint8_t>(word >> (id + i) * 8);
}

// --- one block's part of a multiplication ---

class BlockPart {
 public:
  BlockPart(const async::TensorOperation& o, const BlockMultiplyUse& use,
            const InstructionDescriptor& of, Block& block, Matrices& at)
      : o_(o),
        use_(use),
        of_(of),
        memory_(tensor_memory(block)),
        block_(block),
        at_(at),
        layout_(layout_of(use, of)) {}

  void run(const std::uint32_t* lanes_left_out) {
    gather_a();
    if (of_.product.sparse) find_columns(memory_, o_, layout_, use_, of_.product, at_.columns);
    const std::uint32_t most = use_.scaled() ? 32 : panel_rows;
    const std::uint32_t rows = std::min(layout_.rows, most);
    for (std::uint32_t first = 0; first < layout_.rows; first += rows) {
      if (o_.accumulates) load(first, rows);
      use_.scaled() ? multiply_scaled(first, rows) : multiply(first, rows);
      store(first, rows, lanes_left_out);
    }
  }

 private:
  void gather_a() {
    const Form form = form_of(use_, of_.product.a);
    if (use_.a_in_tensor_memory)
      return gather_rows(memory_, TensorAddress(static_cast<std::uint32_t>(o_.a)), layout_, form,
                         at_.a);
    gather(block_, block_operand(o_.a, of_.a_major, layout_.rows, of_.row_bytes_a, of_.product.a),
           form, container_bytes(of_.product.a), at_.a);
  }

  bool halves() const { return of_.product.d == Element::f16; }
  void* accumulators() const {
    return halves() ? static_cast<void*>(at_.halves) : static_cast<void*>(at_.d);
  }
  template <class F>
  void each(std::uint32_t first, std::uint32_t rows, F f) {
    each_segment(memory_, TensorAddress(o_.d), layout_, static_cast<std::uint32_t>(of_.product.n),
                 first, rows, f);
  }

  void load(std::uint32_t first, std::uint32_t rows) {
    each(first, rows, [&](const std::uint32_t* from, std::uint32_t to, std::uint32_t) {
      for (std::uint32_t i = 0; i < segment; ++i)
        if (halves())
          at_.halves[to + i] = half_scaled_down(from[i] & 0xffff, o_.scale_d);
        else
          at_.d[to + i] = scaled_down(from[i], o_.scale_d);
    });
  }

  void store(std::uint32_t first, std::uint32_t rows, const std::uint32_t* lanes_left_out) {
    each(first, rows, [&](std::uint32_t* to, std::uint32_t from, std::uint32_t lane) {
      for (std::uint32_t i = 0; i < segment; ++i, ++lane)
        if (!(lanes_left_out[lane / 32] >> lane % 32 & 1))
          to[i] = halves() ? (to[i] & 0xffff0000) | at_.halves[from + i] : at_.d[from + i];
    });
  }

  std::size_t row_of_a() const {
    return static_cast<std::size_t>(of_.product.values()) * container_bytes(of_.product.a);
  }

  void multiply(std::uint32_t first, std::uint32_t rows) {
    constexpr int sm = 100;  // the first of those that have tensor memory
    tensor::Product p = of_.product;
    p.m = static_cast<int>(rows);
    tensor::multiply(
        tensor::numerics_of(sm), p,
        {.a = at_.a + first * row_of_a(),
         .b = at_.b,
         .c = o_.accumulates ? accumulators() : nullptr,
         .d = accumulators(),
         .columns =
             p.sparse ? at_.columns + first * static_cast<std::uint32_t>(p.values()) : nullptr});
  }

  // Each quarter of the lanes uses its own copies of the scales. With two parts of the columns, the
  // rows are in two quarters each.
  void multiply_scaled(std::uint32_t first, std::uint32_t rows) {
    const tensor::Product& p = of_.product;
    const std::uint32_t blocks = use_.scales;
    const auto columns = static_cast<std::uint32_t>(p.n), in_part = columns / layout_.parts;
    for (std::uint32_t part = 0; part < layout_.parts; ++part) {
      const std::uint32_t quarter =
          (layout_.lane(first) + part * layout_.lanes_a_part()) / TensorMemory::lanes_a_warp;
      for (std::uint32_t r = 0; r < rows; ++r)
        read_scales(memory_, o_.scale_a, of_.scale_a_id, blocks, quarter, first + r,
                    at_.scales_a + r * blocks);
      for (std::uint32_t n = 0; n < in_part; ++n)
        read_scales(memory_, o_.scale_b, of_.scale_b_id, blocks, quarter, part * in_part + n,
                    at_.scales_b + n * blocks);
      const tensor::ScaledProduct scaled{.a = p.a,
                                         .b = p.b,
                                         .m = static_cast<int>(rows),
                                         .n = static_cast<int>(in_part),
                                         .k = p.k,
                                         .blocks = static_cast<int>(blocks),
                                         .exact_groups = use_.four_bit(),
                                         .scale = of_.scale,
                                         .negates_a = p.negates_a,
                                         .negates_b = p.negates_b};
      std::uint32_t* const d = at_.d + part * in_part * rows;
      tensor::multiply(scaled,
                       {.a = reinterpret_cast<const std::uint8_t*>(at_.a) + first * row_of_a(),
                        .b = reinterpret_cast<const std::uint8_t*>(at_.b) +
                             std::size_t{part} * in_part * static_cast<std::size_t>(p.k),
                        .scale_a = at_.scales_a,
                        .scale_b = at_.scales_b,
                        .c = o_.accumulates ? d : nullptr,
                        .d = d});
    }
  }

  const async::TensorOperation& o_;
  const BlockMultiplyUse& use_;
  const InstructionDescriptor& of_;
  TensorMemory& memory_;
  Block& block_;
  Matrices& at_;
  const BlockLayout layout_;
};

}  // namespace

BlockOperand block_operand(std::uint64_t bits, Major major, std::uint32_t mn,
                           std::uint32_t row_bytes, Element element) {
  BlockOperand o{async::block_matrix_descriptor(bits), major, mn, row_bytes / swizzle_chunk};
  const std::uint32_t bytes = container_bytes(element);
  if (major == Major::mn) o.lines = row_bytes / bytes, o.chunks = mn * bytes / swizzle_chunk;
  return o;
}

std::string matrix_descriptor_mistake(std::uint64_t bits, Major major,
                                      std::uint32_t element_bytes) {
  constexpr std::uint64_t wide_atoms = 1;
  const std::uint64_t mode = bits >> 61, version = bits >> 46 & 7;
  if (version != 1) return fmt::format("its bits 46 to 48 are {}, but must be 1", version);
  if (bits >> 53 & 0xff) return "its bits 53 to 60, which are reserved, are not 0";
  if (bits >> 52 & 1) return "an absolute leading offset is not supported (bit 52)";
  if (!async::has_block_swizzle(bits))
    return fmt::format("its swizzle mode (bits 61 to 63) is {}, which does not exist", mode);
  if (major == Major::k && mode == wide_atoms)
    return "its swizzle moves 32 bytes at a time (mode 1), which only MN-major matrices can have";
  if (major == Major::mn && (mode == wide_atoms) != (element_bytes == 4))
    return "its matrix is MN-major: elements of 32 bits need the swizzle mode 1, and others must "
           "not "
           "have it";
  return {};
}

BlockLayout layout_of(const BlockMultiplyUse& use, const InstructionDescriptor& of) {
  BlockLayout layout;
  layout.rows = of.rows(use.group);
  if (use.weight_stationary) {
    layout.parts = 128 / layout.rows;
  } else if (layout.rows == 64) {
    const bool two_parts = use.group == 2 && !of.product.sparse;
    layout.parts = two_parts ? 2 : 1;
    layout.spread = !two_parts;
  }
  return layout;
}

std::uint32_t columns_of_d(const BlockLayout& layout, const InstructionDescriptor& of) {
  return static_cast<std::uint32_t>(of.product.n) / layout.parts;
}

std::uint32_t columns_of_scales(std::uint32_t count) { return (count + 31) / 32; }

void perform_multiply(const async::TensorOperation& o) {
  const auto* const op = static_cast<const Op*>(o.what);
  const auto& use = use_of<BlockMultiplyUse>(op);
  std::string mistake;
  std::string_view check;
  const InstructionDescriptor of = instruction_descriptor(o.descriptor, use, mistake, check);
  auto& issuer = *static_cast<Block*>(o.context);
  static thread_local Matrices at;
  std::byte* b = at.b;
  Block* blocks[2] = {&issuer, nullptr};
  if (use.group == 2) {
    Block& peer = peer_of(issuer);
    blocks[issuer.rank % 2] = &issuer, blocks[1 - issuer.rank % 2] = &peer;
  }
  const Form form = form_of(use, of.product.b);
  const auto columns = static_cast<std::uint32_t>(of.product.n) / use.group;
  for (std::uint32_t i = 0; i < use.group; ++i)
    b = gather(*blocks[i], block_operand(o.b, of.b_major, columns, of.row_bytes_b(), of.product.b),
               form, container_bytes(of.product.b), b);
  for (std::uint32_t i = 0; i < use.group; ++i)
    BlockPart(o, use, of, *blocks[i], at).run(o.lanes_left_out.data() + std::size_t{4} * i);
}

void perform_copy(const async::TensorOperation& o) {
  const auto& use = use_of<TensorMemoryCopyUse>(static_cast<const Op*>(o.what));
  auto& issuer = *static_cast<Block*>(o.context);
  Block* const blocks[2] = {&issuer, use.group == 2 ? &peer_of(issuer) : nullptr};
  const BlockOperand from{async::block_matrix_descriptor(o.a), Major::k, use.rows, use.chunks};
  const TensorAddress to(o.d);
  for (std::uint32_t i = 0; i < use.group; ++i) {
    TensorMemory& memory = tensor_memory(*blocks[i]);
    for (std::uint32_t row = 0; row < use.rows; ++row)
      for (std::uint32_t chunk = 0; chunk < use.chunks; ++chunk) {
        std::byte bytes[swizzle_chunk];
        read_chunk(*blocks[i], from.address(row, chunk), bytes);
        std::uint32_t words[swizzle_chunk / 4];
        if (use.expanded_bits == 0)
          std::memcpy(words, bytes, sizeof words);
        else
          expand(bytes, use.expanded_bits, reinterpret_cast<std::byte*>(words));
        if (use.expanded_bits == 4)
          for (std::uint32_t& each : words) each <<= 2;  // as A of .kind::f8f6f4 has them
        use.each_lane(row, [&](std::uint32_t lane) {
          for (std::uint32_t w = 0; w < std::size(words); ++w)
            memory.column(to.column + chunk * 4 + w)[to.lane + lane] = words[w];
        });
      }
  }
}

}  // namespace inflight::machine
