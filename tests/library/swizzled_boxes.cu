// arch: sm_90a
// Boxes of one to five dimensions, with each swizzle: loaded, changed by index, and stored.
#include "tests/library/tensors.cuh"

namespace {

using inflight::swizzle;

template <class Box, int Rank>
__global__ void add_index(const __grid_constant__ inflight::tile_map<Box, Rank> from,
                          const __grid_constant__ inflight::tile_map<Box, Rank> to, At at) {
  __shared__ Box box;
  __shared__ inflight::barrier<> ready;
  const inflight::tensor_coordinate all[] = {at.value[0], at.value[1], at.value[2], at.value[3],
                                             at.value[4]};
  const auto& where = reinterpret_cast<const inflight::tensor_coordinate(&)[Rank]>(all);
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction copies(ready);
    inflight::copy_async(box, from, where, copies);
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < Box::columns * Box::rows; i += blockDim.x) {
    int index[5] = {}, rest = i;
    for (int d = 0; d < Box::rank; ++d)
      index[d] = rest % Box::extent(d), rest /= Box::extent(d);
    typename Box::value_type* element;
    if constexpr (Box::rank == 1) element = &box(index[0]);
    if constexpr (Box::rank == 2) element = &box(index[0], index[1]);
    if constexpr (Box::rank == 3) element = &box(index[0], index[1], index[2]);
    if constexpr (Box::rank == 4) element = &box(index[0], index[1], index[2], index[3]);
    if constexpr (Box::rank == 5) element = &box(index[0], index[1], index[2], index[3], index[4]);
    *element += i;
  }
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  inflight::store_async(to, where, box);
  inflight::bulk_commit();
  inflight::bulk_wait_read();
}

template <class Box, int Rank>
void test(const char* what, const inflight::tensor_extent (&extents)[Rank], At at) {
  using T = typename Box::value_type;
  std::vector<int> all;
  for (const auto& e : extents) all.push_back(int(e.value));
  const Shape shape(all);
  Buffer<T> in(numbered<T>(shape.size())), out(shape.size());
  const auto from = good(inflight::make_tensor_map<Box>(in.device, extents));
  const auto to = good(inflight::make_tensor_map<Box>(out.device, extents));
  add_index<Box, Rank><<<1, 64>>>(from, to, at);
  out.read();
  std::vector<T> wanted(shape.size());
  std::array<int, 5> size{1, 1, 1, 1, 1};
  for (int d = 0; d < Box::rank; ++d) size[d] = Box::extent(d);
  each_of_box(Rank, size, {1, 1, 1, 1, 1}, at, [&](long i, std::array<long, 5> place) {
    if (shape.inside(place)) wanted[shape.index(place)] = T(in.host[shape.index(place)] + i);
  });
  verdict(what, out.host == wanted);
}

}  // namespace

int main() {
  using inflight::swizzled_box;
  test<swizzled_box<int, swizzle::none, 64>>("one dimension", {200}, {{160}});
  test<swizzled_box<int, swizzle::b32, 8>>("one dimension, b32", {64}, {{16}});
  test<swizzled_box<float, swizzle::b128, 32, 6>>("two dimensions, b128", {64, 20}, {{16, 17}});
  test<swizzled_box<int, swizzle::b128, 32, 4, 6>>("three, b128", {40, 9, 11}, {{4, 3, 2}});
  test<swizzled_box<short, swizzle::b64, 32, 3, 5>>("three, b64", {48, 7, 8}, {{8, 1, 4}});
  test<swizzled_box<int, swizzle::b32, 4, 3, 5>>("three, b32, narrower", {16, 7, 8}, {{8, 1, 4}});
  test<swizzled_box<int, swizzle::none, 12, 3, 2, 3>>("four", {16, 4, 5, 6}, {{4, 1, 2, 3}});
  test<swizzled_box<int, swizzle::b128, 32, 2, 2, 3>>("four, b128", {32, 4, 5, 6}, {{0, 3, 1, 2}});
  test<swizzled_box<int, swizzle::b64, 16, 2, 3, 2, 2>>("five, b64", {20, 4, 5, 3, 3},
                                                       {{4, 1, 2, 1, 1}});
  test<swizzled_box<int, swizzle::b128, 32, 4>>("two in a tensor of four", {32, 8, 3, 3},
                                               {{0, 2, 1, 2}});
}
