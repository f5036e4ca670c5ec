// Implementation of device.cuh: the check for sm_90, and tensor copies by rank.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/ptx/tensor.cuh>
#include <inflight/tensor_map.cuh>

// CUDA's tensor map, as <cuda.h> declares it.
struct CUtensorMap_st;
typedef struct CUtensorMap_st CUtensorMap;

namespace inflight::impl {

// Depends on a type, so that it is evaluated where a function is used.
template <class Use>
INFLIGHT_DEVICE constexpr void require_sm90() {
  static_assert(has_sm90<Use>,
                "inflight::device needs sm_90 or later, where barriers count bytes and there are "
                "bulk copies: compile with -arch=sm_90a.");
}

template <class Map>
INFLIGHT_DEVICE std::uint64_t tensor_map_at(const Map* map) {
  require_sm90<Map>();
  static_assert(
      std::disjunction<std::is_same<Map, CUtensorMap>, std::is_base_of<tensor_map, Map>>::value,
      "A tensor copy needs the address of a CUtensorMap or of an inflight::tensor_map.");
  return reinterpret_cast<std::uint64_t>(map);
}

template <int Rank, class Map>
INFLIGHT_DEVICE void tensor_to_shared(void* dst, const Map* map, ptx::tensor_coordinates<Rank> at,
                                      const barrier<>& bar) {
  ptx::cp_async_bulk_tensor_load<Rank>(ptx::shared_address(dst), tensor_map_at(map), at,
                                       bar.address());
}

template <int Rank, class Map>
INFLIGHT_DEVICE void shared_to_tensor(const Map* map, ptx::tensor_coordinates<Rank> at,
                                      const void* src) {
  ptx::cp_async_bulk_tensor_store<Rank>(tensor_map_at(map), at, ptx::shared_address(src));
}

}  // namespace inflight::impl
