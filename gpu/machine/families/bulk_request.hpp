// Checks and issues one lane's bulk or tensor copy (bulk.cpp, bulk_tensor.cpp).
#pragma once
#include <fmt/format.h>

#include <vector>

#include "gpu/machine/families/bulk.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/mbarriers.hpp"
#include "gpu/machine/run/values.hpp"

namespace inflight::machine {

// A check that fails ends the kernel and returns false or null.
class BulkRequest {
 public:
  using BulkCopy = async::BulkCopy;
  using Space = ptx::Space;
  using Name = BulkOperands::Name;
  static constexpr std::uint32_t granule = 16;  // bytes: unit of sizes and addresses

  BulkRequest(Warp& warp, const Op* op_, int lane_)
      : w(warp), op(op_), lane(lane_), form(use_of<CopyUse>(op_)) {
    copy.thread =
        cluster_thread(w.block->rank, w.first_thread() + static_cast<std::uint32_t>(lane));
    copy.tag = w.number(op);
    copy.strong = form.strong;
  }

  Warp& w;
  const Op* const op;
  const int lane;
  const CopyUse& form;
  BulkCopy copy;
  const Op* ended = nullptr;  // what the handler returns if a check failed

  std::uint64_t wide(unsigned name) const { return read<std::uint64_t>(name); }
  std::uint32_t narrow(unsigned name) const { return read<std::uint32_t>(name); }
  // The size in bytes, rounded down to a multiple of 16. copy.left_out gets the rest.
  std::uint32_t size() {
    const std::uint32_t bytes = narrow(Name::size);
    copy.left_out = static_cast<std::uint8_t>(bytes % granule);
    return bytes - bytes % granule;
  }
  std::uint16_t half(unsigned name) const { return read<std::uint16_t>(name); }
  bool has(unsigned name) const { return operand(name) != no_ref; }

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
  // Reports an error in a tensor map, or a copy that the map does not allow.
  bool bad_tensor(FaultKind kind, std::string what,
                  async::Violation rule = async::Violation::none) {
    FaultDetail about;
    about.tensor_map = true;
    about.rule = rule;
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

  // Checks `bytes` of global memory.
  bool global(std::uint64_t address, std::uint32_t bytes, bool writing) {
    if (bytes == 0 || resolve_global(w, op, address, bytes, writing)) return true;
    return bad(address, bytes, writing, Space::global, FaultKind::illegal_address);
  }
  // The places, one a device, of `bytes` at a multicast object's address; empty if there is no such
  // object.
  std::vector<MulticastSpan::Place> cast(std::uint64_t address, std::uint64_t bytes) const {
    return w.block->grid->memory->multicasts().places(address, bytes);
  }
  // The distance from the host's address to the program's; 0 if the program has none.
  static std::int64_t to_seen(const MulticastSpan::Place& place) {
    const auto at = reinterpret_cast<std::uint64_t>(place.at);
    return place.seen ? static_cast<std::int64_t>(place.seen - at) : 0;
  }
  // Issues the store of `copy.bytes` to global memory. For a multicast object, issues one store to
  // each device.
  void store_to(std::uint64_t address) {
    const auto places = cast(address, copy.bytes);
    if (places.empty()) {
      if (!global(address, copy.bytes, true)) return;
      copy.to = reinterpret_cast<std::byte*>(address);
      return issue();
    }
    for (const MulticastSpan::Place& each : places) {
      copy.to = each.at;
      copy.seen = to_seen(each);
      issue();
    }
  }
  // The host address of `bytes` of shared memory in the cluster; in the own block if `own_only`.
  std::byte* shared(std::uint32_t address, std::uint64_t bytes, bool writing, bool own_only) {
    const Space space = own_only ? Space::shared : Space::shared_cluster;
    const FaultKind kind = shared_fault(*w.block, address, bytes, own_only);
    if (kind == FaultKind::none) return shared_place(*w.block, address).at();
    bad(address, static_cast<std::uint32_t>(bytes), writing, space, kind);
    return nullptr;
  }
  // Sets the mbarrier that the copy to the block of rank `rank` completes on: at the operand's
  // offset in that block. With .cta_group::2 it is in that block or its peer, whichever has the
  // parity of the block that the operand names.
  bool completes(std::uint32_t rank, std::uint32_t tx_bytes) {
    const std::uint32_t named = narrow(Name::mbarrier), offset = named & offset_mask;
    if (!aligned(offset, async::mbarrier::alignment, Space::shared, "mbarrier")) return false;
    const bool pair = op->what->text->mods.has(ptx::Mod::cta_group_2);
    const std::uint32_t owner = pair ? (rank & ~1u) | (named >> rank_shift & 1) : rank;
    std::byte* at = shared(owner << rank_shift | offset, async::mbarrier::size, true, false);
    if (!at) return false;
    copy.mbarrier = reinterpret_cast<async::mbarrier::Word*>(at);
    copy.mbarrier_offset = offset;
    copy.rank = owner;
    copy.to_rank = rank;
    copy.named_rank = has(Name::ctas) ? owner : named >> rank_shift;
    copy.tx_bytes = tx_bytes;
    return true;
  }
  bool operation(async::TensorType type) {
    if (!form.reduces) return true;
    copy.operation = form.reduction.operation, copy.element = type;
    copy.reduce = async::reduction(copy.operation, type);
    if (copy.reduce) return true;
    return bad_tensor(FaultKind::illegal_instruction,
                      fmt::format("tensors of type {} have no .{} reduction",
                                  async::facts(type).cuda, async::name(form.reduction.operation)),
                      async::Violation::tensor_no_reduction);
  }

  // Calls f(rank) for each destination block until one call returns false.
  template <class F>
  bool each_destination(std::uint32_t to, F f) {
    if (!has(Name::ctas)) return f(to >> rank_shift);
    for (std::uint32_t ctas = half(Name::ctas), rank = 0; ctas != 0; ctas >>= 1, ++rank)
      if (ctas & 1 && !f(rank)) return false;
    return true;
  }

  // Whether the copy has no bytes left; if so, issues it as empty. An H200 checks no address of a
  // copy of less than 16 bytes (kernel.bulk_empty).
  bool empty(std::uint32_t bytes) {
    if (bytes == 0) bulk_copies(w).issue_empty(copy);
    return bytes == 0;
  }
  void issue() {
    bulk_copies(w).issue(copy);
    // Wakes threads that already wait: they perform pending copies.
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
  std::uint64_t cost = 0;  // of the issued copies, in ops

 private:
  Ref operand(unsigned name) const { return w.frame->code->extra[op->extra + name]; }
  template <class T>
  T read(unsigned name) const {
    return w.at<T>(operand(name))[lane];
  }
};

// Runs one(BulkRequest&) for every active lane. Returns the op after the instruction unless a check
// ended the kernel.
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

}  // namespace inflight::machine
