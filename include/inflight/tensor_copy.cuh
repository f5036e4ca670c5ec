// Tensor copies: boxes of tensors of one to five dimensions between global and shared memory,
// through a tensor map. PTX ISA, "cp.async.bulk.tensor"; CUDA C++ Programming Guide, "Asynchronous
// Data Copies using the Tensor Memory Accelerator". sm_90.
//
// | from -> to | call | complete by |
// |---|---|---|
// | global -> shared | copy_async | transaction, or a barrier that expects the bytes |
// | global -> shared of several blocks | multicast_async | each block's barrier |
// | shared -> global | store_async, reduce_async | bulk_commit, bulk_wait, bulk_wait_read |
// | global -> L2 | prefetch_async | nothing waits for it |
//
// One thread issues a copy. Coordinates are those of the box's first element, dimension 0 (the
// column) first, and may be any integers. The coordinate of dimension 0 times the element's size is
// a multiple of 16. Loads may begin and end outside the tensor; elements outside it are filled
// (tensor_map_options::fill). Stores and reductions begin at no negative coordinate and leave out
// elements past the end. A box in shared memory is a swizzled_tile, or plain memory at a multiple
// of 128 bytes. Where threads wrote a box that a store reads, each calls release_to_async()
// (copy.cuh) before the barrier after which the one thread issues the store.
//
//   inflight::transaction copies(ready);
//   inflight::copy_async(tile, map, {x, y}, copies);  // knows the tile's bytes
//   copies.arrive();
//
// The functions with im2col in their names take the maps of make_im2col_tensor_map: those
// coordinates of C, W, H, D, N that the rank has, and offsets within the filter for W, H, D.
#pragma once
#include <inflight/impl/tensor_operands.cuh>
#include <inflight/ptx/tensor.cuh>
#include <inflight/ptx/tensor_map.cuh>
#include <inflight/tensor_map.cuh>

namespace inflight {

// Prefetches the map itself. Call it once, early, in one thread. prefetch.tensormap.
template <class Map>
INFLIGHT_DEVICE void prefetch_map(const Map& map) {
  ptx::prefetch_tensormap(impl::map_address(map));
}

// In all of these `map` is a tensor_map, or a tile_map, whose copies require its tile type and as
// many coordinates as it has dimensions.

// --- loads: one cp.async.bulk.tensor; `policy...` is nothing, or an L2 policy of createpolicy
// --- (std::uint64_t), here and below

// From the tensor to `box`. `done` is a barrier<>, or the mbarrier's std::uint64_t*, on which the
// bytes of the whole box complete, those out of range included. Or it is a `transaction`, which
// also makes the barrier expect them; then the box is a swizzled_tile. A pipeline of
// transaction_bytes stands for the transaction of the stage that was acquired.
template <class Box, class Map, int Rank, class Barrier, class... Policy>
INFLIGHT_DEVICE void copy_async(Box&& box, const Map& map, const tensor_coordinate (&at)[Rank],
                                Barrier&& done, Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_async_bulk_tensor_load(impl::box_address(box), impl::map_address<Rank>(map, box),
                                 to.value, impl::mbarrier_of(done, box), policy...);
}
template <class Box, class Map, int Rank, int Offsets, class Barrier, class... Policy>
INFLIGHT_DEVICE void copy_im2col_async(Box&& box, const Map& map,
                                       const tensor_coordinate (&at)[Rank],
                                       const tensor_coordinate (&offset)[Offsets], Barrier&& done,
                                       Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  const impl::tensor_offsets<Rank, Offsets> by(offset);
  ptx::cp_async_bulk_tensor_load_im2col(impl::box_address(box), impl::map_address<Rank>(map, box),
                                        to.value, by.value, impl::mbarrier_of(done, box),
                                        policy...);
}

// To every block of the cluster whose rank has its bit set in `ranks`, at the offsets that `box`
// and `done` have in this block. Each block's own barrier must expect the bytes.
template <class Box, class Map, int Rank, class Barrier, class... Policy>
INFLIGHT_DEVICE void multicast_async(Box&& box, const Map& map, const tensor_coordinate (&at)[Rank],
                                     Barrier&& done, std::uint16_t ranks, Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_async_bulk_tensor_multicast(impl::box_address(box), impl::map_address<Rank>(map, box),
                                      to.value, impl::mbarrier_of(done, box), ranks, policy...);
}
template <class Box, class Map, int Rank, int Offsets, class Barrier, class... Policy>
INFLIGHT_DEVICE void multicast_im2col_async(Box&& box, const Map& map,
                                            const tensor_coordinate (&at)[Rank],
                                            const tensor_coordinate (&offset)[Offsets],
                                            Barrier&& done, std::uint16_t ranks, Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  const impl::tensor_offsets<Rank, Offsets> by(offset);
  ptx::cp_async_bulk_tensor_multicast_im2col(impl::box_address(box),
                                             impl::map_address<Rank>(map, box), to.value, by.value,
                                             impl::mbarrier_of(done, box), ranks, policy...);
}

// --- stores: one cp.async.bulk.tensor or cp.reduce.async.bulk.tensor ---

// From `box` to the tensor.
template <class Map, int Rank, class Box, class... Policy>
INFLIGHT_DEVICE void store_async(const Map& map, const tensor_coordinate (&at)[Rank],
                                 const Box& box, Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_async_bulk_tensor_store(impl::map_address<Rank>(map, box), to.value,
                                  impl::box_address(box), policy...);
}
template <class Map, int Rank, class Box, class... Policy>
INFLIGHT_DEVICE void store_im2col_async(const Map& map, const tensor_coordinate (&at)[Rank],
                                        const Box& box, Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_async_bulk_tensor_store_im2col(impl::map_address<Rank>(map, box), to.value,
                                         impl::box_address(box), policy...);
}

// tensor = Operation(tensor, box), each element atomically: relaxed, at device scope. Operations by
// the map's element type: 4- and 8-byte integers have add, min, max and the bitwise ones (s64: min
// and max only), u32 also inc and dec, f16 and bf16 add, min and max, f32 and f64 add.
template <reduction_op Operation, class Map, int Rank, class Box, class... Policy>
INFLIGHT_DEVICE void reduce_async(const Map& map, const tensor_coordinate (&at)[Rank],
                                  const Box& box, Policy... policy) {
  static_assert(
      impl::box_reduces<Operation, Box>(),
      "The tile's element type lacks this reduction (pairs of numbers are copied as words: "
      "use a tile of __half or __nv_bfloat16).");
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_reduce_async_bulk_tensor<Operation>(impl::map_address<Rank>(map, box), to.value,
                                              impl::box_address(box), policy...);
}
template <reduction_op Operation, class Map, int Rank, class Box, class... Policy>
INFLIGHT_DEVICE void reduce_im2col_async(const Map& map, const tensor_coordinate (&at)[Rank],
                                         const Box& box, Policy... policy) {
  static_assert(
      impl::box_reduces<Operation, Box>(),
      "The tile's element type lacks this reduction (pairs of numbers are copied as words: "
      "use a tile of __half or __nv_bfloat16).");
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_reduce_async_bulk_tensor_im2col<Operation>(impl::map_address<Rank>(map, box), to.value,
                                                     impl::box_address(box), policy...);
}

// --- prefetches: one cp.async.bulk.prefetch.tensor ---

// Prefetches a box of the tensor into L2.
template <class Map, int Rank, class... Policy>
INFLIGHT_DEVICE void prefetch_async(const Map& map, const tensor_coordinate (&at)[Rank],
                                    Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  ptx::cp_async_bulk_prefetch_tensor(impl::map_address<Rank>(map), to.value, policy...);
}
template <class Map, int Rank, int Offsets, class... Policy>
INFLIGHT_DEVICE void prefetch_im2col_async(const Map& map, const tensor_coordinate (&at)[Rank],
                                           const tensor_coordinate (&offset)[Offsets],
                                           Policy... policy) {
  const impl::tensor_coordinates<Rank> to(at);
  const impl::tensor_offsets<Rank, Offsets> by(offset);
  ptx::cp_async_bulk_prefetch_tensor_im2col(impl::map_address<Rank>(map), to.value, by.value,
                                            policy...);
}

}  // namespace inflight
