// Copies and fills by kernels.
#include "gpu/machine/builtins/device_call.hpp"
#include "gpu/machine/builtins/device_runtime.hpp"

namespace inflight::machine::device_runtime {
namespace {

Code transfer(const Caller& c, const Transfer& what, std::uint64_t stream, bool own) {
  if (!may_use(*c.grid().memory, c.grid().device, what)) return invalid_value;
  Child child;
  child.launch.id = c.runtime().next_number();
  child.launch.origin.parent = c.grid().id;
  child.transfer = what;
  return queue(c, std::move(child), stream, own);
}

bool on_device(std::int32_t kind) {  // cudaMemcpyKind
  constexpr std::int32_t device_to_device = 3, by_addresses = 4;
  return kind == device_to_device || kind == by_addresses;
}

// (void* to, const void* from, size_t bytes, cudaMemcpyKind, stream)
template <bool own>
Code copy(const Caller& c) {
  Transfer t;
  t.destination = c.argument<std::uint64_t>(0), t.source = c.argument<std::uint64_t>(1);
  t.bytes = c.argument<std::uint64_t>(2);
  if (!on_device(c.argument<std::int32_t>(3))) return invalid_direction;
  return transfer(c, t, c.argument<std::uint64_t>(4), own);
}

// (void* to, size_t pitch, const void* from, size_t pitch, size_t width, size_t height, kind,
// stream)
template <bool own>
Code copy_rows(const Caller& c) {
  Transfer t;
  t.destination = c.argument<std::uint64_t>(0), t.source = c.argument<std::uint64_t>(2);
  t.destination_pitch = c.argument<std::uint64_t>(1), t.source_pitch = c.argument<std::uint64_t>(3);
  t.bytes = c.argument<std::uint64_t>(4), t.rows = c.argument<std::uint64_t>(5);
  if (t.bytes > t.destination_pitch || t.bytes > t.source_pitch) return invalid_pitch;
  if (!on_device(c.argument<std::int32_t>(6))) return invalid_direction;
  return transfer(c, t, c.argument<std::uint64_t>(7), own);
}

// (void* to, int value, size_t bytes, stream)
template <bool own>
Code fill(const Caller& c) {
  Transfer t;
  t.destination = c.argument<std::uint64_t>(0);
  t.fills = true, t.value = static_cast<std::uint8_t>(c.argument<std::int32_t>(1));
  t.bytes = c.argument<std::uint64_t>(2);
  return transfer(c, t, c.argument<std::uint64_t>(3), own);
}

// (void* to, size_t pitch, int value, size_t width, size_t height, stream)
template <bool own>
Code fill_rows(const Caller& c) {
  Transfer t;
  t.destination = c.argument<std::uint64_t>(0), t.destination_pitch = c.argument<std::uint64_t>(1);
  t.fills = true, t.value = static_cast<std::uint8_t>(c.argument<std::int32_t>(2));
  t.bytes = c.argument<std::uint64_t>(3), t.rows = c.argument<std::uint64_t>(4);
  if (t.bytes > t.destination_pitch) return invalid_value;
  return transfer(c, t, c.argument<std::uint64_t>(5), own);
}

// cudaPitchedPtr, cudaExtent, cudaPos and cudaMemcpy3DParms.
struct Pitched {
  std::uint64_t address, pitch, width, height;
};
struct Box {
  std::uint64_t width, height, depth;
};
struct Position {
  std::uint64_t x, y, z;
};
struct Copy3D {
  std::uint64_t source_array;
  Position source_position;
  Pitched source;
  std::uint64_t destination_array;
  Position destination_position;
  Pitched destination;
  Box extent;
  std::int32_t kind;
};

// Null, where no memory is, if the address would be above 2^64-1.
std::uint64_t place(const Pitched& in, const Position& at) {
  return (in.address + (Checked(at.z) * in.height + at.y) * in.pitch + at.x).value_or(0);
}

// The bytes between slices. No memory has room for a second slice if they would be above 2^64-1.
std::uint64_t slice_of(const Pitched& box) {
  return (Checked(box.pitch) * box.height).value_or(~std::uint64_t{0});
}

// (const cudaMemcpy3DParms*, stream): only linear memory.
template <bool own>
Code copy_box(const Caller& c) {
  Copy3D box;
  if (!read_generic(c.warp(), c.lane, c.argument<std::uint64_t>(0), &box, sizeof box))
    return invalid_value;
  if (box.source_array || box.destination_array) return invalid_value;
  if (!on_device(box.kind)) return invalid_direction;
  Transfer t;
  t.destination = place(box.destination, box.destination_position);
  t.source = place(box.source, box.source_position);
  t.destination_pitch = box.destination.pitch, t.source_pitch = box.source.pitch;
  t.destination_slice = slice_of(box.destination), t.source_slice = slice_of(box.source);
  t.bytes = box.extent.width, t.rows = box.extent.height, t.slices = box.extent.depth;
  // The error that an H200 returns.
  if (t.bytes > t.destination_pitch || t.bytes > t.source_pitch ||
      t.rows > box.destination.height || t.rows > box.source.height)
    return invalid_pitch;
  return transfer(c, t, c.argument<std::uint64_t>(1), own);
}

// (cudaPitchedPtr to, int value, cudaExtent, stream)
template <bool own>
Code fill_box(const Caller& c) {
  const auto to = c.argument<Pitched>(0);
  const auto extent = c.argument<Box>(2);
  Transfer t;
  t.destination = to.address, t.destination_pitch = to.pitch;
  t.destination_slice = slice_of(to);
  t.fills = true, t.value = static_cast<std::uint8_t>(c.argument<std::int32_t>(1));
  t.bytes = extent.width, t.rows = extent.height, t.slices = extent.depth;
  if (t.bytes > t.destination_pitch) return invalid_value;
  return transfer(c, t, c.argument<std::uint64_t>(3), own);
}

// In "_ptsz" functions, the null stream is the thread's own.
constexpr std::uint8_t pitched = sizeof(Pitched), box = sizeof(Box);
constexpr Builtin transfer_functions[] = {
    {"MemcpyAsync", {8, 8, 8, 4, 8}, 4, run_call_of<copy<false>>},
    {"MemcpyAsync_ptsz", {8, 8, 8, 4, 8}, 4, run_call_of<copy<true>>},
    {"Memcpy2DAsync", {8, 8, 8, 8, 8, 8, 4, 8}, 4, run_call_of<copy_rows<false>>},
    {"Memcpy2DAsync_ptsz", {8, 8, 8, 8, 8, 8, 4, 8}, 4, run_call_of<copy_rows<true>>},
    {"MemsetAsync", {8, 4, 8, 8}, 4, run_call_of<fill<false>>},
    {"MemsetAsync_ptsz", {8, 4, 8, 8}, 4, run_call_of<fill<true>>},
    {"Memset2DAsync", {8, 8, 4, 8, 8, 8}, 4, run_call_of<fill_rows<false>>},
    {"Memset2DAsync_ptsz", {8, 8, 4, 8, 8, 8}, 4, run_call_of<fill_rows<true>>},
    {"Memcpy3DAsync", {8, 8}, 4, run_call_of<copy_box<false>>},
    {"Memcpy3DAsync_ptsz", {8, 8}, 4, run_call_of<copy_box<true>>},
    {"Memset3DAsync", {pitched, 4, box, 8}, 4, run_call_of<fill_box<false>>},
    {"Memset3DAsync_ptsz", {pitched, 4, box, 8}, 4, run_call_of<fill_box<true>>},
};

}  // namespace

std::span<const Builtin> transfers() { return transfer_functions; }

}  // namespace inflight::machine::device_runtime
