// Lists the lanes and columns of tensor memory, and the bytes of shared memory.
#include "gpu/machine/families/tcgen05_events.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/machine/families/tcgen05.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/observe/tensor_memory_events.hpp"

namespace inflight::machine {
namespace {

using check::TensorRun;
using Of = TensorRun::Of;
constexpr std::uint32_t segment = TensorRun::segment_lanes;

class Runs {
 public:
  void begin(const Block& block) { rank_ = static_cast<std::uint16_t>(block.rank); }
  // The 16 lanes from `lane`, which is a multiple of 16.
  void add(std::uint32_t lane, std::uint32_t first, std::uint32_t columns, Of of, bool reads,
           bool writes, std::uint16_t lanes = 0xffff) {
    if (lanes == 0 || columns == 0) return;
    all_.push_back({rank_, static_cast<std::uint8_t>(lane / segment), of, lanes, reads, writes,
                    first, columns});
  }
  // The scales of rows or columns first to last - 1, in one quarter of the lanes.
  void add_scales(std::uint32_t quarter, std::uint32_t column, std::uint32_t first,
                  std::uint32_t last, Of of) {
    for (std::uint32_t x = first / segment * segment; x < last; x += segment) {
      const std::uint32_t to = std::min(last - x, segment), from = first > x ? first - x : 0;
      add(quarter * TensorMemory::lanes_a_warp + x % TensorMemory::lanes_a_warp,
          column + x / TensorMemory::lanes_a_warp, 1, of, true, false,
          static_cast<std::uint16_t>((0xffffu >> (segment - to)) & (0xffffu << from)));
    }
  }
  std::span<const TensorRun> all() const { return all_; }

 private:
  std::uint16_t rank_ = 0;
  std::vector<TensorRun> all_;
};

class Sources {
 public:
  void add(const Block& block, const BlockOperand& o) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t line = 0; line < o.lines; ++line)
      for (std::uint32_t chunk = 0; chunk < o.chunks; ++chunk)
        places.push_back(o.address(line, chunk));
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::size_t begin = all_.size();
    for (const std::uint32_t place : places) {
      if (place + async::swizzle_chunk > block.shared_end) continue;  // it reads zeros there
      if (begin < all_.size() && all_.back().address + all_.back().bytes == place)
        all_.back().bytes += async::swizzle_chunk;
      else
        all_.push_back({static_cast<std::uint16_t>(block.rank), place, async::swizzle_chunk});
    }
  }
  std::span<const check::TensorSource> all() const { return all_; }

 private:
  std::vector<check::TensorSource> all_;
};

struct Multiply {
  const BlockMultiplyUse& use;
  const async::TensorOperation& o;
  const InstructionDescriptor& of;
  const BlockLayout layout;

  std::uint16_t lanes_written(std::uint32_t part, std::uint32_t lane) const {
    const std::uint32_t left_out = o.lanes_left_out[part * 4 + lane / TensorMemory::lanes_a_warp] >>
                                   lane % TensorMemory::lanes_a_warp;
    return static_cast<std::uint16_t>(~left_out);
  }

  // `part`: 0 for the block of even rank.
  void add_d(Runs& runs, std::uint32_t part) const {
    const TensorAddress d(o.d);
    const std::uint32_t columns = columns_of_d(layout, of);
    for (std::uint32_t in = 0; in < layout.parts; ++in)
      for (std::uint32_t row = 0; row < layout.rows; row += segment) {
        const std::uint32_t lane = d.lane + layout.lane(row) + in * layout.lanes_a_part();
        runs.add(lane, d.column, columns, Of::d, o.accumulates, true, lanes_written(part, lane));
      }
  }
  void add_rows(Runs& runs, std::uint32_t address, std::uint32_t columns, Of what) const {
    const TensorAddress at(address);
    for (std::uint32_t row = 0; row < layout.rows; row += segment)
      runs.add(at.lane + layout.lane(row), at.column, columns, what, true, false);
  }
  void add_scales(Runs& runs) const {
    constexpr std::uint32_t id_bits = 0xc0000000, rows = TensorMemory::lanes_a_warp;
    const std::uint32_t a = TensorAddress(o.scale_a & ~id_bits).column,
                        b = TensorAddress(o.scale_b & ~id_bits).column;
    const auto in_part = static_cast<std::uint32_t>(of.product.n) / layout.parts;
    for (std::uint32_t in = 0; in < layout.parts; ++in)
      for (std::uint32_t first = 0; first < layout.rows; first += rows) {
        const std::uint32_t quarter =
            (layout.lane(first) + in * layout.lanes_a_part()) / TensorMemory::lanes_a_warp;
        runs.add_scales(quarter, a, first, first + rows, Of::scale_a);
        runs.add_scales(quarter, b, in * in_part, (in + 1) * in_part, Of::scale_b);
      }
  }
};

void report_work(Warp& w, const Op* op, int lane, bool multiplies, std::uint32_t group,
                 const Runs& runs, const Sources& sources) {
  const Observation& o = *w.block->grid->observation;
  o.listener().tensor_work_issued({o.who(w, 1u << lane, op), multiplies,
                                   static_cast<std::uint8_t>(group), runs.all(), sources.all()});
}

}  // namespace

void report_tensor_access(Warp& w, const Op* op, const TensorMemoryUse& use, std::uint32_t lane,
                          std::uint32_t column, bool writes) {
  if (!observes_tensor_memory(w)) return;
  using Shape = TensorMemoryUse::Shape;
  Runs runs;
  runs.begin(*w.block);
  const auto add = [&](std::uint32_t at, std::uint32_t from) {
    runs.add(at, from, use.columns(), Of::data, !writes, writes);
  };
  add(lane, column);
  if (use.shape == Shape::l32x32b) add(lane + segment, column);
  if (use.shape == Shape::l16x32bx2) add(lane, column + static_cast<std::uint32_t>(op->imm));
  const Observation& o = *w.block->grid->observation;
  o.listener().tensor_accessed({o.who(w, w.mask, op), writes, runs.all()});
}

void report_tensor_multiply(Warp& w, const Op* op, int lane, const async::TensorOperation& o,
                            const InstructionDescriptor& of) {
  if (!observes_tensor_memory(w)) return;
  const auto& use = use_of<BlockMultiplyUse>(op);
  const Multiply multiply{use, o, of, layout_of(use, of)};
  const auto columns = static_cast<std::uint32_t>(of.product.n) / use.group;
  const bool wide_metadata = use.kind >= BlockMultiplyUse::Kind::f8f6f4;
  Runs runs;
  Sources sources;
  for (std::uint32_t i = 0; i < use.group; ++i) {
    const Block& block = i == 0 ? *w.block : peer_of(*w.block);
    runs.begin(block);
    multiply.add_d(runs, use.group == 2 ? block.rank % 2 : 0);
    if (use.a_in_tensor_memory)
      multiply.add_rows(runs, static_cast<std::uint32_t>(o.a), columns_of_a, Of::a);
    else
      sources.add(block, block_operand(o.a, of.a_major, multiply.layout.rows, of.row_bytes_a,
                                       of.product.a));
    if (use.sparse) multiply.add_rows(runs, o.metadata, wide_metadata ? 2 : 1, Of::metadata);
    if (use.scaled()) multiply.add_scales(runs);
    sources.add(block, block_operand(o.b, of.b_major, columns, of.row_bytes_b(), of.product.b));
  }
  report_work(w, op, lane, true, use.group, runs, sources);
}

void report_tensor_copy(Warp& w, const Op* op, int lane, const async::TensorOperation& o,
                        const BlockOperand& from) {
  if (!observes_tensor_memory(w)) return;
  const auto& use = use_of<TensorMemoryCopyUse>(op);
  std::array<std::uint16_t, TensorRun::segments> written{};
  for (std::uint32_t row = 0; row < use.rows; ++row)
    use.each_lane(row, [&](std::uint32_t at) {
      written[at / segment] |= static_cast<std::uint16_t>(1u << at % segment);
    });
  Runs runs;
  Sources sources;
  for (std::uint32_t i = 0; i < use.group; ++i) {
    const Block& block = i == 0 ? *w.block : peer_of(*w.block);
    runs.begin(block);
    for (std::uint32_t s = 0; s < written.size(); ++s)
      runs.add(s * segment, TensorAddress(o.d).column, use.chunks * 4u, Of::data, false, true,
               written[s]);
    sources.add(block, from);
  }
  report_work(w, op, lane, false, use.group, runs, sources);
}

}  // namespace inflight::machine
