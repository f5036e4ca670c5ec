// arch: sm_90a
// Tensor copies into and out of swizzled tiles. The map is made from the tile's type, and element
// (row, column) of the tile is that of the box. Wide and narrow rows, one to three dimensions.
#include "tests/library/tensors.cuh"

namespace {

using inflight::swizzle;

// Loads the box at (x, y), writes it to `out` by row and column, doubles it in place and stores it.
template <class Tile, int Rank>
__global__ void through(const __grid_constant__ inflight::tile_map<Tile, Rank> from,
                        const __grid_constant__ inflight::tile_map<Tile, Rank> to, At at,
                        typename Tile::value_type* out) {
  __shared__ Tile tile;
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) ready.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::transaction copies(ready);
    if constexpr (Rank == 1) inflight::copy_async(tile, from, {at.value[0]}, copies);
    if constexpr (Rank == 2) inflight::copy_async(tile, from, {at.value[0], at.value[1]}, copies);
    if constexpr (Rank == 3)
      inflight::copy_async(tile, from, {at.value[0], at.value[1], at.value[2]}, copies);
    copies.arrive();
  }
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < Tile::rows * Tile::columns; i += blockDim.x) {
    auto& element = tile(i / Tile::columns, i % Tile::columns);
    out[i] = element;
    element = element + element;
  }
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if constexpr (Rank == 1) inflight::store_async(to, {at.value[0]}, tile);
  if constexpr (Rank == 2) inflight::store_async(to, {at.value[0], at.value[1]}, tile);
  if constexpr (Rank == 3) inflight::store_async(to, {at.value[0], at.value[1], at.value[2]}, tile);
  inflight::bulk_commit();
  inflight::bulk_wait_read();
  inflight::bulk_wait();
}

template <class T, int Rows, int Columns, swizzle Mode, int Rank = 2>
void test(const char* what) {
  using Tile = inflight::swizzled_tile<T, Rows, Columns, Mode>;
  const std::vector<int> extents = {2 * Columns, Rank > 1 ? 2 * Rows : 1, Rank > 2 ? 3 : 1};
  const Shape shape(std::vector<int>(extents.begin(), extents.begin() + Rank));
  Buffer<T> from(numbered<T>(shape.size())), to(shape.size()), out(Rows * Columns);
  const auto options = shape.options(sizeof(T));
  const auto source = good(inflight::make_tensor_map<Tile, Rank>(from, shape.extents(), options)),
             sink = good(inflight::make_tensor_map<Tile, Rank>(to, shape.extents(), options));
  const At at = {{Columns, Rank > 1 ? Rows + 1 : 0, Rank > 2 ? 2 : 0}};
  through<Tile, Rank><<<1, 64>>>(source, sink, at, out.device);
  std::vector<T> doubled(shape.size());
  out.read(), to.read();
  bool right = true;
  each_of_box(Rank, {Columns, Rows, 1, 1, 1}, {1, 1, 1, 1, 1}, at,
              [&](long n, std::array<long, 5> where) {
                const bool inside = shape.inside(where);
                const T value = inside ? from.host[shape.index(where)] : T{};
                right &= out.host[n] == value;
                if (inside) doubled[shape.index(where)] = T(value + value);
              });
  verdict(what, right && to.host == doubled);
}

}  // namespace

int main() {
  test<float, 16, 8, swizzle::none>("float 16x8");
  test<float, 16, 8, swizzle::b32>("float 16x8 b32");
  test<float, 16, 16, swizzle::b64>("float 16x16 b64");
  test<float, 32, 32, swizzle::b128>("float 32x32 b128");
  test<float, 32, 16, swizzle::b128>("float 32x16 b128, half as wide as the swizzle");
  test<float, 9, 4, swizzle::b128>("float 9x4 b128, an eighth as wide");
  test<std::uint8_t, 20, 48, swizzle::b64>("byte 20x48 b64, three quarters as wide");
  test<std::uint16_t, 8, 16, swizzle::b32>("16 bits 8x16 b32");
  test<double, 8, 16, swizzle::b128>("double 8x16 b128");
  test<float, 1, 32, swizzle::b128, 1>("float 1x32 b128, one dimension");
  test<std::int64_t, 8, 16, swizzle::b128, 3>("64 bits 8x16 b128, three dimensions");
}
