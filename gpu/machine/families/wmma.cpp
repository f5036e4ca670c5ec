// wmma.load and wmma.store: matrices between memory and the fragments of a warp (PTX ISA,
// "Warp-level Matrix Load Instruction: wmma.load").
//
// The warp's lanes divide a matrix's lines into equal numbers of bytes. This is one access of 32
// lanes, which is checked and reported as any other.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/families/tensor_fragment.hpp"
#include "gpu/machine/families/whole_warp.hpp"
#include "gpu/machine/instruction/tensor_detail.hpp"
#include "gpu/machine/lowering/observing.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;

constexpr std::size_t most_bytes = 16 * 16 * 4;

int bits_of(const TensorUse& use) { return tensor::format(element_of(use)).bits; }

// Op::d: the lanes' addresses; Op::b: the stride in elements, no_ref if lines follow without gaps.
const Op* run_addresses(Warp& w, const Op* op) {
  const auto& use = use_of<TensorUse>(op);
  const MemoryOperand& memory = op->what->memory.front();
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, memory.space, addresses);
  const int a_line = lanes / lines_of(use);
  auto* const out = w.at<std::uint64_t>(op->d);
  for (int l = 0; l < lanes; ++l) {
    const std::int64_t elements =
        op->b == no_ref ? line_elements(use) : w.at<std::int32_t>(op->b)[l];
    out[l] = addresses[l] + static_cast<std::uint64_t>(l / a_line * (elements * bits_of(use) / 8)) +
             static_cast<std::uint64_t>(l % a_line) * memory.bytes;
  }
  return op + 1;
}

// Finds the place of every lane's part of the matrix. False if a fault has ended the kernel.
bool places_of(Warp& w, const Op* op, bool writing, LanePlaces& places) {
  const MemoryOperand& memory = op->what->memory.front();
  const auto* const addresses = w.at<std::uint64_t>(op->a);
  const std::uint32_t alignment =
      static_cast<std::uint32_t>(std::max(8, bits_of(use_of<TensorUse>(op)))) / 8;
  BadLanes bad = resolve_parts(w, op, w.mask, memory.space, addresses, memory.bytes, alignment,
                               writing, places);
  if (!bad.lanes) return true;
  // The last byte of the matrix says how much memory it needs.
  if (bad.kind == FaultKind::illegal_address) {
    int last = std::countr_zero(bad.lanes);
    each_lane(bad.lanes, [&](int l) {
      if (addresses[l] > addresses[last]) last = l;
    });
    bad.lanes = 1u << last;
  }
  bad_access(w, op, bad.lanes, addresses, memory.bytes, writing, memory.space, bad.kind);
  return false;
}

// Copies a matrix and transposes it: element (line, i) of `from` becomes (i, line) of `to`.
template <class T>
void transposed(const std::byte* from, std::byte* to, int lines, int elements) {
  for (int line = 0; line < lines; ++line)
    for (int i = 0; i < elements; ++i)
      std::memcpy(to + static_cast<std::size_t>(i * lines + line) * sizeof(T),
                  from + static_cast<std::size_t>(line * elements + i) * sizeof(T), sizeof(T));
}
void transpose(const std::byte* from, std::byte* to, int bits, int lines, int elements) {
  if (bits == 8) transposed<std::uint8_t>(from, to, lines, elements);
  if (bits == 16) transposed<std::uint16_t>(from, to, lines, elements);
  if (bits == 32) transposed<std::uint32_t>(from, to, lines, elements);
  if (bits == 64) transposed<std::uint64_t>(from, to, lines, elements);
}

// Whether memory must be transposed: fragments have A by rows, and B and accumulators by columns.
bool lies_across(const TensorUse& use) { return use.by_columns == (use.of == TensorUse::Of::a); }

const Op* run_load(Warp& w, const Op* op) {
  const auto& use = use_of<TensorUse>(op);
  LanePlaces places;
  if (!places_of(w, op, false, places)) return nullptr;
  const std::size_t part = op->what->memory.front().bytes;
  alignas(64) std::byte lines[most_bytes], across[most_bytes];
  for (int l = 0; l < lanes; ++l)
    if (w.mask >> l & 1) {
      std::byte* const to = lines + static_cast<std::size_t>(l) * part;
      std::memcpy(to, places.at[l], part);
      if (w.variant) [[unlikely]]
        w.variant->load(l, to, part);
    }
  const bool turned = lies_across(use);
  if (turned) transpose(lines, across, bits_of(use), lines_of(use), line_elements(use));
  spread(w, w.frame->code->extra.data() + op->extra, fragment_of(use, use.of),
         turned ? across : lines);
  return op + 1;
}

const Op* run_store(Warp& w, const Op* op) {
  const auto& use = use_of<TensorUse>(op);
  LanePlaces places;
  if (!w.variant && !places_of(w, op, true, places)) return nullptr;
  const std::size_t part = op->what->memory.front().bytes;
  alignas(64) std::byte lines[most_bytes], across[most_bytes];
  gather(w, w.frame->code->extra.data() + op->extra, fragment_of(use, use.of), lines);
  const bool turned = lies_across(use);
  if (turned) transpose(lines, across, bits_of(use), line_elements(use), lines_of(use));
  for (int l = 0; l < lanes; ++l) {
    const std::byte* const from = (turned ? across : lines) + static_cast<std::size_t>(l) * part;
    if (w.variant) [[unlikely]]
      w.variant->store(l, from, part);
    else if (w.mask >> l & 1)
      std::memcpy(places.at[l], from, part);
  }
  if (w.variant) return op + 1;
  w.progressed = true;
  return op + 1;
}

// --- decoding ---

const ModSet understood{Mod::sync,     Mod::aligned,  Mod::row,    Mod::col,       Mod::a,
                        Mod::b,        Mod::c,        Mod::d,      Mod::m16n16k16, Mod::m32n8k16,
                        Mod::m8n32k16, Mod::m16n16k8, Mod::m8n8k4, Mod::m8n8k32,   Mod::m8n8k128};

bool lower_access(Lowering& lo, const Row&) {
  const TensorUse* const use = lo.what.as<TensorUse>();
  if (!use)
    return lo.refuse(
        fmt::format("{} is not a form of sm_70 to sm_90: see the PTX ISA", lo.in.name));
  if (!only(lo, understood) || !lo.on_target(use->since, lo.in.name)) return false;
  if (bits_of(*use) < 8 && lies_across(*use))
    return lo.refuse("elements of less than 8 bits need a row-major A and a column-major B");
  const bool loads = lo.in.opcode == Opcode::wmma_load;
  const std::size_t fragment = loads ? 0 : 1, address = loads ? 1 : 0;
  std::vector<Ref> refs;
  if (!bind_fragment(lo, fragment, fragment_of(*use, use->of), loads, refs)) return false;
  const Ref stride = lo.operands.size() > 2 ? lo.source(lo.operands[2], ptx::Type::s32) : no_ref;
  if (lo.operands.size() > 2 && stride == no_ref) return false;
  const Ref addresses = lo.scratch(ptx::Type::b64);
  const std::uint32_t extra = lo.extra(refs);
  Op& first = lo.emit(run_whole_warp<run_addresses>);
  first.d = addresses, first.b = stride;
  if (!lo.address(lo.operands[address], first)) return false;
  observe_lanes(lo, addresses);
  Op& op = lo.emit(loads ? run_load : run_store);
  op.a = addresses, op.extra = extra, op.flags |= Op::address_64;
  return true;
}

}  // namespace

void wmma_rows(Rows& rows) {
  add(rows, any_form(Opcode::wmma_load, lower_access));
  add(rows, any_form(Opcode::wmma_store, lower_access));
}

}  // namespace inflight::machine
