// Fills in special registers for all lanes, once per block.
#include "gpu/machine/run/values.hpp"

#include <algorithm>
#include <bit>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {
namespace {

using ptx::Special;

struct BlockValue {
  Special special;
  std::uint32_t (*read)(const Block&);
  bool moves = false;  // differs between blocks
};

Dim3 cluster_shape(const Block& b) { return b.grid->launch->cluster; }

std::uint32_t multiprocessor(const Block& b) {
  const Limits& limits = *b.grid->limits;
  const auto place = static_cast<std::uint32_t>(b.linear % limits.multiprocessors);
  return limits.part.empty() ? place : limits.part[place];
}

// Every special register that all threads of a block share.
constexpr BlockValue block_values[] = {
    {Special::ntid_x, [](const Block& b) { return b.grid->launch->block.x; }},
    {Special::ntid_y, [](const Block& b) { return b.grid->launch->block.y; }},
    {Special::ntid_z, [](const Block& b) { return b.grid->launch->block.z; }},
    {Special::ctaid_x, [](const Block& b) { return b.index.x; }, true},
    {Special::ctaid_y, [](const Block& b) { return b.index.y; }, true},
    {Special::ctaid_z, [](const Block& b) { return b.index.z; }, true},
    {Special::nctaid_x, [](const Block& b) { return b.grid->launch->grid.x; }},
    {Special::nctaid_y, [](const Block& b) { return b.grid->launch->grid.y; }},
    {Special::nctaid_z, [](const Block& b) { return b.grid->launch->grid.z; }},
    {Special::nwarpid,
     [](const Block& b) { return b.grid->limits->max_threads_per_multiprocessor / lanes; }},
    {Special::smid, multiprocessor, true},
    {Special::nsmid,
     [](const Block& b) {
       const Limits& limits = *b.grid->limits;
       return limits.part.empty() ? limits.multiprocessors : limits.part_of;
     }},
    {Special::gridid, [](const Block& b) { return std::uint32_t(b.grid->id); }},
    {Special::is_explicit_cluster,
     [](const Block& b) {
       const bool asked =
           cluster_shape(b).count() > 1 || b.grid->launch->kernel->required_cluster[0] != 0;
       return asked ? all_lanes : 0u;  // a predicate
     }},
    {Special::clusterid_x, [](const Block& b) { return b.index.x / cluster_shape(b).x; }, true},
    {Special::clusterid_y, [](const Block& b) { return b.index.y / cluster_shape(b).y; }, true},
    {Special::clusterid_z, [](const Block& b) { return b.index.z / cluster_shape(b).z; }, true},
    {Special::nclusterid_x,
     [](const Block& b) { return b.grid->launch->grid.x / cluster_shape(b).x; }},
    {Special::nclusterid_y,
     [](const Block& b) { return b.grid->launch->grid.y / cluster_shape(b).y; }},
    {Special::nclusterid_z,
     [](const Block& b) { return b.grid->launch->grid.z / cluster_shape(b).z; }},
    {Special::cluster_ctaid_x, [](const Block& b) { return b.index.x % cluster_shape(b).x; }, true},
    {Special::cluster_ctaid_y, [](const Block& b) { return b.index.y % cluster_shape(b).y; }, true},
    {Special::cluster_ctaid_z, [](const Block& b) { return b.index.z % cluster_shape(b).z; }, true},
    {Special::cluster_nctaid_x, [](const Block& b) { return cluster_shape(b).x; }},
    {Special::cluster_nctaid_y, [](const Block& b) { return cluster_shape(b).y; }},
    {Special::cluster_nctaid_z, [](const Block& b) { return cluster_shape(b).z; }},
    {Special::cluster_ctarank, [](const Block& b) { return b.rank; }},
    {Special::cluster_nctarank,
     [](const Block& b) { return std::uint32_t(cluster_shape(b).count()); }},
    {Special::reserved_smem_offset_begin, [](const Block&) { return 0u; }},
    {Special::reserved_smem_offset_end, [](const Block&) { return reserved_shared_usable; }},
    {Special::reserved_smem_offset_cap, [](const Block&) { return reserved_shared; }},
    // These two are used as addresses. In a cluster they name rank 0's block, as on an H200.
    {Special::reserved_smem_offset_0, [](const Block&) { return 0u; }},
    {Special::reserved_smem_offset_1, [](const Block&) { return 0u; }},
    {Special::total_smem_size,
     [](const Block& b) { return (b.shared_end - reserved_shared + 127) / 128 * 128; }},
    {Special::aggr_smem_size, [](const Block& b) { return b.shared_end; }},
    {Special::dynamic_smem_size, [](const Block& b) { return b.grid->launch->dynamic_shared; }},
    // A cooperative grid's workspace: %envreg1 is the high word of its address, %envreg2 the low.
    {Special::envreg0, [](const Block&) { return 0u; }},
    {Special::envreg1, [](const Block& b) { return std::uint32_t(b.grid->workspace >> 32); }},
    {Special::envreg2, [](const Block& b) { return std::uint32_t(b.grid->workspace); }},
    {Special::envreg3, [](const Block&) { return 0u; }},
    {Special::envreg_other, [](const Block&) { return 0u; }},
};
constexpr std::uint32_t block_count = std::size(block_values);

// The special registers that differ between lanes, in the order of WarpValues.
constexpr Special warp_values[] = {
    Special::tid_x,       Special::tid_y,       Special::tid_z,       Special::laneid,
    Special::warpid,      Special::lanemask_eq, Special::lanemask_le, Special::lanemask_lt,
    Special::lanemask_ge, Special::lanemask_gt,
};
struct WarpValues {
  using Row = std::uint32_t[lanes];
  Row tid_x, tid_y, tid_z, laneid, warpid;
  Row lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt;
};
static_assert(sizeof(WarpValues) == std::size(warp_values) * value_bytes);

constexpr std::uint32_t dynamic_offset = block_count * value_bytes;
constexpr std::uint32_t wide_dynamic_offset = dynamic_offset + value_bytes;
constexpr std::uint32_t window_offset = wide_dynamic_offset + wide_value_bytes;
constexpr std::uint32_t wide_window_offset = window_offset + value_bytes;
constexpr std::uint32_t block_rows = (wide_window_offset + wide_value_bytes) / value_bytes;
static_assert(block_rows <= 64);  // a bit each in Grid::block_values

constexpr std::uint64_t moving_rows = [] {
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i < block_count; ++i)
    if (block_values[i].moves) rows |= std::uint64_t{1} << i;
  return rows;
}();
constexpr std::uint64_t address_rows = ~std::uint64_t{0} << block_count;

}  // namespace

Ref special_slot(Special special, std::int64_t) {
  for (std::uint32_t i = 0; i < block_count; ++i)
    if (block_values[i].special == special) return make_ref(Base::block, i * value_bytes);
  for (std::uint32_t i = 0; i < std::size(warp_values); ++i)
    if (warp_values[i] == special) return make_ref(Base::warp, i * value_bytes);
  return no_ref;
}

std::uint64_t block_value_row(Ref slot) {
  return (slot & 3) == std::uint32_t(Base::block) ? std::uint64_t{1} << slot / value_bytes : 0;
}

Ref dynamic_shared_slot(unsigned bytes) {
  return make_ref(Base::block, bytes == 8 ? wide_dynamic_offset : dynamic_offset);
}

Ref shared_window_slot(unsigned bytes) {
  return make_ref(Base::block, bytes == 8 ? wide_window_offset : window_offset);
}

std::uint64_t read_special(Warp& w, Special special) {
  const std::uint64_t clock = w.block->clock.now() + w.used();
  switch (special) {
    case Special::clock:
    case Special::clock64:
      return clock;
    case Special::clock_hi:
      return clock >> 32;
    case Special::current_graph_exec:
      return w.block->grid->launch->graph;
    case Special::globaltimer_hi:
      return nanoseconds(clock, w.block->grid->limits->clock_khz) >> 32;
    default:
      return nanoseconds(clock, w.block->grid->limits->clock_khz);
  }
}

bool is_constant_address(const Warp& w, std::uint64_t address) {
  const auto allocation = w.block->grid->memory->find(address);
  return allocation && allocation->kind == AllocationKind::constant;
}

std::uint32_t block_values_size() { return wide_window_offset + wide_value_bytes; }
std::uint32_t warp_values_size() { return sizeof(WarpValues); }

void fill_block_values(Block& block, bool all) {
  block.values.resize(block_values_size());
  auto* const values = reinterpret_cast<std::uint32_t*>(block.values.data());
  const std::uint64_t rows = block.grid->block_values & (all ? ~std::uint64_t{0} : moving_rows);
  for (std::uint64_t left = rows & ~address_rows; left != 0; left &= left - 1) {
    const int row = std::countr_zero(left);
    std::fill_n(values + row * lanes, lanes, block_values[row].read(block));
  }
  if ((rows & address_rows) == 0) return;
  std::uint32_t* out = values + block_count * lanes;
  for (const std::uint32_t value : {block.window | block.grid->dynamic_offset, block.window}) {
    std::fill_n(out, lanes, value);
    std::fill_n(reinterpret_cast<std::uint64_t*>(out + lanes), lanes, value);
    out += 3 * lanes;
  }
}

void fill_warp_values(Warp& warp) {
  warp.values.resize(sizeof(WarpValues));
  auto& v = *reinterpret_cast<WarpValues*>(warp.values.data());
  const Dim3& block = warp.block->grid->launch->block;
  std::uint32_t x = warp.first_thread() % block.x, y = warp.first_thread() / block.x % block.y,
                z = warp.first_thread() / block.x / block.y;
  for (std::uint32_t l = 0; l < lanes; ++l) {
    v.tid_x[l] = x, v.tid_y[l] = y, v.tid_z[l] = z;
    if (++x == block.x) x = 0, ++y;
    if (y == block.y) y = 0, ++z;
  }
  for (std::uint32_t l = 0; l < lanes; ++l) {
    v.laneid[l] = l, v.warpid[l] = warp.index;
    v.lanemask_eq[l] = 1u << l;
    v.lanemask_le[l] = (2u << l) - 1, v.lanemask_lt[l] = (1u << l) - 1;
    v.lanemask_ge[l] = ~0u << l, v.lanemask_gt[l] = ~((2u << l) - 1);
  }
}

}  // namespace inflight::machine
