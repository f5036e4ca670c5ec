// multimem.ld_reduce, multimem.st and multimem.red (PTX ISA, "Data Movement and Conversion
// Instructions: multimem").
//
// An address belongs to a multicast object and refers to memory of each of its devices. Values are
// reduced in the order in which the devices were added; PTX does not define the order.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "gpu/async/reduction.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/lowering/observing.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/multicast_access.hpp"
#include "gpu/numbers/narrow_floats.hpp"

namespace inflight::machine {
namespace {

using async::ReduceOp;
using async::TensorType;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

constexpr std::uint32_t most_bytes = 16;  // of a thread's access

enum class Narrow : std::uint8_t { none, e4m3, e5m2 };  // 8-bit floats

// The entry after the registers in Op::extra: an operation, a type, and how sums are accumulated:
// those of 16-bit floats in their own precision or in f32, those of 8-bit floats in f32 or in f16.
struct Form {
  ReduceOp op = ReduceOp::add;
  TensorType type = TensorType::u32;
  bool wide = false;             // .acc::f32
  Narrow narrow = Narrow::none;  // instead of `type`
  bool half = false;             // .acc::f16
  std::uint32_t packed() const {
    return static_cast<unsigned>(op) | static_cast<unsigned>(type) << 4 |
           static_cast<unsigned>(wide) << 12 | static_cast<unsigned>(narrow) << 13 |
           static_cast<unsigned>(half) << 15;
  }
  explicit Form(std::uint32_t bits)
      : op(static_cast<ReduceOp>(bits & 15)),
        type(static_cast<TensorType>(bits >> 4 & 255)),
        wide(bits >> 12 & 1),
        narrow(static_cast<Narrow>(bits >> 13 & 3)),
        half(bits >> 15 & 1) {}
  Form() = default;
};

// One lane's value: the elements of its registers in order.
struct Value {
  alignas(16) std::byte bytes[most_bytes] = {};
};

std::uint32_t size_of_access(const Op* op) {
  return op->count * ptx::size_of(op->what->text->types[0]);
}

// The places of the lanes' bytes. Empty after a fault, such as an address of no multicast object.
std::vector<MulticastLanes> find_lanes(Warp& w, const Op* op) {
  const std::uint32_t bytes = size_of_access(op);
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, ptx::Space::global, addresses);
  const auto fault = [&](std::uint32_t bad, FaultKind kind, const std::string& why) {
    const std::uint64_t address = addresses[std::countr_zero(bad)];
    FaultDetail about;
    about.access = true, about.writes = op->what->text->opcode != Opcode::multimem_ld_reduce;
    about.space = ptx::Space::global;
    about.address = address, about.bytes = about.alignment = bytes;
    w.fault(op, kind, bad,
            fmt::format("{} at 0x{:x}, which {}", op->what->text->name, address, why), about);
    return std::vector<MulticastLanes>{};
  };
  std::uint32_t misaligned = 0, astray = 0;
  each_lane(w.mask, [&](int l) { misaligned |= addresses[l] % bytes ? 1u << l : 0; });
  if (misaligned)
    return fault(misaligned, FaultKind::misaligned_address,
                 fmt::format("is not a multiple of {}", bytes));
  auto found = multicast_lanes(w, w.mask, addresses, bytes, astray);
  if (astray)
    return fault(
        astray, FaultKind::illegal_address,
        "is not in a mapped multicast object to which each of its devices has bound memory there");
  return found;
}

std::byte* place(const MulticastLanes::Device& device, int lane) {
  return reinterpret_cast<std::byte*>(device.at[static_cast<unsigned>(lane)]);
}

const Ref* elements(const Warp& w, const Op* op) { return w.frame->code->extra.data() + op->extra; }
Form form_of(const Warp& w, const Op* op) { return Form(elements(w, op)[op->count]); }

// Each element of `out` is the sum of all devices', accumulated in f32 and rounded to Format once.
template <class Format>
void sum_wide(const MulticastLanes& from, int lane, std::uint32_t bytes, std::byte* out) {
  for (std::uint32_t i = 0; i < bytes; i += 2) {
    float sum = 0;
    for (std::size_t d = 0; d < from.devices.size(); ++d) {
      std::uint16_t bits;
      std::memcpy(&bits, place(from.devices[d], lane) + i, sizeof bits);
      sum = d == 0 ? Format::value(bits) : sum + Format::value(bits);
    }
    const auto rounded = static_cast<std::uint16_t>(Format::round(sum));
    std::memcpy(out + i, &rounded, sizeof rounded);
  }
}

// Of a number and a NaN, the number. -0 is less than +0.
float extreme(float a, float b, bool least) {
  if (a != a || b != b) return a != a ? b : a;
  const bool a_less = a < b || (a == b && std::signbit(a));
  return a_less == least ? a : b;
}
float combined(const Form& form, float a, float b) {
  if (form.op != ReduceOp::add) return extreme(a, b, form.op == ReduceOp::min);
  const float sum = a + b;
  return form.half ? numbers::F16::value(numbers::F16::round(sum)) : sum;
}
// Each byte of `out` is the reduction of all devices', rounded to Format once.
template <class Format>
void reduce_narrow(const Form& form, const MulticastLanes& from, int lane, std::uint32_t bytes,
                   std::byte* out) {
  for (std::uint32_t i = 0; i < bytes; ++i) {
    float all = 0;
    for (std::size_t d = 0; d < from.devices.size(); ++d) {
      const float value = Format::value(static_cast<std::uint8_t>(place(from.devices[d], lane)[i]));
      all = d == 0 ? value : combined(form, all, value);
    }
    out[i] = static_cast<std::byte>(Format::round(all));
  }
}

Value reduced(const Op* op, const Form& form, const MulticastLanes& from, int lane) {
  const std::uint32_t bytes = size_of_access(op);
  Value value;
  std::memcpy(value.bytes, place(from.devices.front(), lane), bytes);
  if (form.narrow == Narrow::e4m3) {
    reduce_narrow<numbers::E4m3>(form, from, lane, bytes, value.bytes);
  } else if (form.narrow == Narrow::e5m2) {
    reduce_narrow<numbers::E5m2>(form, from, lane, bytes, value.bytes);
  } else if (form.wide && form.type == TensorType::f16) {
    sum_wide<numbers::F16>(from, lane, bytes, value.bytes);
  } else if (form.wide) {
    sum_wide<numbers::Bf16>(from, lane, bytes, value.bytes);
  } else {
    const async::Reduce reduce = async::reduction(form.op, form.type);
    for (std::size_t d = 1; d < from.devices.size(); ++d)
      reduce(value.bytes, place(from.devices[d], lane), bytes);
  }
  return value;
}

const Op* run_ld_reduce(Warp& w, const Op* op) {
  const auto found = find_lanes(w, op);
  if (found.empty()) return nullptr;
  const Form form = form_of(w, op);
  const std::uint32_t each = size_of_access(op) / op->count;
  for (const MulticastLanes& group : found)
    each_lane(group.mask, [&](int l) {
      const Value value = reduced(op, form, group, l);
      for (unsigned i = 0; i < op->count; ++i)
        std::memcpy(w.at<std::byte>(elements(w, op)[i]) + l * each, value.bytes + i * each, each);
    });
  w.poll();  // it may load a flag that others set
  return op + 1;
}

// Calls f(place, value, bytes) for each device's bytes of each lane.
template <class F>
const Op* for_each_place(Warp& w, const Op* op, F f) {
  const auto found = find_lanes(w, op);
  if (found.empty()) return nullptr;
  const std::uint32_t bytes = size_of_access(op), each = bytes / op->count;
  for (const MulticastLanes& group : found)
    each_lane(group.mask, [&](int l) {
      Value value;
      for (unsigned i = 0; i < op->count; ++i)
        std::memcpy(value.bytes + i * each, w.at<std::byte>(elements(w, op)[i]) + l * each, each);
      for (const MulticastLanes::Device& device : group.devices)
        f(place(device, l), value.bytes, bytes);
    });
  w.progressed = true;
  return op + 1;
}

const Op* run_st(Warp& w, const Op* op) {
  return for_each_place(w, op, [](std::byte* to, const std::byte* from, std::uint32_t bytes) {
    if (bytes == 4)
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(to),
                       *reinterpret_cast<const std::uint32_t*>(from), __ATOMIC_RELEASE);
    else if (bytes == 8)
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(to),
                       *reinterpret_cast<const std::uint64_t*>(from), __ATOMIC_RELEASE);
    else  // in atomic 8-byte halves: a program may put data and its flag into one half
      for (std::uint32_t i = 0; i < bytes; i += 8)
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(to + i),
                         *reinterpret_cast<const std::uint64_t*>(from + i), __ATOMIC_RELEASE);
  });
}

const Op* run_red(Warp& w, const Op* op) {
  const Form form = form_of(w, op);
  return for_each_place(w, op, async::reduction(form.op, form.type));
}

// --- forms ---

struct Operation {
  Mod mod;
  ReduceOp op;
};
constexpr Operation operations[] = {{Mod::add, ReduceOp::add},    {Mod::min, ReduceOp::min},
                                    {Mod::max, ReduceOp::max},    {Mod::and_, ReduceOp::bit_and},
                                    {Mod::or_, ReduceOp::bit_or}, {Mod::xor_, ReduceOp::bit_xor}};
struct ElementType {
  Type type;
  TensorType element;
};
constexpr ElementType element_types[] = {
    {Type::u32, TensorType::u32},   {Type::s32, TensorType::s32},
    {Type::u64, TensorType::u64},   {Type::s64, TensorType::s64},
    {Type::b32, TensorType::u32},   {Type::b64, TensorType::u64},
    {Type::f16, TensorType::f16},   {Type::f16x2, TensorType::f16},
    {Type::bf16, TensorType::bf16}, {Type::bf16x2, TensorType::bf16},
    {Type::f32, TensorType::f32},   {Type::f64, TensorType::f64}};

Narrow narrow_of(Type type) {
  switch (type) {
    case Type::e4m3:
    case Type::e4m3x2:
    case Type::e4m3x4:
      return Narrow::e4m3;
    case Type::e5m2:
    case Type::e5m2x2:
    case Type::e5m2x4:
      return Narrow::e5m2;
    default:
      return Narrow::none;
  }
}

// 8-bit floats can be loaded and stored, but there is no multimem.red of them.
std::optional<Form> narrow_form(const ptx::Instruction& in) {
  Form form;
  form.narrow = narrow_of(in.types[0]);
  form.half = in.mods.has(Mod::acc_f16);
  form.op = in.mods.has(Mod::add)   ? ReduceOp::add
            : in.mods.has(Mod::min) ? ReduceOp::min
                                    : ReduceOp::max;
  const ptx::ModSet others{Mod::and_, Mod::or_, Mod::xor_, Mod::acc_f32};
  const bool named = in.mods.has(Mod::add) || in.mods.has(Mod::min) || in.mods.has(Mod::max);
  if (in.opcode == Opcode::multimem_red || !named || in.mods.without(others) != in.mods)
    return std::nullopt;
  if (form.half && form.op != ReduceOp::add) return std::nullopt;
  return form;
}

std::optional<Form> form_named(const ptx::Instruction& in) {
  if (narrow_of(in.types[0]) != Narrow::none) return narrow_form(in);
  Form form;
  bool operation = false, type = false;
  for (const Operation& each : operations)
    if (in.mods.has(each.mod)) form.op = each.op, operation = true;
  for (const ElementType& each : element_types)
    if (each.type == in.types[0]) form.type = each.element, type = true;
  const bool small = form.type == TensorType::f16 || form.type == TensorType::bf16;
  form.wide = in.mods.has(Mod::acc_f32);
  if (in.mods.has(Mod::acc_f16)) return std::nullopt;
  if (!operation || !type || !async::reduction(form.op, form.type)) return std::nullopt;
  if (form.wide && !(small && form.op == ReduceOp::add)) return std::nullopt;
  return form;
}

// Puts the registers of the operand, a vector or a single one, into Op::extra, then the form.
bool bind(Lowering& lo, const Operand& operand, bool loads, const Form& form, Op& op) {
  const Type type = lo.in.types[0];
  std::vector<Ref> refs;
  const auto add = [&](const Operand& each) {
    refs.push_back(loads ? lo.destination(each, type) : lo.source(each, type));
    return refs.back() != no_ref;
  };
  if (operand.kind == Operand::Kind::vector) {
    for (unsigned i = 0; i < operand.count; ++i)
      if (!add(lo.function.pool[operand.index + i])) return false;
  } else if (!add(operand)) {
    return false;
  }
  if (refs.size() * ptx::size_of(type) > most_bytes)
    return lo.refuse("a thread accesses at most 16 bytes");
  op.count = static_cast<std::uint8_t>(refs.size());
  refs.push_back(form.packed());
  op.extra = lo.extra(refs);
  return true;
}

// 16-bit floats must be in vectors or pairs, and only floats may be in vectors.
// Of 8-bit floats, a thread accesses at least four.
bool vector_fits(const ptx::Instruction& in) {
  const Type type = in.types[0];
  if (narrow_of(type) != Narrow::none) return ptx::size_of(type) * in.vector >= 4;
  const bool half = type == Type::f16 || type == Type::bf16;
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  return half ? in.vector > 1 : in.vector == 1 || pair || type == Type::f32;
}

bool lower(Lowering& lo, const Row&) {
  static const ptx::ModSet understood{Mod::weak, Mod::relaxed, Mod::acquire, Mod::release,
                                      Mod::cta,  Mod::cluster, Mod::gpu,     Mod::sys,
                                      Mod::add,  Mod::min,     Mod::max,     Mod::and_,
                                      Mod::or_,  Mod::xor_,    Mod::acc_f32, Mod::acc_f16};
  if (!only(lo, understood)) return false;
  if (!lo.on_target(90, "multimem")) return false;
  if (lo.operands.size() != 2) return lo.refuse("it takes an address and a value");
  const bool narrow = narrow_of(lo.in.types[0]) != Narrow::none;
  if (narrow && !lo.on_target(100, "multimem of 8-bit floats")) return false;
  if (!vector_fits(lo.in)) return lo.refuse("this type has no such vector");
  const bool loads = lo.in.opcode == Opcode::multimem_ld_reduce;
  Form form;
  if (lo.in.opcode != Opcode::multimem_st) {
    const auto named = form_named(lo.in);
    if (!named) return lo.refuse("this type has no such reduction");
    form = *named;
  }
  Op fresh;
  if (!bind(lo, lo.operands[loads ? 0 : 1], loads, form, fresh)) return false;
  Op& op = lo.emit(loads ? run_ld_reduce : lo.in.opcode == Opcode::multimem_st ? run_st : run_red);
  op.extra = fresh.extra, op.count = fresh.count;
  if (!lo.address(lo.operands[loads ? 1 : 0], op)) return false;
  observe_access(lo, op, {});
  return true;
}

}  // namespace

void multimem_rows(Rows& rows) {
  for (const Opcode opcode :
       {Opcode::multimem_ld_reduce, Opcode::multimem_st, Opcode::multimem_red})
    rows.push_back(any_form(opcode, lower));
}

}  // namespace inflight::machine
