// Allocates memory with guards, and checks them after each launch.
#include "tests/fuzz/guarded_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

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
constexpr std::uint32_t map_count = 64, good_maps = 48;
constexpr std::uint8_t guard_byte = 0x5a;

// Kinds of three dimensions, of which two can reach far.
constexpr std::uint32_t tile_far = 2, im2col_far = GuardedDevice::tile_maps;
constexpr std::uint64_t far_stride = 1ull << 34, far_pixels = 1ull << 24;

// Rows of 16 bytes that lie anywhere, so that some end at the end of all addresses.
void reach_far(async::TensorMap& map, std::uint64_t base) {
  map.interleave = async::Interleave::none;
  map.swizzle = async::Swizzle::none;
  map.type = async::TensorType::u8;
  map.stride[0] = 1;
  map.element_stride = {1, 1, 1, 1, 1};
  map.box = {16, 1, 1, 1, 1};
  map.channels = 16, map.pixels = 2;
  map.lower_corner = {}, map.upper_corner = {};
  if (map.mode == async::TensorMode::tile) {
    map.global_address = base / 16 * 16;
    map.dim = {16, 1ull << 32, 1ull << 32, 1, 1};
    map.stride[1] = far_stride, map.stride[2] = 16;
    return;
  }
  // The last pixel of the first image is there, and the first of the second at `base`.
  const std::uint64_t image = ((base / 16 * 16 + 16) & (16 * far_pixels - 1)) + 16 * far_pixels;
  map.global_address = base / 16 * 16 - image;
  map.dim = {16, far_pixels + 1, 2, 1, 1};
  map.stride[1] = (std::uint64_t{0} - 16 - map.global_address) / far_pixels;
  map.stride[2] = image;
}

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
  host_ = map(host_pages * page, PROT_READ | PROT_WRITE);
  std::memset(host_, guard_byte, host_pages * page);
  host = adopt(host_ + page, 1003, host_ + hole * page);
  beyond = adopt(host_ + (hole + 2) * page, 2048, host_ + host_pages * page);
  guards_.push_back({host_, page});
  guards_.push_back({host_ + (hole + 1) * page, page});
  mprotect(host_ + hole * page, page, PROT_NONE);
  bind_multicast();
}

GuardedDevice::~GuardedDevice() {
  munmap(host_, host_pages * page);
  munmap(reserved_, multicast.size);
}

std::uint8_t* GuardedDevice::map(std::size_t bytes, int protection) {
  void* const made = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(made != MAP_FAILED, "the host has memory");
  return static_cast<std::uint8_t*>(made);
}

// Registers memory of the host. What follows it up to `end` is a guard.
GuardedDevice::Piece GuardedDevice::adopt(std::uint8_t* at, std::size_t bytes, std::uint8_t* end) {
  std::memset(at, 0, bytes);
  memory.adopt(0, at, bytes, AllocationKind::host);
  guards_.push_back({at + bytes, static_cast<std::size_t>(end - at) - bytes});
  return {reinterpret_cast<std::uint64_t>(at), bytes};
}

void GuardedDevice::bind_multicast() {
  constexpr std::uint64_t bytes = 1 << 16;
  const auto object = std::make_shared<machine::MulticastObject>(2, 2 * bytes);
  require(object->add(0) && object->add(1), "an object has devices");
  for (const int device : {0, 1})
    require(
        object->bind(device, 0, bytes, reinterpret_cast<std::byte*>(allocate(bytes, device).base)),
        "memory can be bound");
  reserved_ = map(2 * bytes, PROT_NONE);
  multicast = {reinterpret_cast<std::uint64_t>(reserved_), 2 * bytes};
  memory.multicasts().map(multicast.base, multicast.size, object);
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
  return holds(small) || holds(large) || holds(maps) || holds(host) || holds(beyond);
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
  launch.textures = table_;
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
    auto map = any_tensor_map(choices, tile ? async::TensorMode::tile : async::TensorMode::im2col,
                              tile ? kind + 1 : kind - tile_maps + 3, piece.base, piece.size,
                              i < good_maps ? 0 : 12);
    if (kind == tile_far || kind == im2col_far) {
      if (i / map_kinds < far_maps) reach_far(map, i < map_kinds ? multicast.base : host.base);
    } else if (choices.one_in(8)) {
      map.global_address = multicast.base;
    }
    const auto opaque = async::pack(map);
    std::memcpy(reinterpret_cast<void*>(maps.base + i * sizeof opaque), &opaque, sizeof opaque);
  }
}

GuardedDevice::Far GuardedDevice::far(std::uint32_t kind, Choices& choices) const {
  const std::uint32_t i = choices.below(far_maps);
  const std::uint64_t map = maps.base + async::tensor_map_bytes * (kind + map_kinds * i);
  if (kind == im2col_far) return {map, {0, far_pixels, 0}};
  const std::uint64_t way = std::uint64_t{0} - 16 * (1 + choices.below(2)) -
                            (i == 0 ? multicast.base : host.base) / 16 * 16;
  return {map,
          {0, static_cast<std::uint32_t>(way / far_stride),
           static_cast<std::uint32_t>(way % far_stride / 16)}};
}

void GuardedDevice::make_textures(Choices& choices) {
  using namespace texture;
  const auto image = [&] {
    Image made;
    const auto all = pieces();
    const bool over_hole = choices.one_in(6);
    const Piece in = over_hole ? host : choices.pick(all),
                to = over_hole ? beyond : choices.pick(all);
    made.format = {static_cast<texture::Kind>(choices.below(3)), 32,
                   static_cast<std::uint8_t>(1u << choices.below(3))};
    made.base = round_up(in.base + (choices.one_in(4) ? choices.below(in.size) : 0), 16);
    made.linear = choices.one_in(2);
    made.geometry = made.linear ? Geometry::line : Geometry::plane;
    const std::uint64_t texel = made.format.bytes();
    // Most images lie in their piece. The others go on to the end of another, or past their own.
    std::uint64_t room = in.base + in.size - std::min(made.base, in.base + in.size);
    if (over_hole || choices.one_in(3))
      room = to.base > made.base && to.base - made.base < 1 << 20 ? to.base + to.size - made.base
                                                                  : room + choices.below(100000);
    Level level;
    level.pitch = made.linear ? room / texel * texel : 16 * (1 + choices.below(16));
    level.size[0] = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, level.pitch / texel));
    if (!made.linear)
      level.size[1] = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, room / level.pitch));
    level.slice = level.pitch * level.size[1];
    made.bytes = level.slice;
    made.levels = {level};
    return made;
  };
  for (int i = 0; i < 12; ++i) {
    Texture made;
    made.image = image();
    for (auto& address : made.sampler.address) address = static_cast<Address>(choices.below(4));
    made.sampler.normalized = choices.one_in(3);
    made.sampler.linear = made.image.format.kind == texture::Kind::floating && choices.one_in(2);
    prepare(made);
    textures_.push_back(objects_.add(std::move(made)));
    surfaces_.push_back(objects_.add(Surface{image()}));
  }
  table_ = objects_.snapshot();
}

std::uint64_t GuardedDevice::map(std::uint32_t kind, Choices& choices) const {
  return maps.base +
         async::tensor_map_bytes * (kind + map_kinds * choices.below(map_count / map_kinds));
}

std::uint64_t GuardedDevice::hostile_address(Choices& choices) const {
  const machine::Windows& w = memory.windows();
  const std::uint64_t starts[] = {w.shared, w.local, w.param, w.code, w.code + w.code_size};
  const Piece all[] = {small, large, host, maps, beyond, freed, foreign, multicast};
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
  if (choices.one_in(3)) launch.cluster.x = 2u << choices.below(choices.one_in(4) ? 3 : 1);
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
