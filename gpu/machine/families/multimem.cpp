// multimem.ld_reduce, multimem.st and multimem.red (PTX ISA, "Data Movement and Conversion
// Instructions: multimem").
//
// An address is a multicast object's, and stands for memory of each of its devices. Values are
// reduced in the order in which the devices were added; PTX leaves the order open.
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "gpu/async/reduction.hpp"
#include "gpu/numbers/small_floats.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"

namespace inflight::machine {
namespace {

using async::ReduceOp;
using async::TensorType;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

constexpr std::uint32_t most_bytes = 16;  // of a thread's access

// Op::detail: an operation and a type, and whether sums of small floats are rounded once.
struct Form {
  ReduceOp op = ReduceOp::add;
  TensorType type = TensorType::u32;
  bool wide = false;  // .acc::f32
  std::uint16_t packed() const {
    return static_cast<std::uint16_t>(static_cast<unsigned>(op) | static_cast<unsigned>(type) << 4 |
                                      static_cast<unsigned>(wide) << 12);
  }
  explicit Form(std::uint16_t bits)
      : op(static_cast<ReduceOp>(bits & 15)),
        type(static_cast<TensorType>(bits >> 4 & 255)),
        wide(bits >> 12 != 0) {}
  Form() = default;
};

// One lane's value, element by element as its registers have it.
struct Value {
  alignas(16) std::byte bytes[most_bytes] = {};
};

std::uint32_t size_of_access(const Op* op) {
  return op->count * ptx::size_of(op->what->text->types[0]);
}

// Where the lanes' bytes are on every device; a fault if there is an address without.
class Places {
 public:
  bool find(Warp& w, const Op* op) {
    const std::uint32_t bytes = size_of_access(op);
    std::uint64_t addresses[lanes];
    lane_addresses(w, op, ptx::Space::global, addresses);
    const MulticastRanges& ranges = w.block->grid->memory->multicasts();
    for (std::uint32_t m = w.mask; m; m &= m - 1) {
      const int l = std::countr_zero(m);
      if (addresses[l] % bytes)
        return fault(w, op, l, FaultKind::misaligned_address, addresses[l],
                     fmt::format("is not a multiple of {}", bytes));
      at_[l] = ranges.places(addresses[l], bytes);
      if (at_[l].empty())
        return fault(
            w, op, l, FaultKind::illegal_address, addresses[l],
            "is of no multicast object that is mapped and to which each of its devices has "
            "bound memory there");
    }
    return true;
  }
  const std::vector<std::byte*>& of(int lane) const { return at_[lane]; }

 private:
  static bool fault(Warp& w, const Op* op, int lane, FaultKind kind, std::uint64_t address,
                    const std::string& why) {
    w.fault(op, kind, 1u << lane,
            fmt::format("{} at 0x{:x}, which {}", op->what->text->name, address, why));
    return false;
  }
  std::vector<std::byte*> at_[lanes];
};

const Ref* elements(const Warp& w, const Op* op) { return w.frame->code->extra.data() + op->extra; }

// Each element of `out` is the sum, in f32 and rounded once, of all devices'.
template <class Format>
void sum_wide(const std::vector<std::byte*>& from, std::uint32_t bytes, std::byte* out) {
  for (std::uint32_t i = 0; i < bytes; i += 2) {
    float sum = 0;
    for (std::size_t d = 0; d < from.size(); ++d) {
      std::uint16_t bits;
      std::memcpy(&bits, from[d] + i, sizeof bits);
      sum = d == 0 ? Format::value(bits) : sum + Format::value(bits);
    }
    const auto rounded = static_cast<std::uint16_t>(Format::round(sum));
    std::memcpy(out + i, &rounded, sizeof rounded);
  }
}

const Op* run_ld_reduce(Warp& w, const Op* op) {
  Places places;
  if (!places.find(w, op)) return nullptr;
  const Form form(op->detail);
  const std::uint32_t bytes = size_of_access(op), each = bytes / op->count;
  const async::Reduce reduce = async::reduction(form.op, form.type);
  each_lane(w.mask, [&](int l) {
    const auto& from = places.of(l);
    Value value;
    std::memcpy(value.bytes, from.front(), bytes);
    if (form.wide && form.type == TensorType::f16)
      sum_wide<numbers::F16>(from, bytes, value.bytes);
    else if (form.wide)
      sum_wide<numbers::Bf16>(from, bytes, value.bytes);
    else
      for (std::size_t d = 1; d < from.size(); ++d) reduce(value.bytes, from[d], bytes);
    for (unsigned i = 0; i < op->count; ++i)
      std::memcpy(w.at<std::byte>(elements(w, op)[i]) + l * each, value.bytes + i * each, each);
  });
  w.poll();  // as a load of a flag that others set
  return op + 1;
}

// Calls f(place, value) for each device's bytes of each lane.
template <class F>
const Op* for_each_place(Warp& w, const Op* op, F f) {
  Places places;
  if (!places.find(w, op)) return nullptr;
  const std::uint32_t bytes = size_of_access(op), each = bytes / op->count;
  each_lane(w.mask, [&](int l) {
    Value value;
    for (unsigned i = 0; i < op->count; ++i)
      std::memcpy(value.bytes + i * each, w.at<std::byte>(elements(w, op)[i]) + l * each, each);
    for (std::byte* place : places.of(l)) f(place, value.bytes, bytes);
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
    else
      std::memcpy(to, from, bytes);
  });
}

const Op* run_red(Warp& w, const Op* op) {
  const Form form(op->detail);
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

std::optional<Form> form_of(const ptx::Instruction& in) {
  Form form;
  bool operation = false, type = false;
  for (const Operation& each : operations)
    if (in.mods.has(each.mod)) form.op = each.op, operation = true;
  for (const ElementType& each : element_types)
    if (each.type == in.types[0]) form.type = each.element, type = true;
  const bool small = form.type == TensorType::f16 || form.type == TensorType::bf16;
  form.wide = in.mods.has(Mod::acc_f32);
  if (!operation || !type || !async::reduction(form.op, form.type)) return std::nullopt;
  if (form.wide && !(small && form.op == ReduceOp::add)) return std::nullopt;
  return form;
}

// The registers of a vector, or the one, into Op::extra.
bool bind(Lowering& lo, const Operand& operand, bool loads, Op& op) {
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
    return lo.refuse("a thread's access has 16 bytes at most");
  op.extra = lo.extra(refs);
  op.count = static_cast<std::uint8_t>(refs.size());
  return true;
}

// Small floats come in vectors or pairs, and only floats come in vectors.
bool vector_fits(const ptx::Instruction& in) {
  const Type type = in.types[0];
  const bool half = type == Type::f16 || type == Type::bf16;
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  return half ? in.vector > 1 : in.vector == 1 || pair || type == Type::f32;
}

bool lower(Lowering& lo, const Row&) {
  static const ptx::ModSet understood{Mod::weak, Mod::relaxed, Mod::acquire, Mod::release,
                                      Mod::cta,  Mod::cluster, Mod::gpu,     Mod::sys,
                                      Mod::add,  Mod::min,     Mod::max,     Mod::and_,
                                      Mod::or_,  Mod::xor_,    Mod::acc_f32};
  if (!only(lo, understood)) return false;
  if (!lo.on_target(90, "multimem")) return false;
  if (lo.operands.size() != 2) return lo.refuse("it takes an address and a value");
  if (!vector_fits(lo.in)) return lo.refuse("there is no such vector of this type");
  const bool loads = lo.in.opcode == Opcode::multimem_ld_reduce;
  Op fresh;
  if (lo.in.opcode != Opcode::multimem_st) {
    const auto form = form_of(lo.in);
    if (!form) return lo.refuse("there is no such reduction of this type");
    fresh.detail = form->packed();
  }
  if (!bind(lo, lo.operands[loads ? 0 : 1], loads, fresh)) return false;
  Op& op = lo.emit(loads ? run_ld_reduce : lo.in.opcode == Opcode::multimem_st ? run_st : run_red);
  op.detail = fresh.detail, op.extra = fresh.extra, op.count = fresh.count;
  return lo.address(lo.operands[loads ? 1 : 0], op);
}

}  // namespace

void multimem_rows(Rows& rows) {
  for (const Opcode opcode :
       {Opcode::multimem_ld_reduce, Opcode::multimem_st, Opcode::multimem_red})
    rows.push_back(any_form(opcode, lower));
}

}  // namespace inflight::machine
