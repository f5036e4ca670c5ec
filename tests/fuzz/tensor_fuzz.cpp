// Arbitrary 128 bytes as a tensor map, and arbitrary coordinates. Bytes accepted as a map are ones
// that encoding can produce, and its copies touch no byte outside the box and the tensor.
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/async/tensor_copy.hpp"
#include "gpu/async/tensor_map.hpp"
#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/reporting.hpp"
#include "tests/fuzz/tensor_maps.hpp"

namespace {

using namespace inflight::async;
using inflight::fuzz::Choices;
using inflight::fuzz::require;

constexpr std::uint64_t global_bytes = 1 << 16, most_box_bytes = 228 << 10;

TensorPlace any_place(Choices& choices) {
  TensorPlace place;
  for (auto& at : place.at) {
    const std::uint64_t extreme = choices.pick(inflight::fuzz::extremes);
    const int near = static_cast<int>(choices.below(64)) - 16;
    at = choices.one_in(4) ? static_cast<std::int32_t>(extreme) : near;
  }
  if (!choices.one_in(8))  // a valid start
    place.at[0] = place.at[0] / 16 * 16;
  for (auto& offset : place.offset)
    offset = static_cast<std::uint16_t>(choices.one_in(4) ? choices.bits() : choices.below(3));
  place.shared = 1024 + 128 * choices.below(16) + (choices.one_in(16) ? choices.below(128) : 0);
  return place;
}

// Every byte of the box occurs once, and none past touched_bytes(). Returns true if all bytes
// inside the tensor lie in [global, global + global_bytes).
bool check_runs(const TensorMap& m, const TensorPlace& place, TensorDirection direction,
                std::uint64_t global) {
  const TensorBox box = box_of(m);
  const std::uint64_t end = place.shared + touched_bytes(m, place.shared);
  std::uint64_t bytes = 0;
  bool inside = true;
  for_each_run(m, place, direction, [&](const TensorRun& run) {
    bytes += run.bytes;
    require(run.bytes != 0, "a run has bytes");
    require(run.shared >= place.shared && std::uint64_t{run.shared} + run.bytes <= end,
            "a run lies in the box");
    inside &=
        !run.inside || (run.global >= global && run.global - global + run.bytes <= global_bytes);
  });
  require(bytes == box.tx_bytes(), "the runs are the box");
  return inside;
}

void copy(const TensorMap& m, const TensorPlace& place, Choices& choices,
          std::vector<std::byte>& global) {
  const auto base = reinterpret_cast<std::uint64_t>(global.data());
  const auto direction = choices.one_in(2) ? TensorDirection::load : TensorDirection::store;
  if (tensor_violation(m, place, direction) != Violation::none) return;
  if (!check_runs(m, place, direction, base)) return;
  inflight::fuzz::tally("copies");
  // Exactly as long as the copy may reach, so that a sanitizer detects one byte too many.
  std::vector<std::byte> shared(place.shared + touched_bytes(m, place.shared), std::byte{0x3c});
  const TensorMemory memory{shared.data(), nullptr};
  if (direction == TensorDirection::load) return tensor_load(m, place, memory);
  const auto op = static_cast<ReduceOp>(choices.below(reduce_op_count));
  const Reduce reduce = choices.one_in(2) ? reduction(op, m.type) : nullptr;
  reduce ? tensor_reduce(m, place, memory, reduce) : tensor_store(m, place, memory);
}

void change(OpaqueTensorMap& opaque, Choices& choices) {
  for (std::uint32_t n = choices.below(6); n--;) {
    if (choices.one_in(4)) {
      opaque.bytes[8 + choices.below(tensor_map_bytes - 8)] = std::byte(choices.below(256));
      continue;
    }
    const auto field = static_cast<TensorMapField>(choices.below(10));
    const std::uint64_t value =
        choices.one_in(2) ? choices.below(300) : choices.pick(inflight::fuzz::extremes);
    (void)replace(opaque.bytes.data(), field, choices.below(6), value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  static std::vector<std::byte> global(global_bytes);
  const bool im2col = choices.one_in(4);
  const TensorMap wished =
      inflight::fuzz::any_tensor_map(choices, im2col ? TensorMode::im2col : TensorMode::tile,
                                     im2col ? 3 + choices.below(3) : 1 + choices.below(5),
                                     reinterpret_cast<std::uint64_t>(global.data()), global_bytes);
  OpaqueTensorMap opaque = pack(wished);
  if (choices.one_in(2)) change(opaque, choices);
  const auto map = unpack(opaque.bytes.data());
  if (!map) {
    require(!map.error().sentence.empty(), "a refusal has a sentence");
    inflight::fuzz::tally("maps refused");
    return 0;
  }
  const TensorBox box = box_of(*map);
  require(box.rows > 0 && box.rows <= most_box_bytes << 4, "a box has rows, and no endless number");
  // A slice has up to 32 bytes for each byte of an element that the rules count. The rules divide
  // the edges of a tile by their strides and round down. A copy rounds up, and copies inner rows
  // whole.
  constexpr std::uint64_t largest_stride = 8;
  const std::uint64_t rounding =
      map->mode == TensorMode::im2col ? 1 : largest_stride << (map->rank - 1);
  require(box.tx_bytes() <= most_box_bytes * (map->sliced() ? 32 : 1) * rounding,
          "a box is no larger");
  TensorMaps maps;
  require(maps.read(64, opaque.bytes.data()).value() != nullptr &&
              **maps.read(64, opaque.bytes.data()) == *map,
          "a map reads the same twice");
  for (int i = 0; i < 4; ++i) copy(*map, any_place(choices), choices, global);
  return 0;
}
