// Instructions on tensor maps: PTX ISA, "prefetch", sm_90; "tensormap.replace",
// "tensormap.cp_fenceproxy", sm_90a; "fence.proxy.tensormap", sm_90.
//
// A kernel may change a copy of a map, field by field, in shared memory (32-bit address) or in
// global memory (64-bit). Before a copy uses it, the thread that changed it executes the release
// fence of the tensormap proxy, and the thread that copies executes the acquire fence.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

// State space of a map that is being changed.
enum class map_space { global, shared };

namespace ptx {

// Prefetches a map, so that the first copy through it waits less. `map` is its generic address.
INFLIGHT_DEVICE void prefetch_tensormap(std::uint64_t map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

template <map_space Space>
using map_address = std::conditional_t<Space == map_space::shared, std::uint32_t, std::uint64_t>;

#define INFLIGHT_REPLACE(field, type, ordinal, ...)                                           \
  if constexpr (Space == map_space::shared)                                                   \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " ordinal \
                 "%1;" ::"r"(map),                                                            \
                 __VA_ARGS__                                                                  \
                 : "memory");                                                                 \
  else                                                                                        \
    asm volatile("tensormap.replace.tile." field ".global.b1024." type " [%0], " ordinal      \
                 "%1;" ::"l"(map),                                                            \
                 __VA_ARGS__                                                                  \
                 : "memory")

// The address of the tensor: a global address, a multiple of 16.
template <map_space Space>
INFLIGHT_DEVICE void tensormap_replace_global_address(map_address<Space> map, std::uint64_t value) {
  INFLIGHT_REPLACE("global_address", "b64", "", "l"(value));
}
// The rank minus one.
template <map_space Space>
INFLIGHT_DEVICE void tensormap_replace_rank(map_address<Space> map, std::uint32_t value) {
  INFLIGHT_REPLACE("rank", "b32", "", "r"(value));
}
// Elements of the box along dimension Ordinal.
template <map_space Space, int Ordinal>
INFLIGHT_DEVICE void tensormap_replace_box_dim(map_address<Space> map, std::uint32_t value) {
  INFLIGHT_REPLACE("box_dim", "b32", "%2, ", "r"(value), "n"(Ordinal));
}
// Elements of the tensor along dimension Ordinal.
template <map_space Space, int Ordinal>
INFLIGHT_DEVICE void tensormap_replace_global_dim(map_address<Space> map, std::uint32_t value) {
  INFLIGHT_REPLACE("global_dim", "b32", "%2, ", "r"(value), "n"(Ordinal));
}
// Bytes from one position to the next in dimension Ordinal + 1: a multiple of 16.
template <map_space Space, int Ordinal>
INFLIGHT_DEVICE void tensormap_replace_global_stride(map_address<Space> map, std::uint64_t value) {
#if __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 5
  value /= 16;  // PTX ISA before 8.5 counts units of 16 bytes
#endif
  INFLIGHT_REPLACE("global_stride", "b64", "%2, ", "l"(value), "n"(Ordinal));
}
// Step between the positions of dimension Ordinal that a box takes.
template <map_space Space, int Ordinal>
INFLIGHT_DEVICE void tensormap_replace_element_stride(map_address<Space> map, std::uint32_t value) {
  INFLIGHT_REPLACE("element_stride", "b32", "%2, ", "r"(value), "n"(Ordinal));
}
// Fields whose values come from the tables of that PTX section: element types (not in the order of
// tensor_type), interleave layouts, swizzles (as enum swizzle), fill modes (as tensor_fill).
template <map_space Space, int Value>
INFLIGHT_DEVICE void tensormap_replace_elemtype(map_address<Space> map) {
  INFLIGHT_REPLACE("elemtype", "b32", "", "n"(Value));
}
template <map_space Space, int Value>
INFLIGHT_DEVICE void tensormap_replace_interleave_layout(map_address<Space> map) {
  INFLIGHT_REPLACE("interleave_layout", "b32", "", "n"(Value));
}
template <map_space Space, int Value>
INFLIGHT_DEVICE void tensormap_replace_swizzle_mode(map_address<Space> map) {
  INFLIGHT_REPLACE("swizzle_mode", "b32", "", "n"(Value));
}
template <map_space Space, int Value>
INFLIGHT_DEVICE void tensormap_replace_fill_mode(map_address<Space> map) {
  INFLIGHT_REPLACE("fill_mode", "b32", "", "n"(Value));
}
#undef INFLIGHT_REPLACE

// Makes this thread's changes to maps visible to threads of the GPU that acquire them.
INFLIGHT_DEVICE void fence_proxy_tensormap_release() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
// Lets copies that this thread issues after it use the map at the generic address `map`.
INFLIGHT_DEVICE void fence_proxy_tensormap_acquire(std::uint64_t map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
// A warp copies a changed map from shared to global memory (both aligned to 128) and releases it.
INFLIGHT_DEVICE void tensormap_cp_fenceproxy(std::uint64_t dst, std::uint32_t src) {
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
      " [%0], [%1], 128;" ::"l"(dst),
      "r"(src)
      : "memory");
}

}  // namespace ptx
}  // namespace inflight
