// Bulk copies (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy"), st.async and
// red.async. Checks each lane's request and passes it to gpu/async, which moves the bytes.
//
// If the ISA does not define a case, this code does as an H200. Sizes are rounded down to whole 16
// bytes, and no address of an empty copy is checked. A copy completes on the mbarrier at its
// operand's offset in the destination's block.
#include "gpu/machine/families/bulk.hpp"

#include <fmt/format.h>

#include <cstring>

#include "gpu/machine/families/bulk_request.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using async::BulkCopy;
using ptx::Space;
using Name = BulkOperands::Name;
constexpr std::uint32_t granule = BulkRequest::granule;

// The bytes at both ends of a source that an .ignore_oob copy does not read. PTX leaves those of
// the destination undefined: here they keep their values, and still count on the mbarrier.
struct Ends {
  std::uint32_t left = 0, right = 0;
};
Ends ends_of(BulkRequest& r, std::uint32_t bytes) {
  if (!r.form.skips) return {};
  const Ends ends{r.narrow(Name::left), r.narrow(Name::right)};
  if (ends.left < granule && ends.right < granule && ends.left + ends.right <= bytes) return ends;
  r.fail(
      FaultKind::illegal_instruction,
      fmt::format("a copy with .ignore_oob leaves out {} bytes before and {} after: it may leave "
                  "out 0 to 15 at each end, and no more than it has",
                  ends.left, ends.right));
  return {};
}

}  // namespace

const Op* bulk_load(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const std::uint64_t from = r.wide(Name::from);
    const std::uint32_t to = r.narrow(Name::to), bytes = r.size();
    if (r.empty(bytes) || !r.aligned(from, granule, Space::global, "source") ||
        !r.aligned(to, granule, Space::shared_cluster, "destination"))
      return;
    const Ends ends = ends_of(r, bytes);
    if (r.failed) return;
    const SourceWatch watch(r.w, r.op);
    const std::uint32_t copied = bytes - ends.left - ends.right;
    if (!r.global(from + ends.left, copied, false)) return;
    r.copy.watch = watch.needed();
    r.copy.from = reinterpret_cast<const std::byte*>(from + ends.left);
    r.copy.bytes = copied;
    r.each_destination(to, [&](std::uint32_t rank) {
      const std::uint32_t there = rank << rank_shift | (to & offset_mask);
      std::byte* const at = r.shared(there, bytes, true, r.form.own_only);
      if (!at || !r.completes(rank, bytes)) return false;
      r.copy.to = at + ends.left;
      r.issue();
      return true;
    });
  });
}

const Op* bulk_copy(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const std::uint32_t from = r.narrow(Name::from), to = r.narrow(Name::to), bytes = r.size();
    if (r.empty(bytes) || !r.aligned(from, granule, Space::shared, "source") ||
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
    const std::uint32_t from = r.narrow(Name::from), bytes = r.size();
    if (r.empty(bytes) || !r.aligned(from, granule, Space::shared, "source") ||
        !r.aligned(to, granule, Space::global, "destination"))
      return;
    if (!(r.copy.from = r.shared(from, bytes, false, true))) return;
    if (!r.operation(r.form.reduction.type)) return;
    r.copy.bytes = bytes;
    r.copy.watch = true;
    if (r.has(Name::mask)) r.copy.byte_mask = r.half(Name::mask);
    r.store_to(to);
  });
}

// Moves nothing. An H200 checks the address's alignment, but not the memory there.
const Op* bulk_prefetch(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const std::uint32_t bytes = r.size();
    const Observation* const observation = r.w.block->grid->observation;
    if (observation && observation->wants(check::Topic::copies)) [[unlikely]] {
      check::Prefetch event;
      event.who = observation->who(r.w, 1u << r.lane, r.op);
      event.bytes = bytes, event.left_out = r.copy.left_out;
      event.address = r.wide(Name::from);
      observation->listener().prefetched(event);
    }
    if (bytes != 0) r.aligned(r.wide(Name::from), granule, Space::global, "source");
  });
}

const Op* bulk_commit(Warp& w, const Op* op) {
  each_lane(w.mask, [&](int lane) {
    const auto thread = w.first_thread() + static_cast<std::uint32_t>(lane);
    bulk_copies(w).commit(cluster_thread(w.block->rank, thread), w.number(op));
  });
  w.progressed = true;
  return op + 1;
}

const Op* bulk_wait(Warp& w, const Op* op) {
  const GroupUse& use = use_of<GroupUse>(op);
  each_lane(w.mask, [&](int lane) {
    const auto thread = w.first_thread() + static_cast<std::uint32_t>(lane);
    bulk_copies(w).wait_group(cluster_thread(w.block->rank, thread), use.allowed, use.read_only,
                              w.number(op));
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
    if (!r.operation(form.reduction.type)) return;
    if (r.completes(to >> rank_shift, bytes)) r.issue();
  });
}

}  // namespace inflight::machine
