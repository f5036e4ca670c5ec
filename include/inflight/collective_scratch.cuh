// Shared memory for collectives over whole blocks, tiles of 64 to 512 threads and clusters.
// Cooperative groups stop at tiles; this is an extension.
//
//   __shared__ inflight::block_scratch<float, 256> scratch;  // one a block, uninitialised
//   auto team = inflight::with_scratch(inflight::this_thread_block(), scratch);
//   float sum = inflight::reduce(team, x, inflight::plus<float>());  // every thread gets it
//   float upto = inflight::inclusive_scan(team, x);
//
// A group with scratch has num_threads(), thread_rank() and sync(). Making it costs one barrier.
// Each collective on it costs one barrier of the group more, or two in some large blocks (see
// reduce.cuh and scan.cuh). One is enough because the scratch has two halves that alternate: no
// warp can be two collectives ahead of another. So keep the object, also across a loop (pass it by
// reference; it cannot be copied). Every thread of the group must make the same calls on it in the
// same order. Other uses of the scratch, or another group's, need a barrier of the threads that
// used it first.
//
// The number in the type is exactly the number of the block's threads: the code handles no other
// case. block_scratch<T>, without a number, is for blocks of any size; its collectives combine the
// warps' results one after another. In a block of another size than the type says, the kernel
// traps.
#pragma once
#include <inflight/impl/collective_block.cuh>
#include <inflight/impl/keep_in_register.cuh>

namespace inflight {

// In place of a block's number of threads: any.
inline constexpr unsigned any_threads = 0;

// Scratch for values of up to sizeof(T) bytes in blocks of Threads threads.
template <class T, unsigned Threads = any_threads>
struct alignas(16) block_scratch {
  static_assert(Threads <= 1024, "a block has 1 to 1024 threads");
  static_assert(sizeof(T) <= 32, "reduce and scans take values of at most 32 bytes");
  static constexpr unsigned warps = Threads == any_threads ? 32 : (Threads + 31) / 32;
  static constexpr unsigned half_bytes = (warps * sizeof(T) + 15) / 16 * 16;
  alignas(alignof(T)) unsigned char bytes[2][half_bytes];
};

// The same for clusters of up to Blocks blocks, one object in each of them. sm_90.
template <class T, unsigned Threads = any_threads, unsigned Blocks = 16>
struct cluster_scratch {
  static_assert(Blocks > 0 && Blocks <= 16, "a cluster has 1 to 16 blocks");
  block_scratch<T, Threads> block;
  alignas(alignof(T)) unsigned char totals[2][Blocks * sizeof(T)];
};

// A group and its scratch. Made by with_scratch.
template <class Group, class Scratch>
class scratch_group;

template <class Group, class T, unsigned Threads>
class scratch_group<Group, block_scratch<T, Threads>> {
 public:
  INFLIGHT_DEVICE unsigned num_threads() const { return unsigned(group_.num_threads()); }
  INFLIGHT_DEVICE unsigned size() const { return num_threads(); }
  INFLIGHT_DEVICE unsigned thread_rank() const { return unsigned(group_.thread_rank()); }
  INFLIGHT_DEVICE void sync() const { group_.sync(); }

  INFLIGHT_DEVICE scratch_group(const Group& group, block_scratch<T, Threads>& scratch)
      : group_(group), address_(impl::keep_in_register(ptx::shared_address(&scratch.bytes))) {
    static_assert(Threads == any_threads || tile_threads <= Threads,
                  "the scratch is for fewer threads than the tile has");
    impl::require_threads<Threads>();
    sync();
  }

  scratch_group(const scratch_group&) = delete;  // a copy would lose track of the next half

  // The implementation of reduce and the scans.
  template <impl::result Wanted, class V, class Op>
  INFLIGHT_DEVICE V collective(const V& value, Op& op) const {
    static_assert(sizeof(V) <= sizeof(T) && alignof(V) <= alignof(block_scratch<T, Threads>),
                  "the value is larger than those that the block_scratch was made for");
    const auto sync_group = [this] { sync(); };
    V* results = static_cast<V*>(
        __cvta_shared_to_generic(address_ + turn_ * block_scratch<T, Threads>::half_bytes));
    turn_ ^= 1;
    if constexpr (tile_threads != 0) {
      results += impl::block_thread_rank() / tile_threads * (tile_threads / 32);
      return impl::over_warps<Wanted, tile_threads / 32, false>(
          thread_rank(), tile_threads, results, value, op, static_cast<V*>(nullptr), sync_group);
    } else {
      return impl::over_block<Wanted, Threads>(results, value, op, static_cast<V*>(nullptr),
                                               sync_group);
    }
  }

 private:
  static constexpr unsigned tile_threads = impl::static_threads<Group>::value;
  Group group_;
  std::uint32_t address_;  // of the bytes in shared memory
  mutable unsigned turn_ = 0;
};

template <class Group, class T, unsigned Threads, unsigned Blocks>
class scratch_group<Group, cluster_scratch<T, Threads, Blocks>> {
 public:
  INFLIGHT_DEVICE unsigned num_threads() const { return unsigned(group_.num_threads()); }
  INFLIGHT_DEVICE unsigned size() const { return num_threads(); }
  INFLIGHT_DEVICE unsigned thread_rank() const { return unsigned(group_.thread_rank()); }
  INFLIGHT_DEVICE void sync() const { group_.sync(); }

  INFLIGHT_DEVICE scratch_group(const Group& group, cluster_scratch<T, Threads, Blocks>& scratch)
      : group_(group), scratch_(&scratch) {
    impl::require_threads<Threads>();
    if (group.num_blocks() > Blocks) __trap();
    sync();
  }

  scratch_group(const scratch_group&) = delete;

  template <impl::result Wanted, class V, class Op>
  INFLIGHT_DEVICE V collective(const V& value, Op& op) const {
    static_assert(sizeof(V) <= sizeof(T) && alignof(V) <= alignof(block_scratch<T, Threads>),
                  "the value is larger than those that the cluster_scratch was made for");
    const unsigned threads = impl::block_threads(), rank = impl::block_thread_rank();
    const unsigned block = unsigned(group_.block_rank()), blocks = unsigned(group_.num_blocks());
    V* results = reinterpret_cast<V*>(scratch_->block.bytes[turn_]);
    V* totals = reinterpret_cast<V*>(scratch_->totals[turn_]);
    turn_ ^= 1;
    // The block reduces or scans first; then its total goes to every block.
    V total;
    const V own =
        impl::over_block<Wanted, Threads>(results, value, op, &total, [] { __syncthreads(); });
    if constexpr (Wanted == impl::result::reduction) total = own;
    for (unsigned to = rank; to < blocks; to += threads)
      *group_.map_shared_rank(totals + block, int(to)) = total;
    sync();
    decltype(auto) apply = impl::applied<V>(op);
    if constexpr (Wanted == impl::result::reduction) return impl::reduce_row(totals, blocks, apply);
    if (block == 0) return own;
    const V before = impl::reduce_row(totals, block, apply);
    return Wanted == impl::result::exclusive && rank == 0 ? before : apply(before, own);
  }

 private:
  Group group_;
  cluster_scratch<T, Threads, Blocks>* scratch_;
  mutable unsigned turn_ = 0;
};

// Combines a group with scratch for collectives: a thread_block or a tile of 64 or more threads
// with a block_scratch in shared memory, or a cluster_group with a cluster_scratch. Tiles of one
// block share one object. It is a barrier of the group.
template <class Group, class T, unsigned Threads>
INFLIGHT_DEVICE scratch_group<Group, block_scratch<T, Threads>> with_scratch(
    const Group& group, block_scratch<T, Threads>& scratch) {
  static_assert(
      !impl::in_warp<Group>::value,
      "a tile of at most 32 threads and a coalesced_group need no scratch: pass the group "
      "to reduce itself");
  static_assert(
      !impl::has_blocks<Group>::value,
      "a block_scratch is one block's: a cluster_group needs a cluster_scratch, and grids "
      "have no such collective");
  return {group, scratch};
}
template <class Group, class T, unsigned Threads, unsigned Blocks>
INFLIGHT_DEVICE scratch_group<Group, cluster_scratch<T, Threads, Blocks>> with_scratch(
    const Group& group, cluster_scratch<T, Threads, Blocks>& scratch) {
  static_assert(impl::shares_memory<Group>::value,
                "a cluster_scratch is for a cluster_group: a block needs a block_scratch");
  static_assert(impl::has_sm90<Group>, "clusters need sm_90 or later: compile with -arch=sm_90a");
  return {group, scratch};
}

}  // namespace inflight
