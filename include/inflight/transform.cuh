// Whole jobs in one call: data streams at the speed of memory through an operation of the caller's.
//
//   inflight::transform(out, in, n, triple{});              // out[i] = triple(in[i])
//   inflight::transform(out, a, b, n, sum{});               // out[i] = sum(a[i], b[i])
//   inflight::for_each_tile(in, n, histogram{bins});        // each tile of `in`, in shared memory
//
// The operation is a function object that can be called on the device. All calls return at once, as
// kernel launches do, with the launch's error; pointers are to device memory.
//
// Method: one 16-byte vector a thread, blocks of 256, and as many blocks as the data needs. On an
// H200 that is as fast as cudaMemcpyAsync, and faster than a path through shared memory
// (docs/performance.md).
#pragma once
#include <inflight/copy.cuh>
#include <inflight/impl/stream_kernels.cuh>

namespace inflight {

// out[i] = operation(in[i]) for i in [0, n). `out` may be `in`, but must not overlap it otherwise.
template <class Out, class In, class Operation>
inline cudaError_t transform(Out* out, const In* in, std::size_t n, Operation operation,
                             cudaStream_t stream = nullptr) {
  return impl::stream_launch(n, stream, operation, out, in);
}

// out[i] = operation(a[i], b[i]).
template <class Out, class A, class B, class Operation>
inline cudaError_t transform(Out* out, const A* a, const B* b, std::size_t n, Operation operation,
                             cudaStream_t stream = nullptr) {
  return impl::stream_launch(n, stream, operation, out, a, b);
}

// Elements in a tile of T: 4 KiB, which keeps enough bytes in flight per SM with the 16 blocks that
// fit on it.
template <class T>
inline constexpr int tile_elements = sizeof(T) >= 4096 ? 1 : static_cast<int>(4096 / sizeof(T));

// The threads of the blocks that for_each_tile runs.
inline constexpr unsigned tile_threads = impl::tile_threads;

// Calls body(const T* tile, std::size_t first, int count) for each tile [first, first + count) of
// [0, n), with the tile in shared memory. All 128 threads of a block call it together, so it may
// call __syncthreads(). All tiles but the last hold Tile elements. It uses bulk copies on sm_90
// where addresses and sizes allow them, otherwise cp.async. T is trivially copyable.
template <class T, class Body>
inline cudaError_t for_each_tile(const T* in, std::size_t n, Body body,
                                 cudaStream_t stream = nullptr) {
  return impl::tile_launch<tile_elements<T>>(in, n, body, stream);
}

// The same with tiles of Tile elements, of at most 48 KiB.
template <int Tile, class T, class Body>
inline cudaError_t for_each_tile(const T* in, std::size_t n, Body body,
                                 cudaStream_t stream = nullptr) {
  static_assert(Tile > 0 && sizeof(T) * Tile <= 48 * 1024, "A tile has 1 byte to 48 KiB.");
  return impl::tile_launch<Tile>(in, n, body, stream);
}

}  // namespace inflight
