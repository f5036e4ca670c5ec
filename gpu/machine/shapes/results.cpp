// Shapes through arithmetic, conversions, comparisons, loads and collectives.
#include "gpu/machine/shapes/results.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "gpu/machine/shapes/regions.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Special;
using ptx::Type;
using Kind = Operand::Kind;
using Reach = Shape::Reach;

// Bits of an integer whose arithmetic is followed; 0 for other types.
unsigned integer_bits(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
    case Type::s16:
      return 16;
    case Type::b32:
    case Type::u32:
    case Type::s32:
      return 32;
    case Type::b64:
    case Type::u64:
    case Type::s64:
      return 64;
    default:
      return 0;
  }
}

unsigned register_bits(Type type) { return std::max(2u, ptx::size_of(type)) * 8; }

std::optional<std::uint64_t> constant(const Operand& o) {
  if (o.kind != Kind::integer) return std::nullopt;
  return static_cast<std::uint64_t>(o.value);
}

// The constant among two operands, and the other operand.
struct Scaled {
  const Operand* other = nullptr;
  std::uint64_t factor = 0;
};
std::optional<Scaled> scaled(const Operand& a, const Operand& b) {
  if (const auto c = constant(b)) return Scaled{&a, *c};
  if (const auto c = constant(a)) return Scaled{&b, *c};
  return std::nullopt;
}

// A comparison by order. `below`: it asks for less, or not less; otherwise for not more, or more.
struct Order {
  bool below = false;
};
std::optional<Order> order_of(const ModSet& mods) {
  constexpr std::pair<Mod, bool> all[] = {{Mod::lt, true},  {Mod::ge, true}, {Mod::le, false},
                                          {Mod::gt, false}, {Mod::lo, true}, {Mod::hs, true},
                                          {Mod::ls, false}, {Mod::hi, false}};
  for (const auto& [mod, below] : all)
    if (mods == ModSet{mod}) return Order{below};
  return std::nullopt;
}

bool is_clock(Special special) {
  switch (special) {
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

}  // namespace

Shape Results::special(Special special) const {
  const bool rows = rows_ == BlockRows::line || rows_ == BlockRows::warps;
  switch (special) {
    case Special::tid_x:
      if (rows) return Shape::affine(Reach::warp, 1, 5);
      return rows_ == BlockRows::halves ? Shape::affine(Reach::half, 1, 4) : Shape::lanes();
    case Special::tid_y:
    case Special::tid_z:
      if (rows_ == BlockRows::line) return Shape::uniform(Shape::all_zeros);
      if (rows) return Shape::uniform();
      return rows_ == BlockRows::halves ? Shape::affine(Reach::half, 0) : Shape::lanes();
    case Special::laneid:
      return Shape::affine(Reach::warp, 1, Shape::all_zeros);
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      return Shape::lanes();
    default:
      return Shape::uniform();
  }
}

Shape Results::any_operand(const Operand& o) const {
  switch (o.kind) {
    case Kind::reg:
    case Kind::sink: {
      Shape all = o.kind == Kind::reg ? shapes_[o.index] : Shape::uniform();
      if (o.second != ptx::none) all = pointwise(all, shapes_[o.second]);
      return all;
    }
    case Kind::special:
      return special(static_cast<Special>(o.index));
    case Kind::integer:
      return Shape::uniform(zeros_of(static_cast<std::uint64_t>(o.value)));
    case Kind::f32:
    case Kind::f64:
    case Kind::variable:
    case Kind::function:
      return Shape::uniform();
    case Kind::vector:
    case Kind::list: {
      Shape all = Shape::uniform();
      for (unsigned i = 0; i < o.count; ++i)
        all = pointwise(all, any_operand(f_.text->pool[o.index + i]));
      return all;
    }
    default:
      return Shape::lanes();
  }
}

Shape Results::operand(const Operand& o, Type type) const {
  const Shape shape = any_operand(o);
  const unsigned bits = ptx::size_of(type) * 8;
  unsigned have = bits;
  if (o.kind == Kind::reg) have = register_bits(f_.text->registers[o.index].type);
  if (o.kind == Kind::special) have = 32;
  if (have == bits || !shape.is_affine()) return shape;
  if (have > bits) return truncated(shape, bits);
  // Extended: values in steps might wrap in the narrow register, and the others keep their zeros
  // only below its width.
  return shape.is_flat() ? Shape::affine(shape.reach, 0) : Shape::lanes();
}

Shape Results::address(const MemoryOperand& m) const {
  switch (m.address.base) {
    case Address::Base::reg: {
      const Shape base = shapes_[m.address.index];
      return sum(base, Shape::uniform(), m.address.wide ? 64 : 32);
    }
    case Address::Base::absolute:
    case Address::Base::variable:
      return Shape::uniform();
  }
  return Shape::lanes();
}

// The result is as wide as its register, so that nothing is extended on the way there.
bool Results::fits(const Instruction& in, unsigned bits) const {
  return bits != 0 && in.writes.size() == 1 &&
         register_bits(f_.text->registers[in.writes.front().reg].type) == bits;
}

// Each lane computes the same from the same.
Shape Results::all_alike(const Instruction& in) const {
  if (in.reads_carry) return Shape::lanes();
  Shape all = Shape::uniform();
  if (const auto* joined = in.as<Contraction>()) {
    for (const Operand* each : {joined->factors[0], joined->factors[1], joined->addend})
      all = pointwise(all, any_operand(*each));
    return all;
  }
  const auto operands = f_.text->operands(*in.text);
  for (std::size_t i = 1; i < operands.size(); ++i) all = pointwise(all, any_operand(operands[i]));
  return all;
}

Results::Result Results::multiply(const Instruction& in) const {
  const auto operands = f_.text->operands(*in.text);
  const Type type = in.text->type();
  const unsigned bits = integer_bits(type);
  const bool wide = in.text->mods == ModSet{Mod::wide};
  const bool adds = in.opcode == Opcode::mad;
  if (bits == 0 || operands.size() != (adds ? 4u : 3u)) return {all_alike(in)};
  if (!wide && in.text->mods != ModSet{Mod::lo} && in.text->mods != ModSet{Mod::lo, Mod::cc})
    return {all_alike(in)};
  const unsigned width = wide ? 2 * bits : bits;
  if (width > 64 || !fits(in, width)) return {all_alike(in)};
  Result result;
  const Shape a = operand(operands[1], type), b = operand(operands[2], type);
  const auto one = scaled(operands[1], operands[2]);
  if (one && !(a.is_flat() && b.is_flat())) {
    // A wide product extends the constant as it does the other factor.
    std::uint64_t factor = one->factor;
    if (wide)
      factor = ptx::is_signed(type) ? static_cast<std::uint64_t>(in_width(factor, bits))
                                    : factor & (~std::uint64_t{0} >> (64 - bits));
    result.shape = product(operand(*one->other, type), factor, width);
    result.checked = wide && result.shape.is_affine();
  } else {
    result.shape = pointwise(a, b);
    if (result.shape.is_affine())
      result.shape.zeros = static_cast<std::uint8_t>(
          wide ? 0 : std::min<unsigned>(a.zeros + b.zeros, Shape::all_zeros));
  }
  if (!adds) return result;
  const Type sum_type = width == 64 ? Type::u64 : width == 32 ? Type::u32 : Type::u16;
  result.shape = sum(result.shape, operand(operands[3], sum_type), width);
  result.checked &= result.shape.is_affine();
  return result;
}

Results::Result Results::convert(const Instruction& in) const {
  const auto operands = f_.text->operands(*in.text);
  const Type to = in.text->type(0), from = in.text->type(1);
  const unsigned bits = integer_bits(to), source_bits = integer_bits(from);
  if (bits == 0 || source_bits == 0 || !in.text->mods.empty() || operands.size() != 2 ||
      !fits(in, bits))
    return {all_alike(in)};
  const Shape a = operand(operands[1], from);
  if (bits <= source_bits) return {truncated(a, bits)};
  if (!a.is_affine()) return {pointwise(a, a)};
  // A base of which all bits are zero stays zero.
  return {Shape::affine(a.reach, a.stride, a.zeros < source_bits ? a.zeros : Shape::all_zeros),
          a.stride != 0};
}

Results::Result Results::compare(const Instruction& in) const {
  const auto operands = f_.text->operands(*in.text);
  const Type type = in.text->type();
  const unsigned bits = integer_bits(type);
  const auto order = order_of(in.text->mods);
  if (bits == 0 || !order || operands.size() != 3 || in.text->type_count != 1)
    return {all_alike(in)};
  Shape a = operand(operands[1], type), b = operand(operands[2], type);
  if (!a.is_affine() || !b.is_affine() || (a.is_flat() && b.is_flat())) return {pointwise(a, b)};
  const Reach reach = a.reach == b.reach ? a.reach : Reach::half;
  // a < b and a >= b are the same in all lanes if b is no value between a's first and last but the
  // first. Turned around it holds for b <= a and b > a.
  const bool turned = a.is_flat();
  if (turned) std::swap(a, b);
  const Operand& limit = operands[turned ? 1 : 2];
  if (b.is_flat()) {
    const bool below = order->below != turned;
    unsigned zeros = b.zeros;
    if (!below) {  // a <= c is a < c + 1, where there is one more
      const auto c = constant(limit);
      const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
      const std::uint64_t greatest = ptx::is_signed(type) ? all >> 1 : all;
      zeros = c && (*c & all) != greatest ? zeros_of(*c + 1) : 0;
    }
    const Shape whole =
        reach == a.reach ? a : Shape::affine(reach, a.stride, std::min<unsigned>(a.zeros, 4));
    if (never_crosses(whole, zeros)) return {Shape::affine(reach, 0)};
  }
  return {Shape::monotone(reach), true};
}

Shape Results::logic(const Instruction& in) const {
  const auto operands = f_.text->operands(*in.text);
  const Type type = in.text->type();
  const unsigned bits = integer_bits(type);
  if (!fits(in, bits) || operands.size() != 3) return all_alike(in);
  if (in.opcode != Opcode::and_)
    return combined(operand(operands[1], type), operand(operands[2], type), bits);
  const auto one = scaled(operands[1], operands[2]);
  return one ? masked(operand(*one->other, type), one->factor, bits) : all_alike(in);
}

Results::Result Results::compute(const Instruction& in) const {
  const auto operands = f_.text->operands(*in.text);
  const ModSet& mods = in.text->mods;
  const Type type = in.text->type();
  const unsigned bits = integer_bits(type);
  const auto op = [&](std::size_t n) { return operand(operands[n], type); };
  const bool plain = mods.empty() && fits(in, bits);
  if (in.reads_carry || in.as<Contraction>()) return {all_alike(in)};
  switch (in.opcode) {
    case Opcode::mov:
      if (type == Type::pred && operands.size() == 2 && operands[1].kind == Kind::reg)
        return {any_operand(operands[1])};
      // A vector is taken apart or put together.
      if (plain && operands.size() == 2 && operands[1].kind != Kind::vector) return {op(1)};
      break;
    case Opcode::cvta:
      if (fits(in, bits) && operands.size() == 2) return {sum(op(1), Shape::uniform(), bits)};
      break;
    case Opcode::add:
    case Opcode::sub:
      if (!fits(in, bits) || operands.size() != 3 || !(mods.empty() || mods == ModSet{Mod::cc}))
        break;
      return {sum(op(1), in.opcode == Opcode::add ? op(2) : negative(op(2), bits), bits)};
    case Opcode::mul:
    case Opcode::mad:
      return multiply(in);
    case Opcode::neg:
      if (plain) return {negative(op(1), bits)};
      break;
    case Opcode::not_:
      if (type == Type::pred && shapes_[operands[1].index].kind == Shape::Kind::monotone)
        return {shapes_[operands[1].index]};
      if (plain) return {complement(op(1), bits)};
      break;
    case Opcode::shl:
    case Opcode::shr:
      if (const auto by = constant(operands[2]); by && plain) {
        const auto shift = static_cast<unsigned>(std::min<std::uint64_t>(*by & UINT32_MAX, bits));
        return {in.opcode == Opcode::shl ? shifted_left(op(1), shift, bits)
                                         : shifted_right(op(1), shift, bits)};
      }
      break;
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
      if (type != Type::pred) return {logic(in)};
      break;
    case Opcode::selp:
      if (operands.size() != 4 || !fits(in, bits)) break;
      if (const Shape by = any_operand(operands[3]); !by.known() || by.is_uniform())
        return {by.known() ? join(op(1), op(2)) : Shape()};
      break;
    case Opcode::cvt:
      return convert(in);
    case Opcode::setp:
      return compare(in);
    default:
      break;
  }
  return {all_alike(in)};
}

// Collectives whose result is the same for all lanes with the same member mask.
Shape Results::together(const Instruction& in) const {
  using Of = check::Collective::Kind;
  const auto* collective = in.as<CollectiveUse>();
  const auto* barrier = in.as<BarrierUse>();
  const bool alike =
      (collective && (collective->kind == Of::vote || collective->kind == Of::reduce)) ||
      (barrier && barrier->of == BarrierUse::Of::block);
  if (!alike) return Shape::lanes();
  for (const Operand& o : sorting_operands(*f_.text, in)) {
    const Shape shape = any_operand(o);
    if (!shape.known()) return {};
    if (!shape.is_uniform()) return Shape::lanes();
  }
  return Shape::uniform();
}

// A test of one mbarrier for one phase has one answer for all lanes that make it together.
Shape Results::test(const Instruction& in) const {
  using Op = check::MbarrierOp::Op;
  const Op op = in.as<MbarrierUse>()->op;
  const auto operands = f_.text->operands(*in.text);
  if ((op != Op::try_wait && op != Op::test_wait) || in.memory.size() != 1 || operands.size() < 3)
    return Shape::lanes();
  const Shape all = pointwise(address(in.memory.front()), any_operand(operands[2]));
  return !all.known() || all.is_uniform() ? all : Shape::lanes();
}

// A parameter of the kernel, by its name. Others, and those of calls, are each lane's own.
bool Results::reads_parameter(const MemoryOperand& m) const {
  return m.role == MemoryOperand::Role::load && m.address.base == Address::Base::variable &&
         std::ranges::find(f_.text->parameters, m.address.index) != f_.text->parameters.end();
}

Shape Results::load(const Instruction& in) const {
  if ((in.opcode != Opcode::ld && in.opcode != Opcode::ldu) || in.memory.size() != 1)
    return Shape::lanes();
  const MemoryOperand& m = in.memory.front();
  if (reads_parameter(m)) return Shape::uniform();
  const bool shared =
      m.space == Space::shared || m.space == Space::global || m.space == Space::constant;
  if (!shared || m.order != check::Order::weak) return Shape::lanes();
  const Shape at = address(m);
  return pointwise(at, at);
}

Results::Result Results::of(const Instruction& in) const {
  if (computes(in.effect) && in.control == Control::next) return compute(in);
  if (in.as<MbarrierUse>()) return {test(in)};
  if (in.control == Control::meet || in.control == Control::wait) return {together(in)};
  if (in.effect == Effect::accesses) return {load(in)};
  return {Shape::lanes()};
}

bool Results::is_constant(const Instruction& in) const {
  if (in.effect == Effect::accesses)
    return in.memory.size() == 1 && reads_parameter(in.memory.front());
  if (!computes(in.effect) || in.control != Control::next || in.reads_carry) return false;
  return std::ranges::none_of(f_.text->operands(*in.text), [](const Operand& o) {
    return o.kind == Kind::special && is_clock(static_cast<Special>(o.index));
  });
}

}  // namespace inflight::machine
