// Copies to and from CUDA arrays. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/calls/arrays.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/texture/array.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

constexpr char no_array{};  // stands for null: not a handle of an array

CopySide in_array(const void* array, std::size_t x, std::size_t y) {
  return {.array = array ? array : &no_array, .x = x, .y = y};
}
CopySide in_memory(const void* pointer, std::size_t pitch, std::size_t rows) {
  return {.pointer = {const_cast<void*>(pointer), pitch, pitch, rows}};
}

Status copy_rows(Stream& stream, const CopySide& to, const CopySide& from, std::size_t width,
                 std::size_t height, int kind, bool asynchronous) {
  for (const CopySide* side : {&to, &from})
    if (!side->array && side->pointer.pitch < width) return Status::invalid_pitch;
  const auto request = array_copy(to, from, width, height, 1, direction_of(kind));
  return request ? copy(stream, *request, asynchronous) : request.error().status;
}

}  // namespace

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy2DToArray)(void* to, std::size_t x, std::size_t y,
                                                         const void* from, std::size_t pitch,
                                                         std::size_t width, std::size_t height,
                                                         int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_rows(s, in_array(to, x, y), in_memory(from, pitch, height), width, height, kind,
                     false);
  });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpy2DToArrayAsync)(void* to, std::size_t x, std::size_t y,
                                                             const void* from, std::size_t pitch,
                                                             std::size_t width, std::size_t height,
                                                             int kind, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_rows(s, in_array(to, x, y), in_memory(from, pitch, height), width, height, kind,
                     true);
  });
}
INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy2DFromArray)(void* to, std::size_t pitch,
                                                           const void* from, std::size_t x,
                                                           std::size_t y, std::size_t width,
                                                           std::size_t height, int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_rows(s, in_memory(to, pitch, height), in_array(from, x, y), width, height, kind,
                     false);
  });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpy2DFromArrayAsync)(void* to, std::size_t pitch,
                                                               const void* from, std::size_t x,
                                                               std::size_t y, std::size_t width,
                                                               std::size_t height, int kind,
                                                               void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_rows(s, in_memory(to, pitch, height), in_array(from, x, y), width, height, kind,
                     true);
  });
}
INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpy2DArrayToArray)(void* to, std::size_t to_x,
                                                              std::size_t to_y, const void* from,
                                                              std::size_t from_x,
                                                              std::size_t from_y, std::size_t width,
                                                              std::size_t height, int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_rows(s, in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height,
                     kind, false);
  });
}

INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpyToArray)(void* to, std::size_t x, std::size_t y,
                                                       const void* from, std::size_t bytes,
                                                       int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_run(s, in_array(to, x, y), in_memory(from, bytes, 1), bytes, direction_of(kind),
                    false);
  });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpyToArrayAsync)(void* to, std::size_t x, std::size_t y,
                                                           const void* from, std::size_t bytes,
                                                           int kind, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_run(s, in_array(to, x, y), in_memory(from, bytes, 1), bytes, direction_of(kind),
                    true);
  });
}
INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpyFromArray)(void* to, const void* from, std::size_t x,
                                                         std::size_t y, std::size_t bytes,
                                                         int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_run(s, in_memory(to, bytes, 1), in_array(from, x, y), bytes, direction_of(kind),
                    false);
  });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaMemcpyFromArrayAsync)(void* to, const void* from,
                                                             std::size_t x, std::size_t y,
                                                             std::size_t bytes, int kind,
                                                             void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_run(s, in_memory(to, bytes, 1), in_array(from, x, y), bytes, direction_of(kind),
                    true);
  });
}
INFLIGHT_API int INFLIGHT_DEFAULTED(cudaMemcpyArrayToArray)(void* to, std::size_t to_x,
                                                            std::size_t to_y, const void* from,
                                                            std::size_t from_x, std::size_t from_y,
                                                            std::size_t bytes, int kind) {
  return on_stream(nullptr, [&](Stream& s) {
    return copy_run(s, in_array(to, to_x, to_y), in_array(from, from_x, from_y), bytes,
                    direction_of(kind), false);
  });
}
