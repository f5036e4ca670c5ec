// Reads instruction descriptors and refuses reserved values by the name of their field.
#include "gpu/machine/families/tcgen05_descriptor.hpp"

#include <fmt/format.h>

#include <optional>

namespace inflight::machine {
namespace {

using async::Major;
using tensor::Element;
using Kind = BlockMultiplyUse::Kind;

// Bits `low` to `high` of the descriptor.
std::uint32_t field(std::uint32_t bits, unsigned low, unsigned high) {
  return bits >> low & ((1u << (high - low + 1)) - 1);
}

std::optional<Element> small_float(std::uint32_t number) {
  constexpr std::optional<Element> all[] = {Element::e4m3, Element::e5m2, {}, Element::e2m3,
                                            Element::e3m2, Element::e2m1, {}, {}};
  return all[number];
}

std::optional<Element> element(Kind kind, std::uint32_t number) {
  switch (kind) {
    case Kind::f16:
      if (number > 1) return {};
      return number ? Element::bf16 : Element::f16;
    case Kind::tf32:
      if (number != 2) return {};
      return Element::tf32;
    case Kind::i8:
      if (number > 1) return {};
      return number ? Element::s8 : Element::u8;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4:
      return small_float(number);
    case Kind::mxf4:
    case Kind::mxf4nvf4:
      if (number != 1) return {};
      return Element::e2m1;
  }
  return {};
}

std::optional<Element> accumulator(Kind kind, std::uint32_t number) {
  if (kind == Kind::i8) return number == 2 ? std::optional(Element::s32) : std::nullopt;
  if (number == 1) return Element::f32;
  if (number == 0 && (kind == Kind::f16 || kind == Kind::f8f6f4)) return Element::f16;
  return {};
}

int depth(const BlockMultiplyUse& use) {
  constexpr int depths[] = {16, 8, 32, 32, 32, 64, 64};
  return depths[static_cast<int>(use.kind)] * (use.sparse ? 2 : 1);
}

class Reader {
 public:
  Reader(std::uint32_t bits, const BlockMultiplyUse& use, std::string& mistake,
         std::string_view& check)
      : bits_(bits), use_(use), mistake_(mistake), check_(check) {}

  InstructionDescriptor run() {
    tensor::Product& p = out_.product;
    p.unit = tensor::Unit::warpgroup;
    p.k = depth(use_);
    p.sparse = field(bits_, 2, 2);
    if (p.sparse != use_.sparse) {
      check_ = "sparse_mismatch_between_idesc_mod";
      refuse(p.sparse ? "its bit 2 says that A is sparse, but the instruction lacks .sp"
                      : "its bit 2 says that A is dense, but the instruction has .sp");
    }
    p.n = static_cast<int>(field(bits_, 17, 22)) * 8;
    use_.scaled() ? scaled() : plain();
    sizes();
    return out_;
  }

 private:
  void refuse(std::string why) {
    if (mistake_.empty()) mistake_ = std::move(why);
  }
  void zero(unsigned low, unsigned high) {
    if (const std::uint32_t value = field(bits_, low, high))
      refuse(low == high
                 ? fmt::format("its bit {}, which is reserved, is 1", low)
                 : fmt::format("its bits {} to {}, which are reserved, are {}", low, high, value));
  }
  Element type_of(char matrix, unsigned low, unsigned high) {
    const std::uint32_t number = field(bits_, low, high);
    const auto found = element(use_.kind, number);
    if (!found)
      refuse(fmt::format("its type of {} (bits {} to {}) is {}, which this kind does not have",
                         matrix, low, high, number));
    return found.value_or(Element::f16);
  }
  Major major_of(char matrix, unsigned bit, Element e) {
    if (!field(bits_, bit, bit)) return Major::k;
    const bool narrow = e == Element::e2m3 || e == Element::e3m2 || e == Element::e2m1;
    if (narrow)
      refuse(
          fmt::format("its bit {} says that {} is MN-major, which elements of 4 and 6 bits "
                      "cannot be",
                      bit, matrix));
    return Major::mn;
  }
  void signs_and_majors() {
    tensor::Product& p = out_.product;
    p.negates_a = field(bits_, 13, 13), p.negates_b = field(bits_, 14, 14);
    if ((p.negates_a || p.negates_b) && use_.kind == Kind::i8)
      refuse("its bits 13 and 14 negate A or B, which .kind::i8 cannot");
    out_.a_major = major_of('A', 15, p.a), out_.b_major = major_of('B', 16, p.b);
  }

  void plain() {
    tensor::Product& p = out_.product;
    if (field(bits_, 0, 1) != 0)
      refuse(fmt::format("its sparsity selector (bits 0 and 1) is {}; only 0 is supported",
                         field(bits_, 0, 1)));
    p.saturates = field(bits_, 3, 3);
    if (p.saturates && use_.kind != Kind::i8)
      refuse("its bit 3 asks for saturation, which only .kind::i8 has");
    const auto d = accumulator(use_.kind, field(bits_, 4, 5));
    if (!d)
      refuse(fmt::format("its type of D (bits 4 and 5) is {}, which this kind does not have",
                         field(bits_, 4, 5)));
    p.c = p.d = d.value_or(Element::f32);
    zero(6, 6);
    p.a = type_of('A', 7, 9), p.b = type_of('B', 10, 12);
    if (use_.kind == Kind::f16 && p.a != p.b)
      refuse("its types of A and B differ, which .kind::f16 does not allow");
    if (p.d == Element::f16 && p.a == Element::bf16)
      refuse("its type of D is f16, but A and B are bf16");
    signs_and_majors();
    zero(23, 23);
    p.m = static_cast<int>(field(bits_, 24, 28)) * 16;
    zero(29, 29);
    if (!use_.weight_stationary) zero(30, 31);
    out_.max_shift = field(bits_, 30, 31) * 8;
  }

  void scaled() {
    tensor::Product& p = out_.product;
    if (field(bits_, 0, 1) != 0)
      refuse(fmt::format("its sparsity selector (bits 0 and 1) is {}; only 0 is supported",
                         field(bits_, 0, 1)));
    zero(3, 3);
    out_.scale_b_id = field(bits_, 4, 5);
    zero(6, 6);
    p.c = p.d = Element::f32;
    p.a = type_of('A', 7, 9), p.b = type_of('B', 10, use_.four_bit() ? 11 : 12);
    if (use_.four_bit()) {
      zero(12, 16);
    } else {
      signs_and_majors();
    }
    const bool exponents = field(bits_, 23, 23);
    out_.scale = exponents ? tensor::Scale::ue8m0 : tensor::Scale::ue4m3;
    if (!exponents && (use_.kind != Kind::mxf4nvf4 || use_.scales != 4))
      refuse("its scales (bit 23) are of type ue4m3, which only .kind::mxf4nvf4 with .block16 has");
    zero(24, 26);
    p.m = static_cast<int>(field(bits_, 27, 28)) * 128;
    out_.scale_a_id = field(bits_, 29, 30);
    ids();
    if (!field(bits_, 31, 31)) return;
    refuse(use_.four_bit() ? "K = 96 is not supported (bit 31)"
                           : "its bit 31, which is reserved, is 1");
  }

  void ids() {
    const auto check = [&](char matrix, std::uint32_t id) {
      if (use_.scales == 2 ? id % 2 == 0 : use_.scales == 1 || id == 0) return;
      refuse(fmt::format("its scale factor id of {} is {}, but with {} scales a row it must be {}",
                         matrix, id, use_.scales, use_.scales == 2 ? "0 or 2" : "0"));
    };
    check('A', out_.scale_a_id), check('B', out_.scale_b_id);
  }

  void sizes() {
    const int m = out_.product.m, n = out_.product.n;
    const bool pair = use_.group == 2;
    const bool rows = use_.weight_stationary ? m == 32 || m == 64 || m == 128
                      : pair          ? m == 256 || (m == 128 && !(use_.scaled() && use_.sparse))
                      : use_.scaled() ? m == 128
                                      : m == 64 || m == 128;
    if (!rows) refuse(fmt::format("its M is {}, which this form does not have", m));
    const int step = use_.kind == Kind::i8 ? (pair ? 32 : n > 32 ? 16 : 8) : pair ? 16 : 8;
    const bool columns = use_.weight_stationary ? n == 64 || n == 128 || (n == 256 && !use_.sparse)
                                                : n >= step && n <= 256 && n % step == 0;
    if (!columns) refuse(fmt::format("its N is {}, which this form does not have", n));
  }

  const std::uint32_t bits_;
  const BlockMultiplyUse& use_;
  std::string& mistake_;
  std::string_view& check_;
  InstructionDescriptor out_;
};

}  // namespace

InstructionDescriptor instruction_descriptor(std::uint32_t bits, const BlockMultiplyUse& use,
                                             std::string& mistake, std::string_view& check) {
  return Reader(bits, use, mistake, check).run();
}

}  // namespace inflight::machine
