// Type traits: the kind of group that a type is.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

class thread_group;
class thread_block;
class grid_group;
class cluster_group;
class coalesced_group;
template <unsigned Size, class Parent>
class thread_block_tile;

namespace impl {

// A tile's number of threads; 0 for other groups.
template <class Group>
inline constexpr unsigned tile_size = 0;
template <unsigned Size, class Parent>
inline constexpr unsigned tile_size<thread_block_tile<Size, Parent>> = Size;
template <class Group>
inline constexpr unsigned tile_size<const Group> = tile_size<Group>;

template <class Group>
inline constexpr bool is_tile = tile_size<Group> != 0;
template <class Group>
inline constexpr bool is_block = std::is_same_v<std::remove_cv_t<Group>, thread_block>;
template <class Group>
inline constexpr bool is_cluster = std::is_same_v<std::remove_cv_t<Group>, cluster_group>;
template <class Group>
inline constexpr bool is_grid = std::is_same_v<std::remove_cv_t<Group>, grid_group>;
template <class Group>
inline constexpr bool is_coalesced = std::is_same_v<std::remove_cv_t<Group>, coalesced_group>;

// Groups within one warp: they have mask(), shuffles and votes.
template <class Group>
inline constexpr bool is_warp_group = is_coalesced<Group> ||
                                      (is_tile<Group> && tile_size<Group> <= 32);
// A tile of several warps, with scratch memory.
template <class Group>
inline constexpr bool is_wide_tile = tile_size<Group> > 32;

template <class Group>
inline constexpr bool is_group =
    is_tile<Group> || is_block<Group> || is_cluster<Group> || is_grid<Group> ||
    is_coalesced<Group> || std::is_same_v<std::remove_cv_t<Group>, thread_group>;

}  // namespace impl
}  // namespace inflight
