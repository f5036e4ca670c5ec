// cublasSetVector and related calls: copies between host and device, element by element. Compiled
// twice (abi.hpp).
#include "gpu/blas/call.hpp"
#include "gpu/blas/letters.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::blas {
namespace {

using cuda::Direction;

Status of(cuda::Status status) {
  if (status == cuda::Status::success) return Status::success;
  return status == cuda::Status::invalid_value ? Status::invalid_value : Status::mapping_error;
}

// Copies `rows` rows of `bytes` bytes each.
Status move(Direction direction, Checked bytes, Size rows, const void* from, Checked from_pitch,
            void* to, Checked to_pitch, void* stream, bool asynchronous) {
  const auto found = cuda::live_stream(stream, false);
  if (!found) return Status::mapping_error;
  const cuda::Copy copy{.to = to,
                        .from = from,
                        .width = bytes.saturated(),
                        .height = std::uint64_t(rows),
                        .to_pitch = to_pitch.saturated(),
                        .from_pitch = from_pitch.saturated(),
                        .direction = direction};
  return of(cuda::copy(**found, copy, asynchronous));
}

Status move_vector(Direction direction, Size n, Size element, const void* from, Size from_step,
                   void* to, Size to_step, void* stream = nullptr, bool asynchronous = false) {
  if (n < 0 || element <= 0 || from_step <= 0 || to_step <= 0) return Status::invalid_value;
  if (n == 0) return Status::success;
  const Checked each = whole(element), all = each * whole(n);
  if (from_step == 1 && to_step == 1)
    return move(direction, all, 1, from, all, to, all, stream, asynchronous);
  return move(direction, each, n, from, each * whole(from_step), to, each * whole(to_step), stream,
              asynchronous);
}

Status move_matrix(Direction direction, Size rows, Size columns, Size element, const void* from,
                   Size from_leading, void* to, Size to_leading, void* stream = nullptr,
                   bool asynchronous = false) {
  if (!sizes(rows, columns) || element <= 0 || !leads(from_leading, rows) ||
      !leads(to_leading, rows))
    return Status::invalid_value;
  if (!rows || !columns) return Status::success;
  const Checked each = whole(element);
  return move(direction, each * whole(rows), columns, from, each * whole(from_leading), to,
              each * whole(to_leading), stream, asynchronous);
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define COPIES(verb, direction)                                                                    \
  INFLIGHT_ENTRY(cublas##verb##Vector)                                                             \
  (Int n, Int element, const void* from, Int from_step, void* to, Int to_step) {                   \
    return answer("cublas" #verb "Vector", [&] {                                                   \
      return move_vector(Direction::direction, n, element, from, from_step, to, to_step);          \
    });                                                                                            \
  }                                                                                                \
  INFLIGHT_ENTRY(cublas##verb##VectorAsync)                                                        \
  (Int n, Int element, const void* from, Int from_step, void* to, Int to_step, void* stream) {     \
    return answer("cublas" #verb "VectorAsync", [&] {                                              \
      return move_vector(Direction::direction, n, element, from, from_step, to, to_step, stream,   \
                         true);                                                                    \
    });                                                                                            \
  }                                                                                                \
  INFLIGHT_ENTRY(cublas##verb##Matrix)                                                             \
  (Int rows, Int columns, Int element, const void* from, Int lda, void* to, Int ldb) {             \
    return answer("cublas" #verb "Matrix", [&] {                                                   \
      return move_matrix(Direction::direction, rows, columns, element, from, lda, to, ldb);        \
    });                                                                                            \
  }                                                                                                \
  INFLIGHT_ENTRY(cublas##verb##MatrixAsync)                                                        \
  (Int rows, Int columns, Int element, const void* from, Int lda, void* to, Int ldb,               \
   void* stream) {                                                                                 \
    return answer("cublas" #verb "MatrixAsync", [&] {                                              \
      return move_matrix(Direction::direction, rows, columns, element, from, lda, to, ldb, stream, \
                         true);                                                                    \
    });                                                                                            \
  }

COPIES(Set, host_to_device)
COPIES(Get, device_to_host)
