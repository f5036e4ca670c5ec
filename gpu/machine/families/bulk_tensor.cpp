// Tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Tensor copy"). Reads the map,
// checks each lane's request and passes it to gpu/async, which moves the bytes.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpu/bytes/range.hpp"
#include "gpu/machine/families/bulk_request.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using async::BulkCopy;
using ptx::Space;
using Name = BulkOperands::Name;
constexpr std::uint32_t granule = BulkRequest::granule;

// Checks that the map's generic address is in .param, .const or .global. The unit that copies
// tensors can read neither local nor shared memory.
bool in_map_space(BulkRequest& r, std::uint64_t address) {
  const Space space = space_of(r.w, address);
  if (space != Space::local && !is_shared(space)) return true;
  return r.bad_tensor(
      FaultKind::illegal_address,
      fmt::format(
          "the tensor map at 0x{:x} is in {} memory: a copy takes its map from a "
          "__grid_constant__ parameter of the kernel, from global or from constant memory{}",
          address, space == Space::local ? "local" : "shared",
          space == Space::local ? " (a map that is passed to a function by value, or a "
                                  "parameter without __grid_constant__, is a copy in local "
                                  "memory: pass a reference or a pointer)"
                                : ""));
}

// Whether the copy is of four rows of a matrix: one copy for each, of a box of one row.
bool is_of_four(const BulkRequest& r) {
  const ptx::ModSet& mods = r.op->what->text->mods;
  return mods.has(ptx::Mod::tile_gather4) || mods.has(ptx::Mod::tile_scatter4);
}
unsigned rows_of(const BulkRequest& r) { return is_of_four(r) ? 4 : 1; }

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
  if (is_of_four(r) && map->rank == 2 && map->box[1] != 1) {
    r.bad_tensor(FaultKind::illegal_instruction,
                 fmt::format("the box of its tensor map has {} rows: a copy of four rows has a box "
                             "of one row",
                             map->box[1]));
    return nullptr;
  }
  if (map->rank != r.form.rank || (map->mode == async::TensorMode::im2col) != r.form.im2col) {
    r.bad_tensor(
        FaultKind::illegal_instruction,
        fmt::format("the instruction is for {}-dimensional {} copies, but its tensor map is "
                    "{}-dimensional, {}",
                    r.form.rank, r.form.im2col ? "im2col" : "tile", map->rank,
                    map->mode == async::TensorMode::im2col ? "im2col" : "tile"));
    return nullptr;
  }
  return map;
}

// The coordinates and offsets. `shared` is the box's offset in shared memory.
async::TensorPlace place_of(const BulkRequest& r, std::uint32_t shared) {
  async::TensorPlace place;
  for (unsigned i = 0; i < r.form.rank; ++i)
    place.at[i] = static_cast<std::int32_t>(r.narrow(Name::place + i));
  for (unsigned i = 0; i < 3; ++i)
    if (r.has(Name::offset + i)) place.offset[i] = r.half(Name::offset + i);
  place.shared = shared & offset_mask;
  return place;
}
// Sets the place of one of the rows_of(r). Those in shared memory follow each other.
void set_row(BulkRequest& r, std::uint32_t shared, unsigned row) {
  r.copy.place = place_of(r, shared);
  if (!is_of_four(r)) return;
  r.copy.one_of_four = true;
  r.copy.place.at[1] = static_cast<std::int32_t>(r.narrow(Name::place + 1 + row));
  const std::uint32_t pitch = async::box_of(r.copy.map).pitch;
  for (unsigned before = 0; before < row; ++before) r.copy.place.shared += pitch;
}

// A store writes `padding` bytes past the elements of a row, which end at `end`, to the end of
// their 16-byte chunk. This is allowed inside an allocation, or in the padding after it (sizes of
// device memory are rounded up to 256 bytes). After memory that the program registered, it would
// change bytes that do not belong to the GPU.
bool check_padding(BulkRequest& r, std::uint64_t end, std::uint32_t padding) {
  const std::uint64_t most = r.w.block->grid->memory->padded_end(end - 1);
  if ((Checked(end) + padding).within(most)) return true;
  FaultDetail about;
  about.access = about.writes = true;
  about.space = Space::global;
  about.address = end, about.bytes = padding;
  return r.fail(FaultKind::illegal_address,
                fmt::format("a tensor store writes whole 16-byte chunks, and the last element's "
                            "chunk reaches {} bytes past 0x{:x}, the end of its memory: {}. Make "
                            "the memory end at a multiple of 16 bytes, or register more of it",
                            padding, end, describe_address(r.w, end)),
                about);
}

// Checks the rules of the copy itself. The alignment of four rows is that of the first.
bool check_rules(BulkRequest& r, async::TensorDirection direction) {
  async::TensorPlace place = r.copy.place;
  if (r.copy.one_of_four)
    place.shared =
        place_of(r, r.narrow(direction == async::TensorDirection::load ? Name::to : Name::from))
            .shared;
  const auto violation = async::tensor_violation(r.copy.map, place, direction);
  if (violation == async::Violation::none) return true;
  return r.bad_tensor(
      violation == async::Violation::tensor_shared_alignment ? FaultKind::misaligned_address
                                                             : FaultKind::illegal_instruction,
      fmt::format("a tensor copy breaks a rule: {}", async::sentence(violation)), violation);
}

// Checks the rules and every byte that the copy accesses in global memory. Swizzling is left out:
// it moves bytes only in shared memory.
bool check_tensor(BulkRequest& r, async::TensorDirection direction) {
  const BulkCopy& copy = r.copy;
  if (!check_rules(r, direction)) return false;
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

// The bytes from the first to the last that a store writes. Empty if there are none, or if one run
// reaches past the last address, where no memory is.
ByteRange written_range(const BulkRequest& r) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  bool wraps = false;
  async::for_each_run(r.copy.map, r.copy.place, async::TensorDirection::store,
                      [&](const async::TensorRun& run) {
                        if (!run.inside) return;
                        const auto bytes = ByteRange::of(run.global, run.bytes);
                        wraps |= !bytes;
                        low = std::min(low, run.global);
                        high = std::max(high, bytes ? bytes->end() : 0);
                      });
  return wraps ? ByteRange() : ByteRange::between(low, high).value_or(ByteRange());
}

// For a store to a multicast object, the place of the tensor's first byte on each device. Empty for
// other stores: their runs are checked one by one.
std::vector<MulticastSpan::Place> cast_tensor(const BulkRequest& r) {
  if (r.w.block->grid->memory->multicasts().empty()) return {};
  const ByteRange written = written_range(r);
  if (written.empty()) return {};
  auto places = r.cast(written.base(), written.bytes());
  const std::uint64_t before = written.base() - r.copy.map.global_address;
  for (MulticastSpan::Place& each : places) {
    each.at -= before;
    if (each.seen) each.seen -= before;
  }
  return places;
}

// Sets the box in the shared memory of the block of rank `rank`.
bool box_in(BulkRequest& r, std::uint32_t rank, bool writing) {
  const std::uint64_t bytes = async::touched_bytes(r.copy.map, r.copy.place.shared);
  std::byte* at = r.shared(rank << rank_shift | r.copy.place.shared, bytes, writing, false);
  if (at) r.copy.shared = at - r.copy.place.shared;
  return at != nullptr;
}

}  // namespace

const Op* bulk_tensor_load(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const auto map = tensor_map(r);
    if (!map) return;
    r.copy.kind = BulkCopy::Kind::tensor_load;
    r.copy.map = *map;
    const std::uint32_t to = r.narrow(Name::to);
    const SourceWatch watch(r.w, r.op);
    for (unsigned row = 0; row < rows_of(r); ++row) {
      set_row(r, to, row);
      if (!check_tensor(r, async::TensorDirection::load)) return;
    }
    r.copy.watch = watch.needed();
    const auto bytes = static_cast<std::uint32_t>(async::box_of(*map).tx_bytes());
    r.each_destination(to, [&](std::uint32_t rank) {
      for (unsigned row = 0; row < rows_of(r); ++row) {
        set_row(r, to, row);
        if (!box_in(r, rank, true) || !r.completes(rank, bytes)) return false;
        r.issue();
      }
      return true;
    });
  });
}

namespace {

// Stores the box or row at r.copy.place.
void store_one(BulkRequest& r) {
  const auto places = cast_tensor(r);
  const bool good = places.empty() ? check_tensor(r, async::TensorDirection::store)
                                   : check_rules(r, async::TensorDirection::store);
  if (!good || !box_in(r, r.w.block->rank, false)) return;
  if (places.empty()) return r.issue();
  for (const MulticastSpan::Place& each : places) {
    r.copy.map.global_address = reinterpret_cast<std::uint64_t>(each.at);
    r.copy.seen = BulkRequest::to_seen(each);
    r.issue();
  }
}

}  // namespace

const Op* bulk_tensor_store(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const auto map = tensor_map(r);
    if (!map) return;
    r.copy.kind = BulkCopy::Kind::tensor_store;
    r.copy.watch = true;
    r.copy.map = *map;
    const std::uint32_t from = r.narrow(Name::from);
    if (from >> rank_shift != r.w.block->rank) {
      r.shared(from, granule, false, true);
      return;
    }
    if (!r.operation(map->type)) return;
    for (unsigned row = 0; row < rows_of(r) && !r.failed; ++row) {
      r.copy.map.global_address = map->global_address;
      set_row(r, from, row);
      store_one(r);
    }
  });
}

const Op* bulk_tensor_prefetch(Warp& w, const Op* op) {
  return each_request(w, op, [](BulkRequest& r) {
    const auto map = tensor_map(r);
    const Observation* const observation = r.w.block->grid->observation;
    if (!map || !observation || !observation->wants(check::Topic::copies)) return;
    const async::TensorPlace place = place_of(r, 0);
    check::Prefetch event;
    event.who = observation->who(r.w, 1u << r.lane, r.op);
    event.bytes = static_cast<std::uint32_t>(async::box_of(*map).tx_bytes());
    event.tensor_map = r.copy.map_address;
    event.coordinates = {place.at.data(), map->rank};
    if (r.form.im2col) event.offsets = {place.offset.data(), map->spatial()};
    observation->listener().prefetched(event);
  });
}

}  // namespace inflight::machine
