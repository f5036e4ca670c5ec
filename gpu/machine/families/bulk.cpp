// Bulk and tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy, Tensor
// copy"), st.async and red.async: checking what a lane asks for and handing it to gpu/async, which
// says when bytes move.
//
// Where the ISA is silent, as an H200 does: sizes count in whole 16 bytes; the mbarrier that hears
// of a copy is the one at its offset in the destination's block.
#include "gpu/machine/families/bulk.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster_copies.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/thread_copies.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine {
namespace {

using async::BulkCopy;
using ptx::Space;
using Name = BulkOperands::Name;

constexpr std::uint32_t granule = 16;  // bytes: of sizes and addresses

template <class T>
std::uint64_t read(const Warp& w, const Op* op, unsigned name, int lane) {
  return w.at<T>(w.frame->code->extra[op->extra + name])[lane];
}
bool given(const Warp& w, const Op* op, unsigned name) {
  return w.frame->code->extra[op->extra + name] != no_ref;
}

// One lane's copy while it is being checked. A check that fails ends the kernel.
class Asked {
 public:
  Asked(Warp& warp, const Op* op_, int lane_)
      : w(warp), op(op_), lane(lane_), form(use_of<CopyUse>(op_)) {
    copy.thread =
        cluster_thread(w.block->rank, w.first_thread() + static_cast<std::uint32_t>(lane));
    copy.tag = w.frame->code->first_number + op->instruction;
  }

  Warp& w;
  const Op* const op;
  const int lane;
  const CopyUse& form;
  BulkCopy copy;
  const Op* ended = nullptr;  // what the handler returns if a check failed

  std::uint64_t wide(unsigned name) const { return read<std::uint64_t>(w, op, name, lane); }
  std::uint32_t narrow(unsigned name) const {
    return static_cast<std::uint32_t>(read<std::uint32_t>(w, op, name, lane));
  }
  std::uint16_t half(unsigned name) const {
    return static_cast<std::uint16_t>(read<std::uint16_t>(w, op, name, lane));
  }
  bool has(unsigned name) const { return given(w, op, name); }

  bool fail(FaultKind kind, std::string what) {
    ended = w.fault(op, kind, 1u << lane, std::move(what));
    failed = true;
    return false;
  }
  bool bad(std::uint64_t address, std::uint32_t bytes, bool writing, Space space, FaultKind kind) {
    std::uint64_t addresses[lanes];
    addresses[lane] = address;
    ended = bad_access(w, op, 1u << lane, addresses, bytes, writing, space, kind);
    failed = true;
    return false;
  }
  bool aligned(std::uint64_t address, std::uint32_t alignment, std::string_view what) {
    if (address % alignment == 0) return true;
    return fail(
        FaultKind::misaligned_address,
        fmt::format("the {} of a bulk copy, 0x{:x}, is misaligned: it must be a multiple of "
                    "{}",
                    what, address, alignment));
  }

  // `bytes` of global memory.
  bool global(std::uint64_t address, std::uint32_t bytes, bool writing) {
    if (bytes == 0 || resolve_global(w, op, address, bytes, writing)) return true;
    return bad(address, bytes, writing, Space::global, FaultKind::illegal_address);
  }
  // `bytes` of shared memory of some block of the cluster.
  std::byte* shared(std::uint32_t address, std::uint64_t bytes, bool writing, bool own_only) {
    const Space space = own_only ? Space::shared : Space::shared_cluster;
    const FaultKind kind = shared_fault(*w.block, address, bytes, own_only);
    if (kind == FaultKind::none) return shared_place(*w.block, address).at();
    bad(address, static_cast<std::uint32_t>(bytes), writing, space, kind);
    return nullptr;
  }
  // The mbarrier that hears of the copy: at the offset of its operand, in the block of rank `rank`.
  bool completes(std::uint32_t rank, std::uint32_t tx_bytes) {
    const std::uint32_t offset = narrow(Name::mbarrier) & offset_mask;
    if (!aligned(offset, async::mbarrier::alignment, "mbarrier")) return false;
    std::byte* at = shared(rank << rank_shift | offset, async::mbarrier::size, true, false);
    if (!at) return false;
    copy.mbarrier = reinterpret_cast<async::mbarrier::Word*>(at);
    copy.mbarrier_offset = offset;
    copy.rank = rank;
    copy.tx_bytes = tx_bytes;
    return true;
  }
  bool operation(async::TensorType type) {
    if (!form.reduces) return true;
    copy.reduce = async::reduction(form.reduction.operation, type);
    if (copy.reduce) return true;
    return fail(FaultKind::illegal_instruction,
                fmt::format("tensors of type {} have no .{} reduction", async::facts(type).cuda,
                            async::name(form.reduction.operation)));
  }

  // Calls f(rank) for each block that the copy goes to: until one fails.
  template <class F>
  bool each_destination(std::uint32_t to, F f) {
    if (!has(Name::ctas)) return f(to >> rank_shift);
    for (std::uint32_t ctas = half(Name::ctas), rank = 0; ctas != 0; ctas >>= 1, ++rank)
      if (ctas & 1 && !f(rank)) return false;
    return true;
  }

  void issue() {
    bulk_copies(*w.block->cluster).issue(copy);
    constexpr std::uint64_t each = 32, each_row = 8;  // ops
    cost += each;
    if (copy.kind == BulkCopy::Kind::bytes || copy.kind == BulkCopy::Kind::value) {
      cost += copy.bytes / granule;
    } else {
      const async::TensorBox box = async::box_of(copy.map);
      cost += box.rows * each_row + box.tx_bytes() / granule;
    }
  }
  bool failed = false;
  std::uint64_t cost = 0;  // of what it issued, in ops
};

// Runs one(Asked&) for every active lane; goes on behind the instruction unless one ended the
// kernel.
template <class One>
const Op* each_asked(Warp& w, const Op* op, One one) {
  const std::atomic<bool>& stop = w.block->grid->stop;
  const Op* ended = nullptr;
  bool failed = false;
  std::uint64_t cost = 0;
  w.progressed |= each_lane(w.mask, [&](int lane) {
    Asked asked(w, op, lane);
    one(asked);
    cost += asked.cost;
    ended = asked.ended;
    failed = asked.failed;
    return !failed && !stop.load(std::memory_order_relaxed);
  });
  return failed ? ended : w.spend(op + 1, cost);
}

// --- tensor maps ---

// The map operand is a generic address in .param, .const or .global: the unit that copies tensors
// sees neither local nor shared memory.
bool in_map_space(Asked& a, std::uint64_t address) {
  const Space space = space_of(a.w, address);
  if (space != Space::local && !is_shared(space)) return true;
  return a.fail(
      FaultKind::illegal_address,
      fmt::format(
          "the tensor map at 0x{:x} lies in {} memory: a copy takes its map from a "
          "__grid_constant__ parameter of the kernel, from global or from constant memory{}",
          address, space == Space::local ? "local" : "shared",
          space == Space::local ? " (a map that is passed to a function by value, or a "
                                  "parameter without __grid_constant__, is a copy in local "
                                  "memory: pass a reference or a pointer)"
                                : ""));
}

// The map that the map operand points to; null after a fault.
const async::TensorMap* tensor_map(Asked& a) {
  const std::uint64_t address = a.wide(Name::map);
  if (!in_map_space(a, address)) return nullptr;
  if (!a.aligned(address, async::tensor_map_alignment, "tensor map")) return nullptr;
  std::byte bytes[async::tensor_map_bytes];
  if (!read_generic(a.w, a.lane, address, bytes, sizeof bytes)) {
    a.bad(address, sizeof bytes, false, Space::generic, FaultKind::illegal_address);
    return nullptr;
  }
  const auto read = bulk_copies(*a.w.block->cluster).maps.read(address, bytes);
  if (!read) {
    a.fail(
        read.error().box_too_large ? FaultKind::illegal_address : FaultKind::illegal_instruction,
        fmt::format("the tensor map at 0x{:x} cannot be used: {}", address, read.error().sentence));
    return nullptr;
  }
  const async::TensorMap* const map = *read;
  if (map->rank != a.form.rank || (map->mode == async::TensorMode::im2col) != a.form.im2col) {
    a.fail(FaultKind::illegal_instruction,
           fmt::format("the instruction is for {}-dimensional {} copies and its tensor map is "
                       "{}-dimensional, {}",
                       a.form.rank, a.form.im2col ? "im2col" : "tile", map->rank,
                       map->mode == async::TensorMode::im2col ? "im2col" : "tile"));
    return nullptr;
  }
  return map;
}

// The coordinates and offsets; `shared`: of the box, in whichever block.
async::TensorPlace place_of(const Asked& a, std::uint32_t shared) {
  async::TensorPlace place;
  for (unsigned i = 0; i < a.form.rank; ++i)
    place.at[i] = static_cast<std::int32_t>(a.narrow(Name::place + i));
  for (unsigned i = 0; i < 3; ++i)
    if (a.has(Name::offset + i)) place.offset[i] = a.half(Name::offset + i);
  place.shared = shared & offset_mask;
  return place;
}

// A store writes `padding` bytes past the elements of a row, which end at `end`, to the end of
// their 16-byte chunk. Inside an allocation, or in the padding behind it (sizes of device memory
// are rounded up to 256 bytes), that is no error of the program. Behind memory that the program
// registered it would change bytes that are none of the GPU's.
bool check_padding(Asked& a, std::uint64_t end, std::uint32_t padding) {
  if (a.w.block->grid->memory->padded_end(end - 1) >= end + padding) return true;
  return a.fail(
      FaultKind::illegal_address,
      fmt::format("a tensor store writes whole 16-byte chunks, and the chunk of its last element "
                  "goes {} bytes past 0x{:x}, where its memory ends: {}. Let the memory end at a "
                  "multiple of 16 bytes, or register more of it",
                  padding, end, describe_address(a.w, end)));
}

// The rules of the copy itself, and every byte that it touches in global memory. Rows are what
// counts there: swizzling moves bytes about in shared memory only.
bool check_tensor(Asked& a, async::TensorDirection direction) {
  const BulkCopy& copy = a.copy;
  const auto violation = async::tensor_violation(copy.map, copy.place, direction);
  if (violation != async::Violation::none)
    return a.fail(violation == async::Violation::tensor_shared_alignment
                      ? FaultKind::misaligned_address
                      : FaultKind::illegal_instruction,
                  fmt::format("a tensor copy breaks a rule: {}", async::sentence(violation)));
  async::TensorMap rows = copy.map;
  rows.swizzle = async::Swizzle::none;
  const bool store = direction == async::TensorDirection::store;
  const std::uint32_t padding = store ? async::store_padding(rows, copy.place) : 0;
  bool good = true;
  async::for_each_run(rows, copy.place, async::TensorDirection::load,
                      [&](const async::TensorRun& run) {
                        if (!good || !run.inside) return;
                        good = a.global(run.global, run.bytes, store) &&
                               (padding == 0 || check_padding(a, run.global + run.bytes, padding));
                      });
  return good;
}

// The box in the shared memory of the block of rank `rank`.
bool box_in(Asked& a, std::uint32_t rank, bool writing) {
  const std::uint64_t bytes = async::touched_bytes(a.copy.map, a.copy.place.shared);
  std::byte* at = a.shared(rank << rank_shift | a.copy.place.shared, bytes, writing, false);
  if (at) a.copy.shared = at - a.copy.place.shared;
  return at != nullptr;
}

}  // namespace

const Op* bulk_load(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) {
    const std::uint64_t from = a.wide(Name::from);
    const std::uint32_t to = a.narrow(Name::to), bytes = a.narrow(Name::size) & ~(granule - 1);
    if (!a.aligned(from, granule, "source") || !a.aligned(to, granule, "destination")) return;
    const SourceWatch watch(a.w, a.op);
    if (!a.global(from, bytes, false)) return;
    a.copy.watch = watch.needed();
    a.copy.from = reinterpret_cast<const std::byte*>(from);
    a.copy.bytes = bytes;
    a.each_destination(to, [&](std::uint32_t rank) {
      const std::uint32_t there = rank << rank_shift | (to & offset_mask);
      a.copy.to = a.shared(there, bytes, true, a.form.own_only);
      if (!a.copy.to || !a.completes(rank, bytes)) return false;
      a.issue();
      return true;
    });
  });
}

const Op* bulk_copy(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) {
    const std::uint32_t from = a.narrow(Name::from), to = a.narrow(Name::to),
                        bytes = a.narrow(Name::size) & ~(granule - 1);
    if (!a.aligned(from, granule, "source") || !a.aligned(to, granule, "destination")) return;
    if (!(a.copy.from = a.shared(from, bytes, false, true))) return;
    if (!(a.copy.to = a.shared(to, bytes, true, false))) return;
    if (!a.operation(a.form.reduction.type)) return;
    a.copy.bytes = bytes;
    a.copy.watch = true;
    if (a.completes(to >> rank_shift, bytes)) a.issue();
  });
}

const Op* bulk_store(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) {
    const std::uint64_t to = a.wide(Name::to);
    const std::uint32_t from = a.narrow(Name::from), bytes = a.narrow(Name::size) & ~(granule - 1);
    if (!a.aligned(from, granule, "source") || !a.aligned(to, granule, "destination")) return;
    if (!(a.copy.from = a.shared(from, bytes, false, true))) return;
    if (!a.global(to, bytes, true)) return;
    if (!a.operation(a.form.reduction.type)) return;
    a.copy.to = reinterpret_cast<std::byte*>(to);
    a.copy.bytes = bytes;
    a.copy.watch = true;
    if (a.has(Name::mask)) a.copy.byte_mask = a.half(Name::mask);
    a.issue();
  });
}

// Nothing to move. An H200 checks the address's alignment and ignores what lies there.
const Op* bulk_prefetch(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) { a.aligned(a.wide(Name::from), granule, "source"); });
}

const Op* bulk_tensor_load(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) {
    const auto map = tensor_map(a);
    if (!map) return;
    a.copy.kind = BulkCopy::Kind::tensor_load;
    a.copy.map = *map;
    const std::uint32_t to = a.narrow(Name::to);
    a.copy.place = place_of(a, to);
    const SourceWatch watch(a.w, a.op);
    if (!check_tensor(a, async::TensorDirection::load)) return;
    a.copy.watch = watch.needed();
    const auto bytes = static_cast<std::uint32_t>(async::box_of(*map).tx_bytes());
    a.each_destination(to, [&](std::uint32_t rank) {
      if (!box_in(a, rank, true) || !a.completes(rank, bytes)) return false;
      a.issue();
      return true;
    });
  });
}

const Op* bulk_tensor_store(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) {
    const auto map = tensor_map(a);
    if (!map) return;
    a.copy.kind = BulkCopy::Kind::tensor_store;
    a.copy.watch = true;
    a.copy.map = *map;
    const std::uint32_t from = a.narrow(Name::from);
    a.copy.place = place_of(a, from);
    if (from >> rank_shift != a.w.block->rank) {
      a.shared(from, granule, false, true);
      return;
    }
    if (!a.operation(map->type) || !check_tensor(a, async::TensorDirection::store)) return;
    if (box_in(a, a.w.block->rank, false)) a.issue();
  });
}

const Op* bulk_tensor_prefetch(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) { tensor_map(a); });
}

const Op* bulk_commit(Warp& w, const Op* op) {
  each_lane(w.mask, [&](int lane) {
    const auto thread = w.first_thread() + static_cast<std::uint32_t>(lane);
    bulk_copies(*w.block->cluster).model.commit(cluster_thread(w.block->rank, thread));
  });
  w.progressed = true;
  return op + 1;
}

const Op* bulk_wait(Warp& w, const Op* op) {
  const GroupUse& use = use_of<GroupUse>(op);
  each_lane(w.mask, [&](int lane) {
    const auto thread = w.first_thread() + static_cast<std::uint32_t>(lane);
    bulk_copies(*w.block->cluster)
        .model.wait_group(cluster_thread(w.block->rank, thread), use.allowed, use.read_only);
  });
  w.progressed = true;
  return op + 1;
}

const Op* async_store(Warp& w, const Op* op) {
  return each_asked(w, op, [](Asked& a) {
    const CopyUse& form = a.form;
    const std::uint32_t to = a.narrow(Name::to), count = form.count, bytes = form.bytes * count;
    if (!a.aligned(to, bytes, "destination")) return;
    if (!(a.copy.to = a.shared(to, bytes, true, false))) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t value =
          form.bytes == 8 ? a.wide(Name::place + i) : a.narrow(Name::place + i);
      std::memcpy(a.copy.value.data() + i * form.bytes, &value, form.bytes);
    }
    a.copy.kind = BulkCopy::Kind::value;
    a.copy.bytes = bytes;
    if (form.reduces)
      a.copy.reduce = async::reduction(form.reduction.operation, form.reduction.type);
    if (a.completes(to >> rank_shift, bytes)) a.issue();
  });
}

}  // namespace inflight::machine
