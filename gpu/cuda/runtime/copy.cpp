// Copies and fills. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/calls/copy.hpp"

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/batch.hpp"
#include "gpu/cuda/core/texture/array.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

Copy rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
          std::size_t width, std::size_t height, int kind) {
  return {.to = to,
          .from = from,
          .width = width,
          .height = height,
          .depth = 1,
          .to_pitch = to_pitch,
          .to_rows = height,
          .from_pitch = from_pitch,
          .from_rows = height,
          .direction = direction_of(kind)};
}

// The pitches of a 2-D copy are checked even if it has one row.
Status copy_rows(Stream& stream, const Copy& request, bool asynchronous) {
  if (request.to_pitch < request.width || request.from_pitch < request.width)
    return Status::invalid_pitch;
  return copy(stream, request, asynchronous);
}

Status fill_box(Stream& stream, const abi::PitchedPointer& box, int value,
                const abi::Extent& extent, bool asynchronous) {
  return fill(stream,
              {.to = box.pointer,
               .value = std::uint32_t(value),
               .element = 1,
               .width = extent.width,
               .height = extent.height,
               .depth = extent.depth,
               .pitch = box.pitch,
               .rows = box.height},
              asynchronous);
}

Status to_symbol(Stream& stream, const void* symbol, const void* from, std::size_t bytes,
                 std::size_t offset, int kind, bool asynchronous) {
  if (kind != 1 && kind != 3 && kind != 4) return Status::invalid_direction;
  auto to = symbol_range(symbol, stream.device().ordinal, bytes, offset);
  if (!to) return report(to);
  return copy(stream, linear(*to, from, bytes, direction_of(kind)), asynchronous);
}

Status from_symbol(Stream& stream, void* to, const void* symbol, std::size_t bytes,
                   std::size_t offset, int kind, bool asynchronous) {
  if (kind != 2 && kind != 3 && kind != 4) return Status::invalid_direction;
  auto from = symbol_range(symbol, stream.device().ordinal, bytes, offset);
  if (!from) return report(from);
  return copy(stream, linear(to, *from, bytes, direction_of(kind)), asynchronous);
}

Status copy_box(Stream& stream, const abi::Copy3D* box, bool asynchronous,
                bool between_peers = false) {
  auto request = copy_of(box);
  if (!request) return request.error().status;
  request->between_peers = between_peers;
  return copy_rows(stream, *request, asynchronous);
}

Status copy_box(Stream& stream, const abi::Copy3DPeer* box, bool asynchronous) {
  if (!box) return Status::invalid_value;
  if (!device_exists(box->from_device) || !device_exists(box->to_device))
    return Status::invalid_device;
  const abi::Copy3D plain{
      box->from_array, box->from_position, box->from, box->to_array, box->to_position,
      box->to,         box->extent,        4};
  return copy_box(stream, &plain, asynchronous, true);
}

#ifndef INFLIGHT_PER_THREAD
Status copy_peers(Stream& stream, void* to, int to_device, const void* from, int from_device,
                  std::size_t bytes, bool asynchronous) {
  if (!device_exists(to_device) || !device_exists(from_device)) return Status::invalid_device;
  Copy request = linear(to, from, bytes, Direction::device_to_device);
  request.between_peers = true;
  return copy(stream, request, asynchronous);
}
#endif

}  // namespace

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy)(void* to, const void* from, std::size_t bytes,
                                                int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy(s, linear(to, from, bytes, direction_of(kind)), false);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpyAsync)(void* to, const void* from, std::size_t bytes,
                                                    int kind, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy(s, linear(to, from, bytes, direction_of(kind)), true);
  });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy2D)(void* to, std::size_t to_pitch, const void* from,
                                                  std::size_t from_pitch, std::size_t width,
                                                  std::size_t height, int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_rows(s, rows(to, to_pitch, from, from_pitch, width, height, kind), false);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpy2DAsync)(void* to, std::size_t to_pitch,
                                                      const void* from, std::size_t from_pitch,
                                                      std::size_t width, std::size_t height,
                                                      int kind, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_rows(s, rows(to, to_pitch, from, from_pitch, width, height, kind), true);
  });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy3D)(const abi::Copy3D* box) {
  return on_stream(nullptr, [&](Stream& s) { return copy_box(s, box, false); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpy3DAsync)(const abi::Copy3D* box, void* stream) {
  return on_stream(stream, [&](Stream& s) { return copy_box(s, box, true); });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy3DPeer)(const abi::Copy3DPeer* box) {
  return on_stream(nullptr, [&](Stream& s) { return copy_box(s, box, false); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpy3DPeerAsync)(const abi::Copy3DPeer* box,
                                                          void* stream) {
  return on_stream(stream, [&](Stream& s) { return copy_box(s, box, true); });
}

#ifndef INFLIGHT_PER_THREAD
INFLIGHT_API int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_peers(s, to, to_device, from, from_device, bytes, false);
  });
}

INFLIGHT_API int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                     std::size_t bytes, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_peers(s, to, to_device, from, from_device, bytes, true);
  });
}
#endif

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpyBatchAsync)(
    void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
    abi::CopyAttributes* attributes, std::size_t* starts, std::size_t attribute_count,
    void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_batch(s, {to, from, bytes, count, attributes, starts, attribute_count});
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpy3DBatchAsync)(std::size_t count,
                                                           abi::BatchCopy3D* list,
                                                           unsigned long long flags, void* stream) {
  return on_stream(stream, [&](Stream& s) { return copy_batch(s, list, count, flags); });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpyToSymbol)(const void* symbol, const void* from,
                                                        std::size_t bytes, std::size_t offset,
                                                        int kind) {
  return on_stream(
      nullptr, [&](Stream& s) { return to_symbol(s, symbol, from, bytes, offset, kind, false); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpyToSymbolAsync)(const void* symbol, const void* from,
                                                            std::size_t bytes, std::size_t offset,
                                                            int kind, void* stream) {
  return on_stream(
      stream, [&](Stream& s) { return to_symbol(s, symbol, from, bytes, offset, kind, true); });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpyFromSymbol)(void* to, const void* symbol,
                                                          std::size_t bytes, std::size_t offset,
                                                          int kind) {
  return on_stream(
      nullptr, [&](Stream& s) { return from_symbol(s, to, symbol, bytes, offset, kind, false); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpyFromSymbolAsync)(void* to, const void* symbol,
                                                              std::size_t bytes, std::size_t offset,
                                                              int kind, void* stream) {
  return on_stream(
      stream, [&](Stream& s) { return from_symbol(s, to, symbol, bytes, offset, kind, true); });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemset)(void* to, int value, std::size_t bytes) {
  return on_stream(nullptr, [&](Stream& s) {
    return fill_box(s, {to, bytes, bytes, 1}, value, {bytes, 1, 1}, false);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemsetAsync)(void* to, int value, std::size_t bytes,
                                                    void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return fill_box(s, {to, bytes, bytes, 1}, value, {bytes, 1, 1}, true);
  });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemset2D)(void* to, std::size_t pitch, int value,
                                                  std::size_t width, std::size_t height) {
  return on_stream(nullptr, [&](Stream& s) {
    return fill_box(s, {to, pitch, width, height}, value, {width, height, 1}, false);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemset2DAsync)(void* to, std::size_t pitch, int value,
                                                      std::size_t width, std::size_t height,
                                                      void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return fill_box(s, {to, pitch, width, height}, value, {width, height, 1}, true);
  });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemset3D)(abi::PitchedPointer box, int value,
                                                  abi::Extent extent) {
  return on_stream(nullptr, [&](Stream& s) { return fill_box(s, box, value, extent, false); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMemset3DAsync)(abi::PitchedPointer box, int value,
                                                      abi::Extent extent, void* stream) {
  return on_stream(stream, [&](Stream& s) { return fill_box(s, box, value, extent, true); });
}

#ifndef INFLIGHT_PER_THREAD
INFLIGHT_API int cudaGetSymbolAddress(void** place, const void* symbol) {
  return entry([&] {
    if (!place) return Status::invalid_value;
    auto found = symbol_of(symbol, current_device().ordinal);
    if (!found) return report(found);
    *place = pointer_to(found->address);
    return Status::success;
  });
}

INFLIGHT_API int cudaGetSymbolSize(std::size_t* place, const void* symbol) {
  return entry([&] {
    if (!place) return Status::invalid_value;
    auto found = symbol_of(symbol, current_device().ordinal);
    if (!found) return report(found);
    *place = found->size;
    return Status::success;
  });
}
#endif
