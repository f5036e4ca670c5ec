// memcpy_async: a group copies bytes from global to shared memory together, and goes on at once.
//
// The copy is asynchronous (cp.async) as far as both addresses are multiples of 4, and goes in
// pieces of 16 bytes where they and the size allow it; what is left is copied before the call
// returns. With aligned_size_t<16> the pieces are known when compiled.
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

// Copies `bytes` (a number, or aligned_size_t) to `shared`. Called by all threads of the group;
// each closes one cp.async group.
template <class Group, class T, class Size>
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* shared, const T* global, Size bytes) {
  impl::copy_part<impl::promise<T, Size>>(shared, global, static_cast<std::uint32_t>(bytes),
                                          group.thread_rank(), group.num_threads());
  ptx::cp_async_commit_group();
}

// The same in elements: as many as both `shared_count` and `global_count` have. Aligned counts are
// numbers of elements whose bytes are such a multiple.
template <class Group, class T, class SharedCount, class GlobalCount>
INFLIGHT_DEVICE auto memcpy_async(const Group& group, T* shared, SharedCount shared_count,
                                  const T* global, GlobalCount global_count)
    -> decltype(static_cast<std::size_t>(shared_count), static_cast<std::size_t>(global_count),
                void()) {
  static_assert(impl::alignment_of_size<SharedCount> == impl::alignment_of_size<GlobalCount>,
                "Both counts promise the same alignment, or neither does.");
  const std::size_t of_shared = shared_count, of_global = global_count;
  const std::size_t count = of_shared < of_global ? of_shared : of_global;
  impl::copy_part<impl::promise<T, SharedCount>>(shared, global,
                                                 static_cast<std::uint32_t>(count * sizeof(T)),
                                                 group.thread_rank(), group.num_threads());
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
INFLIGHT_DEVICE void memcpy_async(const Group& group, T* shared, const T* global, Size bytes,
                                  barrier<>& done) {
  impl::copy_part<impl::promise<T, Size>>(shared, global, static_cast<std::uint32_t>(bytes),
                                          group.thread_rank(), group.num_threads());
  ptx::cp_async_mbarrier_arrive(done.address());
}

}  // namespace inflight
