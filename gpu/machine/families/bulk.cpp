// Bulk and tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy, Tensor
// copy"), st.async and red.async: checks each lane's request and hands it to gpu/async, which
// moves the bytes.
//
// Where the ISA is silent, as an H200 does: sizes count in whole 16 bytes; the mbarrier that a copy
// completes on is the one at its offset in the destination's block.
#include "gpu/machine/families/bulk.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/mbarriers.hpp"
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
class BulkRequest {
 public:
  BulkRequest(Warp& warp, const Op* op_, int lane_)
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

  bool fail(FaultKind kind, std::string what, const FaultDetail& about = {}) {
    ended = w.fault(op, kind, 1u << lane, std::move(what), about);
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
  // What a tensor map, or a copy that it does not allow, has wrong.
  bool bad_tensor(FaultKind kind, std::string what) {
    FaultDetail about;
    about.tensor_map = true;
    return fail(kind, std::move(what), about);
  }
  bool aligned(std::uint64_t address, std::uint32_t alignment, Space space, std::string_view what) {
    if (address % alignment == 0) return true;
    FaultDetail about;
    about.access = true, about.writes = what == "destination";
    about.space = space;
    about.address = address, about.alignment = alignment;
    return fail(
        FaultKind::misaligned_address,
        fmt::format("the {} of a bulk copy, 0x{:x}, is misaligned: it must be a multiple of "
                    "{}",
                    what, address, alignment),
        about);
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
  // The mbarrier that the copy completes on lies at its operand's offset in the block of rank
  // `rank`.
  bool completes(std::uint32_t rank, std::uint32_t tx_bytes) {
    const std::uint32_t offset = narrow(Name::mbarrier) & offset_mask;
    if (!aligned(offset, async::mbarrier::alignment, Space::shared, "mbarrier")) return false;
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
    return bad_tensor(FaultKind::illegal_instruction,
                      fmt::format("tensors of type {} have no .{} reduction",
                                  async::facts(type).cuda, async::name(form.reduction.operation)));
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
    bulk_copies(w).issue(copy);
    // Who waits for it already makes it happen.
    if (copy.mbarrier) wake_mbarrier(*w.block->cluster->blocks[copy.rank], copy.mbarrier_offset);
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

// Runs one(BulkRequest&) for every active lane; goes on behind the instruction unless one ended the
// kernel.
template <class One>
const Op* each_request(Warp& w, const Op* op, One one) {
  const std::atomic<bool>& stop = w.block->grid->stop;
  const Op* ended = nullptr;
  bool failed = false;
  std::uint64_t cost = 0;
  w.progressed |= each_lane(w.mask, [&](int lane) {
    BulkRequest request(w, op, lane);
    one(request);
    cost += request.cost;
    ended = request.ended;
    failed = request.failed;
    return !failed && !stop.load(std::memory_order_relaxed);
  });
  return failed ? ended : w.spend(op + 1, cost);
}

// --- tensor maps ---

// The map operand is a generic address in .param, .const or .global: the unit that copies tensors
// sees neither local nor shared memory.
bool in_map_space(BulkRequest& r, std::uint64_t address) {
  const Space space = space_of(r.w, address);
  if (space != Space::local && !is_shared(space)) return true;
  return r.bad_tensor(
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
const async::TensorMap* tensor_map(BulkRequest& r) {
  const std::uint64_t address = r.wide(Name::map);
  if (!in_map_space(r, address)) return nullptr;
  if (!r.aligned(address, async::tensor_map_alignment, Space::generic, "tensor map"))
    return nullptr;
  std::byte bytes[async::tensor_map_bytes];
  if (!read_generic(r.w, r.lane, address, bytes, sizeof bytes)) {
    r.bad(address, sizeof bytes, false, Space::generic, FaultKind::illegal_address);
    return nullptr;
  }
  const auto read = in_flight(*r.w.block->cluster).maps.read(address, bytes);
  if (!read) {
    r.bad_tensor(
        read.error().box_too_large ? FaultKind::illegal_address : FaultKind::illegal_instruction,
        fmt::format("the tensor map at 0x{:x} cannot be used: {}", address, read.error().sentence));
    return nullptr;
  }
  r.copy.map_address = address;
  const async::TensorMap* const map = *read;
  if (map->rank != r.form.rank || (map->mode == async::TensorMode::im2col) != r.form.im2col) {
    r.bad_tensor(
        FaultKind::illegal_instruction,
        fmt::format("the instruction is for {}-dimensional {} copies and its tensor map is "
                    "{}-dimensional, {}",
                    r.form.rank, r.form.im2col ? "im2col" : "tile", map->rank,
                    map->mode == async::TensorMode::im2col ? "im2col" : "tile"));
    return nullptr;
  }
  return map;
}

// The coordinates and offsets; `shared`: of the box, in whichever block.
async::TensorPlace place_of(const BulkRequest& r, std::uint32_t shared) {
  async::TensorPlace place;
  for (unsigned i = 0; i < r.form.rank; ++i)
    place.at[i] = static_cast<std::int32_t>(r.narrow(Name::place + i));
  for (unsigned i = 0; i < 3; ++i)
    if (r.has(Name::offset + i)) place.offset[i] = r.half(Name::offset + i);
  place.shared = shared & offset_mask;
  return place;
}

// A store writes `padding` bytes past the elements of a row, which end at `end`, to the end of
// their 16-byte chunk. Inside an allocation, or in the padding behind it (sizes of device memory
// are rounded up to 256 bytes), that is no error of the program. Behind memory that the program
// registered it would change bytes that are none of the GPU's.
bool check_padding(BulkRequest& r, std::uint64_t end, std::uint32_t padding) {
  if (r.w.block->grid->memory->padded_end(end - 1) >= end + padding) return true;
  FaultDetail about;
  about.access = about.writes = true;
  about.space = Space::global;
  about.address = end, about.bytes = padding;
  return r.fail(
      FaultKind::illegal_address,
      fmt::format("a tensor store writes whole 16-byte chunks, and the chunk of its last element "
                  "goes {} bytes past 0x{:x}, where its memory ends: {}. Let the memory end at a "
                  "multiple of 16 bytes, or register more of it",
                  padding, end, describe_address(r.w, end)),
      about);
}

// The rules of the copy itself, and every byte that it touches in global memory. Rows are what
// counts there: swizzling moves bytes about in shared memory only.
bool check_tensor(BulkRequest& r, async::TensorDirection direction) {
  const BulkCopy& copy = r.copy;
  const auto violation = async::tensor_violation(copy.map, copy.place, direction);
  if (violation != async::Violation::none)
    return r.bad_tensor(violation == async::Violation::tensor_shared_alignment
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
                        good = r.global(run.global, run.bytes, store) &&
                               (padding == 0 || check_padding(r, run.global + run.bytes, padding));
                      });
  return good;
}

// The box in the shared memory of the block of rank `rank`.
bool box_in(BulkRequest& r, std::uint32_t rank, bool writing) {
  const std::uint64_t bytes = async::touched_bytes(r.copy.map, r.copy.place.shared);
  std::byte* at = r.shared(rank << rank_shift | r.copy.place.shared, bytes, writing, false);
  if (at) r.copy.shared = at - r.copy.place.shared;
  return at != nullptr;
}

}  // namespace

const Op* bulk_load(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const std::uint64_t from = r.wide(Name::from);
    const std::uint32_t to = r.narrow(Name::to), bytes = r.narrow(Name::size) & ~(granule - 1);
    if (!r.aligned(from, granule, Space::global, "source") ||
        !r.aligned(to, granule, Space::shared_cluster, "destination"))
      return;
    const SourceWatch watch(r.w, r.op);
    if (!r.global(from, bytes, false)) return;
    r.copy.watch = watch.needed();
    r.copy.from = reinterpret_cast<const std::byte*>(from);
    r.copy.bytes = bytes;
    r.each_destination(to, [&](std::uint32_t rank) {
      const std::uint32_t there = rank << rank_shift | (to & offset_mask);
      r.copy.to = r.shared(there, bytes, true, r.form.own_only);
      if (!r.copy.to || !r.completes(rank, bytes)) return false;
      r.issue();
      return true;
    });
  });
}

const Op* bulk_copy(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const std::uint32_t from = r.narrow(Name::from), to = r.narrow(Name::to),
                        bytes = r.narrow(Name::size) & ~(granule - 1);
    if (!r.aligned(from, granule, Space::shared, "source") ||
        !r.aligned(to, granule, Space::shared_cluster, "destination"))
      return;
    if (!(r.copy.from = r.shared(from, bytes, false, true))) return;
    if (!(r.copy.to = r.shared(to, bytes, true, false))) return;
    if (!r.operation(r.form.reduction.type)) return;
    r.copy.bytes = bytes;
    r.copy.watch = true;
    if (r.completes(to >> rank_shift, bytes)) r.issue();
  });
}

const Op* bulk_store(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const std::uint64_t to = r.wide(Name::to);
    const std::uint32_t from = r.narrow(Name::from), bytes = r.narrow(Name::size) & ~(granule - 1);
    if (!r.aligned(from, granule, Space::shared, "source") ||
        !r.aligned(to, granule, Space::global, "destination"))
      return;
    if (!(r.copy.from = r.shared(from, bytes, false, true))) return;
    if (!r.global(to, bytes, true)) return;
    if (!r.operation(r.form.reduction.type)) return;
    r.copy.to = reinterpret_cast<std::byte*>(to);
    r.copy.bytes = bytes;
    r.copy.watch = true;
    if (r.has(Name::mask)) r.copy.byte_mask = r.half(Name::mask);
    r.issue();
  });
}

// Nothing to move. An H200 checks the address's alignment and ignores what lies there.
const Op* bulk_prefetch(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    r.aligned(r.wide(Name::from), granule, Space::global, "source");
  });
}

const Op* bulk_tensor_load(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const auto map = tensor_map(r);
    if (!map) return;
    r.copy.kind = BulkCopy::Kind::tensor_load;
    r.copy.map = *map;
    const std::uint32_t to = r.narrow(Name::to);
    r.copy.place = place_of(r, to);
    const SourceWatch watch(r.w, r.op);
    if (!check_tensor(r, async::TensorDirection::load)) return;
    r.copy.watch = watch.needed();
    const auto bytes = static_cast<std::uint32_t>(async::box_of(*map).tx_bytes());
    r.each_destination(to, [&](std::uint32_t rank) {
      if (!box_in(r, rank, true) || !r.completes(rank, bytes)) return false;
      r.issue();
      return true;
    });
  });
}

const Op* bulk_tensor_store(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const auto map = tensor_map(r);
    if (!map) return;
    r.copy.kind = BulkCopy::Kind::tensor_store;
    r.copy.watch = true;
    r.copy.map = *map;
    const std::uint32_t from = r.narrow(Name::from);
    r.copy.place = place_of(r, from);
    if (from >> rank_shift != r.w.block->rank) {
      r.shared(from, granule, false, true);
      return;
    }
    if (!r.operation(map->type) || !check_tensor(r, async::TensorDirection::store)) return;
    if (box_in(r, r.w.block->rank, false)) r.issue();
  });
}

const Op* bulk_tensor_prefetch(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) { tensor_map(r); });
}

const Op* bulk_commit(Warp& w, const Op* op) {
  each_lane(w.mask, [&](int lane) {
    const auto thread = w.first_thread() + static_cast<std::uint32_t>(lane);
    bulk_copies(w).commit(cluster_thread(w.block->rank, thread),
                      w.frame->code->first_number + op->instruction);
  });
  w.progressed = true;
  return op + 1;
}

const Op* bulk_wait(Warp& w, const Op* op) {
  const GroupUse& use = use_of<GroupUse>(op);
  each_lane(w.mask, [&](int lane) {
    const auto thread = w.first_thread() + static_cast<std::uint32_t>(lane);
    bulk_copies(w).wait_group(cluster_thread(w.block->rank, thread), use.allowed, use.read_only,
                          w.frame->code->first_number + op->instruction);
  });
  w.progressed = true;
  return op + 1;
}

const Op* async_store(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const CopyUse& form = r.form;
    const std::uint32_t to = r.narrow(Name::to), count = form.count, bytes = form.bytes * count;
    if (!r.aligned(to, bytes, Space::shared_cluster, "destination")) return;
    if (!(r.copy.to = r.shared(to, bytes, true, false))) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t value =
          form.bytes == 8 ? r.wide(Name::place + i) : r.narrow(Name::place + i);
      std::memcpy(r.copy.value.data() + i * form.bytes, &value, form.bytes);
    }
    r.copy.kind = BulkCopy::Kind::value;
    r.copy.bytes = bytes;
    if (form.reduces)
      r.copy.reduce = async::reduction(form.reduction.operation, form.reduction.type);
    if (r.completes(to >> rank_shift, bytes)) r.issue();
  });
}

}  // namespace inflight::machine
