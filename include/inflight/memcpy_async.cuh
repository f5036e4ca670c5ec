// memcpy_async: a group, or a thread, copies bytes from global to shared memory and goes on at
// once.
//
// The copy is asynchronous (cp.async) as far as both addresses are multiples of 4, and goes in
// pieces of 16 bytes where they and the size allow it; what is left is copied before the call
// returns, and so is everything in other directions. With aligned_size_t<16> the pieces are known
// when compiled. A group is any object with size(), thread_rank() and, for wait, sync().
//
// With a group alone, wait(group) or wait_prior<N>(group) ends it; with a pipeline, its stage; with
// a barrier, the phase in which the threads arrive. CUDA C++ Programming Guide, "memcpy_async" (of
// Cooperative Groups) and "Asynchronous Data Copies".
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/impl/strided_copy.cuh>

namespace inflight {

// A number of bytes of which the caller promises that it, and the addresses it goes with, are
// multiples of Alignment.
template <std::size_t Alignment>
struct aligned_size_t {
  static_assert(Alignment > 0 && (Alignment & (Alignment - 1)) == 0,
                "An alignment is a power of two.");
  static constexpr std::size_t align = Alignment;
  std::size_t value;
  INFLIGHT_HOST_DEVICE explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
  INFLIGHT_HOST_DEVICE constexpr operator std::size_t() const { return value; }
};

namespace impl {

template <class Size>
inline constexpr int alignment_of_size = 1;
template <std::size_t Alignment>
inline constexpr int alignment_of_size<aligned_size_t<Alignment>> = static_cast<int>(Alignment);

template <class T>
inline constexpr int alignment_of_type = static_cast<int>(alignof(T));
template <>
inline constexpr int alignment_of_type<void> = 1;

// What the caller promises by the element's type and the size's: of the addresses. The size itself
// may be any multiple of 1 unless the promise is aligned_size_t's.
template <class T, class Size>
inline constexpr int promise = alignment_of_size<Size> >= 16
                                   ? 16
                                   : (alignment_of_type<T> > alignment_of_size<Size>
                                          ? (alignment_of_type<T> >= 8 ? 8 : alignment_of_type<T>)
                                          : alignment_of_size<Size>);

}  // namespace impl

// --- a group by itself: cooperative groups' form ---

// Copies `bytes`, a number or an aligned_size_t. Called by all threads of the group; each closes
// one cp.async group.
template <class Group, class T, class Size>
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* to, const T* from, Size bytes) {
  impl::copy_part<impl::promise<T, Size>>(group, to, from, bytes);
  ptx::cp_async_commit_group();
}

// The same in elements: as many as both counts have. Aligned counts are numbers of elements whose
// bytes are such a multiple.
template <class Group, class T, class ToCount, class FromCount>
INFLIGHT_DEVICE auto memcpy_async(const Group& group, T* to, ToCount to_count, const T* from,
                                  FromCount from_count)
    -> decltype(static_cast<std::size_t>(to_count), static_cast<std::size_t>(from_count), void()) {
  using promised =
      std::conditional_t<(impl::alignment_of_size<ToCount> < impl::alignment_of_size<FromCount>),
                         ToCount, FromCount>;
  const std::size_t of_to = to_count, of_from = from_count;
  impl::copy_part<impl::promise<T, promised>>(group, to, from,
                                              (of_to < of_from ? of_to : of_from) * sizeof(T));
  ptx::cp_async_commit_group();
}

// Waits until all but the `Newer` newest copies of the group are there for all its threads.
// cp.async.wait_group and a barrier of the group.
template <unsigned Newer, class Group>
INFLIGHT_DEVICE void wait_prior(const Group& group) {
  ptx::cp_async_wait_group<static_cast<int>(Newer)>();
  group.sync();
}

// Waits for all of them.
template <class Group>
INFLIGHT_DEVICE void wait(const Group& group) {
  wait_prior<0>(group);
}

// --- with a barrier ---

// The threads of the group copy, and the barrier's current phase also waits for their copies; the
// threads arrive as always. cp.async.mbarrier.arrive.
template <class Group, class T, class Size>
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* to, const T* from, Size bytes,
                                  barrier<>& done) {
  impl::copy_part<impl::promise<T, Size>>(group, to, from, bytes);
  ptx::cp_async_mbarrier_arrive(done.address());
}
template <class Group, class Size>
INFLIGHT_DEVICE void memcpy_async(const Group& group, void* to, const void* from, Size bytes,
                                  barrier<>& done) {
  memcpy_async<Group, void>(group, to, from, bytes, done);
}

// This thread alone copies.
template <class T, class Size>
INFLIGHT_DEVICE void memcpy_async(T* to, const T* from, Size bytes, barrier<>& done) {
  memcpy_async(impl::one_thread{}, to, from, bytes, done);
}
template <class Size>
INFLIGHT_DEVICE void memcpy_async(void* to, const void* from, Size bytes, barrier<>& done) {
  memcpy_async(impl::one_thread{}, to, from, bytes, done);
}

}  // namespace inflight
