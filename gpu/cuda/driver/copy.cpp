// Driver API: copies and fills.
#include "gpu/cuda/driver/copy.hpp"

#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda::driver {
namespace {

// One side of CUDA_MEMCPY2D, with its fields in order.
struct Side2D {
  std::size_t x, y;
  MemoryType type;
  const void* host;
  DevicePointer device;
  Handle array;
  std::size_t pitch;
};
struct Copy2D {
  Side2D from, to;
  std::size_t width, height;
};

template <class Side>
Result<char*> base_of(const Side& side) {
  switch (side.type) {
    case MemoryType::host:
      return static_cast<char*>(const_cast<void*>(side.host));
    case MemoryType::device:
    case MemoryType::unified:
      return static_cast<char*>(pointer(side.device));
    case MemoryType::array:
      break;
  }
  return fail(Status::invalid_value);
}

// The direction that the sides' types say. A side of device memory is checked, also where the other
// can be any memory.
Direction direction_between(MemoryType from, MemoryType to) {
  const auto on_device = [](MemoryType type) {
    return type == MemoryType::device || type == MemoryType::array;
  };
  if (on_device(to))
    return on_device(from) ? Direction::device_to_device : Direction::host_to_device;
  return on_device(from) ? Direction::device_to_host : Direction::by_address;
}

std::size_t or_width(std::size_t pitch, std::size_t width) { return pitch ? pitch : width; }

// Fields that a two-dimensional copy's side lacks are 0.
std::size_t slice(const Side2D&) { return 0; }
std::size_t slice(const Side3D& side) { return side.z; }
std::size_t rows(const Side2D&) { return 0; }
std::size_t rows(const Side3D& side) { return side.height; }

// For a copy from or to an array: one side of it.
template <class Side>
Result<CopySide> side_of(const Side& side, std::size_t width, std::size_t height) {
  if (side.type == MemoryType::array)
    return CopySide{.array = side.array, .x = side.x, .y = side.y, .z = slice(side)};
  const auto base = base_of(side);
  if (!base) return tl::unexpected(base.error());
  const std::size_t pitch = or_width(side.pitch, width);
  return CopySide{.pointer = {*base, pitch, pitch, or_width(rows(side), height)},
                  .x = side.x,
                  .y = side.y,
                  .z = slice(side)};
}

template <class Box>
Result<Copy> array_box(const Box& box, std::size_t depth) {
  const auto from = side_of(box.from, box.width, box.height);
  const auto to = side_of(box.to, box.width, box.height);
  if (!from || !to) return tl::unexpected(from ? to.error() : from.error());
  return array_copy(*to, *from, box.width, box.height, depth,
                    direction_between(box.from.type, box.to.type));
}

template <class Box>
bool has_array(const Box& box) {
  return box.from.type == MemoryType::array || box.to.type == MemoryType::array;
}

using driver::box_of;  // of three dimensions
Result<Copy> box_of(const Copy2D& box) {
  if (has_array(box)) return array_box(box, 1);
  auto from = base_of(box.from);
  auto to = base_of(box.to);
  if (!from || !to) return tl::unexpected(from ? to.error() : from.error());
  Copy copy;
  copy.from_pitch = or_width(box.from.pitch, box.width);
  copy.to_pitch = or_width(box.to.pitch, box.width);
  copy.from = place_in({*from, copy.from_pitch, 0, 0}, {box.from.x, box.from.y, 0});
  copy.to = place_in({*to, copy.to_pitch, 0, 0}, {box.to.x, box.to.y, 0});
  copy.width = box.width;
  copy.height = box.height;
  copy.from_rows = copy.to_rows = box.height;
  copy.direction = direction_between(box.from.type, box.to.type);
  return copy;
}

template <class Box>
Status copy_box(const Box* box, Handle stream, bool per_thread, bool asynchronous,
                bool between_peers = false) {
  if (!box) return Status::invalid_value;
  auto request = box_of(*box);
  if (!request) return report(request);
  if (request->empty()) return Status::success;
  if (request->from_pitch < request->width || request->to_pitch < request->width) {
    return Status::invalid_value;
  }
  request->between_peers = between_peers;
  return with_stream(stream, per_thread,
                     [&](Stream& s) { return copy(s, *request, asynchronous); });
}

// Each side has its own context. Null means the current one.
Status copy_peer(const Copy3D* box, Handle stream, bool per_thread, bool asynchronous) {
  if (!box) return Status::invalid_value;
  if (!context_of(box->from.context) || !context_of(box->to.context)) {
    return Status::invalid_context;
  }
  return copy_box(box, stream, per_thread, asynchronous, true);
}

Status copy_line(void* to, const void* from, std::size_t bytes, Direction direction, Handle stream,
                 bool per_thread, bool asynchronous) {
  return with_stream(stream, per_thread, [&](Stream& s) {
    return copy(s, linear(to, from, bytes, direction), asynchronous);
  });
}

Status copy_peers(DevicePointer to, Handle to_context, DevicePointer from, Handle from_context,
                  std::size_t bytes, Handle stream, bool per_thread, bool asynchronous) {
  if (!context_of(to_context) || !context_of(from_context)) return Status::invalid_context;
  Copy request = linear(pointer(to), pointer(from), bytes, Direction::device_to_device);
  request.between_peers = true;
  return with_stream(stream, per_thread, [&](Stream& s) { return copy(s, request, asynchronous); });
}

struct Element {
  std::uint32_t value;
  unsigned bytes;
};
struct Rows {
  std::size_t pitch, width, height;  // width in elements
};

Status fill_rows(DevicePointer to, Element element, Rows rows, Handle stream, bool per_thread,
                 bool asynchronous) {
  if (to % element.bytes || rows.pitch % element.bytes) return Status::invalid_value;
  Fill request{
      .to = pointer(to),
      .value = element.value,
      .element = element.bytes,
      .width = rows.width,
      .height = rows.height,
      .depth = 1,
      .pitch = rows.height > 1 ? rows.pitch : (Checked(rows.width) * element.bytes).saturated(),
      .rows = rows.height};
  return with_stream(stream, per_thread, [&](Stream& s) { return fill(s, request, asynchronous); });
}

}  // namespace

Result<Copy> box_of(const Copy3D& box) {
  if (has_array(box)) return array_box(box, box.depth);
  auto from = base_of(box.from);
  auto to = base_of(box.to);
  if (!from || !to) return tl::unexpected(from ? to.error() : from.error());
  Copy copy;
  copy.from_pitch = or_width(box.from.pitch, box.width);
  copy.to_pitch = or_width(box.to.pitch, box.width);
  copy.from_rows = or_width(box.from.height, box.height);
  copy.to_rows = or_width(box.to.height, box.height);
  copy.from =
      place_in({*from, copy.from_pitch, 0, copy.from_rows}, {box.from.x, box.from.y, box.from.z});
  copy.to = place_in({*to, copy.to_pitch, 0, copy.to_rows}, {box.to.x, box.to.y, box.to.z});
  copy.width = box.width;
  copy.height = box.height;
  copy.depth = box.depth;
  copy.direction = direction_between(box.from.type, box.to.type);
  return copy;
}

#define INFLIGHT_COPY(now, now_thread, later, later_thread, to_type, from_type, to_ptr, from_ptr, \
                      direction)                                                                  \
  INFLIGHT_CU_TWO(now, now_thread, (to_type to, from_type from, std::size_t bytes), {             \
    return copy_line(to_ptr(to), from_ptr(from), bytes, Direction::direction, nullptr, second,    \
                     false);                                                                      \
  })                                                                                              \
  INFLIGHT_CU_TWO_AT(of_stream(stream), later, later_thread,                                      \
                     (to_type to, from_type from, std::size_t bytes, Handle stream), {            \
                       return copy_line(to_ptr(to), from_ptr(from), bytes, Direction::direction,  \
                                        stream, second, true);                                    \
                     })

INFLIGHT_COPY(cuMemcpy, cuMemcpy_ptds, cuMemcpyAsync, cuMemcpyAsync_ptsz, DevicePointer,
              DevicePointer, pointer, pointer, by_address)
INFLIGHT_COPY(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, cuMemcpyHtoDAsync_v2,
              cuMemcpyHtoDAsync_v2_ptsz, DevicePointer, const void*, pointer, , host_to_device)
INFLIGHT_COPY(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, cuMemcpyDtoHAsync_v2,
              cuMemcpyDtoHAsync_v2_ptsz, void*, DevicePointer, , pointer, device_to_host)
INFLIGHT_COPY(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, cuMemcpyDtoDAsync_v2,
              cuMemcpyDtoDAsync_v2_ptsz, DevicePointer, DevicePointer, pointer, pointer,
              device_to_device)

INFLIGHT_CU_TWO(cuMemcpyPeer, cuMemcpyPeer_ptds,
                (DevicePointer to, Handle to_context, DevicePointer from, Handle from_context,
                 std::size_t bytes),
                {
                  return copy_peers(to, to_context, from, from_context, bytes, nullptr, second,
                                    false);
                })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz,
                   (DevicePointer to, Handle to_context, DevicePointer from, Handle from_context,
                    std::size_t bytes, Handle stream),
                   {
                     return copy_peers(to, to_context, from, from_context, bytes, stream, second,
                                       true);
                   })
INFLIGHT_CU_TWO(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds, (const Copy2D* box),
                { return copy_box(box, nullptr, second, false); })
INFLIGHT_CU_TWO(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds, (const Copy2D* box),
                { return copy_box(box, nullptr, second, false); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz,
                   (const Copy2D* box, Handle stream),
                   { return copy_box(box, stream, second, true); })
INFLIGHT_CU_TWO(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds, (const Copy3D* box),
                { return copy_box(box, nullptr, second, false); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz,
                   (const Copy3D* box, Handle stream),
                   { return copy_box(box, stream, second, true); })
INFLIGHT_CU_TWO(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds, (const Copy3D* box),
                { return copy_peer(box, nullptr, second, false); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz,
                   (const Copy3D* box, Handle stream),
                   { return copy_peer(box, stream, second, true); })

#define INFLIGHT_FILL(bits, value_type)                                                          \
  INFLIGHT_CU_TWO(                                                                               \
      cuMemsetD##bits##_v2, cuMemsetD##bits##_v2_ptds,                                           \
      (DevicePointer to, value_type value, std::size_t count), {                                 \
        return fill_rows(to, {value, bits / 8}, {0, count, 1}, nullptr, second, false);          \
      })                                                                                         \
  INFLIGHT_CU_TWO_AT(                                                                            \
      of_stream(stream), cuMemsetD##bits##Async, cuMemsetD##bits##Async_ptsz,                    \
      (DevicePointer to, value_type value, std::size_t count, Handle stream), {                  \
        return fill_rows(to, {value, bits / 8}, {0, count, 1}, stream, second, true);            \
      })                                                                                         \
  INFLIGHT_CU_TWO(                                                                               \
      cuMemsetD2D##bits##_v2, cuMemsetD2D##bits##_v2_ptds,                                       \
      (DevicePointer to, std::size_t pitch, value_type value, std::size_t width,                 \
       std::size_t height),                                                                      \
      {                                                                                          \
        return fill_rows(to, {value, bits / 8}, {pitch, width, height}, nullptr, second, false); \
      })                                                                                         \
  INFLIGHT_CU_TWO_AT(                                                                            \
      of_stream(stream), cuMemsetD2D##bits##Async, cuMemsetD2D##bits##Async_ptsz,                \
      (DevicePointer to, std::size_t pitch, value_type value, std::size_t width,                 \
       std::size_t height, Handle stream),                                                       \
      {                                                                                          \
        return fill_rows(to, {value, bits / 8}, {pitch, width, height}, stream, second, true);   \
      })

INFLIGHT_FILL(8, unsigned char)
INFLIGHT_FILL(16, unsigned short)
INFLIGHT_FILL(32, unsigned)

}  // namespace inflight::cuda::driver
