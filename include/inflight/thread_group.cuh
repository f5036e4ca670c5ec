// The general group, which thread_block, grid_group, coalesced_group and tiles of at most 32
// threads derive from.
#pragma once
#include <inflight/impl/grid_workspace.cuh>
#include <inflight/impl/group_lanes.cuh>
#include <inflight/impl/group_traits.cuh>

namespace inflight {

// Any of those groups, of a kind known only at run time. A function that takes a specific type, or
// a template parameter, compiles to better code.
class thread_group {
 public:
  INFLIGHT_DEVICE unsigned long long num_threads() const {
    if (kind_ == kind::grid) return impl::grid_threads();
    return kind_ == kind::block ? impl::block_threads() : unsigned(__popc(mask_));
  }
  INFLIGHT_DEVICE unsigned long long size() const { return num_threads(); }

  // The caller's rank in [0, num_threads()).
  INFLIGHT_DEVICE unsigned long long thread_rank() const {
    if (kind_ == kind::grid) return impl::grid_thread_rank();
    return kind_ == kind::block ? impl::block_thread_rank() : impl::lanes_below_in(mask_);
  }

  INFLIGHT_DEVICE void sync() const {
    if (kind_ == kind::grid)
      impl::grid_sync(impl::grid_word());
    else if (kind_ == kind::block)
      __syncthreads();
    else
      ptx::warp_sync(mask_);
  }

  template <unsigned Size, class Parent, class = std::enable_if_t<(Size > 32)>>
  INFLIGHT_DEVICE thread_group(const thread_block_tile<Size, Parent>&) {
    static_assert(Size <= 32, "a thread_group holds tiles of at most 32 threads");
  }

 protected:
  enum class kind : unsigned { block, grid, lanes };
  INFLIGHT_DEVICE explicit thread_group(kind which, std::uint32_t mask = 0)
      : kind_(which), mask_(mask) {}

  // Mask of the lanes of a group within a warp.
  INFLIGHT_DEVICE std::uint32_t lanes() const { return mask_; }

 private:
  friend INFLIGHT_DEVICE thread_group tiled_partition(const thread_group&, unsigned);
  kind kind_;
  std::uint32_t mask_;
};

}  // namespace inflight
