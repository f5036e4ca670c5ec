// Allocates memory with guards, and checks them after each launch.
#include "tests/fuzz/guarded_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpu/ptx/parse.hpp"
#include "gpu/trace/stats.hpp"
#include "tests/fuzz/reporting.hpp"
#include "tests/fuzz/tensor_maps.hpp"

namespace inflight::fuzz {
namespace {

using machine::AllocationKind;
using machine::FaultKind;

constexpr std::uint64_t capacity = 16 << 20;
constexpr std::size_t host_guard = 4096;
constexpr std::uint32_t map_count = 64, good_maps = 48;
constexpr std::uint8_t guard_byte = 0x5a;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

GuardedDevice::GuardedDevice() : memory(2, capacity) {
  small = allocate(1000 + 13);
  large = allocate((1 << 16) + 40);
  maps = allocate(map_count * async::tensor_map_bytes);
  foreign = allocate(4096, 1);
  freed = allocate(4096);
  memory.release(freed.base);
  // Host memory whose end has no alignment.
  host_.assign(2 * host_guard + 2048, guard_byte);
  host.base = round_up(reinterpret_cast<std::uint64_t>(host_.data()) + host_guard, 32);
  host.size = 1003;
  std::memset(reinterpret_cast<void*>(host.base), 0, host.size);
  memory.adopt(0, reinterpret_cast<void*>(host.base), host.size, AllocationKind::host);
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(host.base);
  guards_.push_back({host_.data(), static_cast<std::size_t>(begin - host_.data())});
  guards_.push_back({begin + host.size,
                     static_cast<std::size_t>(host_.data() + host_.size() - begin - host.size)});
}

// Leaves up to 16 bytes after the piece, which a tensor store may fill, before the guard.
GuardedDevice::Piece GuardedDevice::allocate(std::uint64_t size, int device) {
  const std::uint64_t base = memory.allocate(device, size, AllocationKind::device).value();
  const std::uint64_t from = round_up(base + size, 16), to = round_up(base + size, 256) + 256;
  auto* const guard = reinterpret_cast<std::uint8_t*>(from);
  std::memset(guard, guard_byte, to - from);
  guards_.push_back({guard, to - from});
  return {base, size};
}

void GuardedDevice::check_guards() const {
  for (const Guard& g : guards_)
    for (std::size_t i = 0; i < g.size; ++i)
      if (g.begin[i] != guard_byte)
        fail(fmt::format("a kernel wrote outside of every allocation, at 0x{:x}",
                         reinterpret_cast<std::uint64_t>(g.begin + i)));
}

bool GuardedDevice::holds_guard_bytes() const {
  constexpr int several = 4;
  const auto holds = [](const Piece& p) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(p.base);
    return std::search_n(from, from + p.size, several, guard_byte) != from + p.size;
  };
  return holds(small) || holds(large) || holds(maps) || holds(host);
}

std::unique_ptr<machine::Program> GuardedDevice::link(const std::string& text) {
  auto module = ptx::parse(std::make_shared<const std::string>(text), "fuzz");
  if (!module) {
    require(!module.error().message.empty(), "a refusal of the parser has a sentence");
    return nullptr;
  }
  auto program =
      machine::Program::link({std::make_shared<const ptx::Module>(std::move(*module))}, memory, 0);
  if (!program) {
    require(!program.error().message.empty(), "a refusal of the linker has a sentence");
    return nullptr;
  }
  return std::move(*program);
}

machine::Outcome GuardedDevice::run(machine::Launch& launch, const machine::Options& options) {
  static std::uint64_t launches = 0;
  launch.id = ++launches;
  const std::vector<std::byte> parameters = launch.parameters;
  std::size_t printed = 0;
  const machine::Outcome outcome =
      machine::run(launch, {}, options, [&](std::string_view text) { printed += text.size(); });
  require(outcome.ok() || !outcome.report.empty(), "a fault has a report");
  require(outcome.report.size() < 1 << 20, "a report can be read");
  require(parameters == launch.parameters, "a kernel's parameters stay as they are");
  check_guards();
  return outcome;
}

void GuardedDevice::write_maps(Choices& choices) {
  const Piece on[] = {small, large, host};
  for (std::uint32_t i = 0; i < map_count; ++i) {
    const std::uint32_t kind = i % map_kinds;
    const bool tile = kind < tile_maps;
    const Piece piece = on[i % std::size(on)];
    const auto map = any_tensor_map(
        choices, tile ? async::TensorMode::tile : async::TensorMode::im2col,
        tile ? kind + 1 : kind - tile_maps + 3, piece.base, piece.size, i < good_maps ? 0 : 12);
    const auto opaque = async::pack(map);
    std::memcpy(reinterpret_cast<void*>(maps.base + i * sizeof opaque), &opaque, sizeof opaque);
  }
}

std::uint64_t GuardedDevice::map(std::uint32_t kind, Choices& choices) const {
  return maps.base +
         async::tensor_map_bytes * (kind + map_kinds * choices.below(map_count / map_kinds));
}

std::uint64_t GuardedDevice::hostile_address(Choices& choices) const {
  const machine::Windows& w = memory.windows();
  const std::uint64_t starts[] = {w.shared, w.local, w.param, w.code, w.code + w.code_size};
  const Piece all[] = {small, large, host, maps, freed, foreign};
  const Piece p = choices.pick(all);
  switch (choices.below(6)) {
    case 0:
      return p.base - choices.below(300);
    case 1:
    case 2:
      return p.base + p.size - choices.below(20);
    case 3:
      return p.base + p.size + choices.below(300);
    case 4:
      return choices.pick(starts) +
             (choices.one_in(2) ? choices.below(2100) : choices.pick(extremes));
    default:
      return choices.pick(extremes);
  }
}

machine::Options any_options(Choices& choices) {
  static trace::Stats stats;
  machine::Options options;
  options.timing = {static_cast<async::Timing::Policy>(choices.below(3)), choices.bits()};
  options.timeout = std::chrono::milliseconds(50);
  options.workers = 1;
  options.heap_bytes = 1 << 16;
  if (choices.one_in(4)) options.listener = &stats;
  return options;
}

machine::Launch any_launch(Choices& choices, const machine::Kernel& kernel) {
  static constexpr machine::Dim3 blocks[] = {{32, 1, 1}, {32, 1, 1}, {1, 1, 1},
                                             {33, 1, 1}, {64, 1, 1}, {8, 4, 2}};
  machine::Launch launch;
  launch.kernel = &kernel;
  launch.block = choices.pick(blocks);
  if (choices.one_in(3)) launch.cluster.x = 2;
  launch.grid.x = launch.cluster.x * (1 + choices.below(2));
  if (choices.one_in(4)) launch.dynamic_shared = 1 + choices.below(60000);
  launch.shared_optin = machine::Limits{}.shared_per_block_optin;
  launch.cooperative = choices.one_in(16);
  if (choices.one_in(32)) {
    std::uint32_t* const all[] = {&launch.grid.y,    &launch.grid.z,        &launch.block.y,
                                  &launch.block.z,   &launch.block.x,       &launch.cluster.x,
                                  &launch.cluster.z, &launch.dynamic_shared};
    *choices.pick(all) = static_cast<std::uint32_t>(choices.pick(extremes));
    // A valid shape may still take endless time, and a timeout would end the run.
    if (launch.grid.count() > 64) launch.grid = launch.cluster;
  }
  return launch;
}

}  // namespace inflight::fuzz
