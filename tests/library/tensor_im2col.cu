// arch: sm_90a
// im2col: columns of pixels with padding, steps and offsets within the filter, for tensors of three
// to five dimensions; stores and reductions of columns; prefetches.
#include "tests/library/tensors.cuh"

namespace {

constexpr int most = 512;  // elements of a column

template <int Rank, bool Hint, std::size_t... D, std::size_t... O>
__device__ void load_column(int* box, const inflight::tensor_map& map, const At& at,
                            const At& offset, inflight::barrier<>& ready, std::index_sequence<D...>,
                            std::index_sequence<O...>) {
  if constexpr (Hint) {
    inflight::prefetch_im2col_async(map, {at.value[D]...}, {offset.value[O]...}, evict_first());
    inflight::copy_im2col_async(box, map, {at.value[D]...}, {offset.value[O]...}, ready,
                                evict_first());
  } else {
    inflight::prefetch_im2col_async(map, {at.value[D]...}, {offset.value[O]...});
    inflight::copy_im2col_async(box, map, {at.value[D]...}, {offset.value[O]...}, ready);
  }
}

template <int Rank, bool Hint>
__global__ void load(const __grid_constant__ inflight::tensor_map map, At at, At offset, int* out,
                     int count) {
  alignas(128) __shared__ int box[most];
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) ready.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    load_column<Rank, Hint>(box, map, at, offset, ready, std::make_index_sequence<Rank>(),
                            std::make_index_sequence<Rank - 2>());
    inflight::transaction copies(ready);
    copies.expect(count * sizeof(int));
    copies.arrive();
  }
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = box[i];
}

// Stores a column, then adds it once more.
template <int Rank, bool Hint, std::size_t... D>
__device__ void store_column(const inflight::tensor_map& map, const At& at, const int* box,
                             std::index_sequence<D...>) {
  using inflight::reduction_op;
  if constexpr (Hint) {
    inflight::store_im2col_async(map, {at.value[D]...}, box, evict_first());
    inflight::bulk_commit();
    inflight::bulk_wait();
    inflight::reduce_im2col_async<reduction_op::add>(map, {at.value[D]...}, box, evict_first());
  } else {
    inflight::store_im2col_async(map, {at.value[D]...}, box);
    inflight::bulk_commit();
    inflight::bulk_wait();
    inflight::reduce_im2col_async<reduction_op::add>(map, {at.value[D]...}, box);
  }
  inflight::bulk_commit();
  inflight::bulk_wait();
}

template <int Rank, bool Hint>
__global__ void store(const __grid_constant__ inflight::tensor_map map, At at, const int* in,
                      int count) {
  alignas(128) __shared__ int box[most];
  for (int i = threadIdx.x; i < count; i += blockDim.x) box[i] = in[i];
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x == 0) store_column<Rank, Hint>(map, at, box, std::make_index_sequence<Rank>());
}

struct Column {
  std::vector<int> lower, upper, step;
  int channels, pixels;
};

inflight::tensor_dims dims(const std::vector<int>& values) {
  std::array<int, 5> a{};
  std::copy(values.begin(), values.end(), a.begin());
  return Shape::dims(a, int(values.size()), 1);
}

// Calls f(position, coordinates) for a column's elements: pixels advance along W, then H and D
// within the bounding box, then to the next image (PTX ISA, "im2col mode").
template <class F>
void each_of_column(const Shape& shape, const Column& column, const At& at, const At& offset, F f) {
  const int spatial = shape.rank - 2;
  std::array<long, 5> pixel{};
  for (int d = 0; d < shape.rank; ++d) pixel[d] = at.value[d];
  for (int p = 0; p < column.pixels; ++p) {
    for (int c = 0; c < column.channels; ++c) {
      std::array<long, 5> where = pixel;
      where[0] += c;
      for (int s = 0; s < spatial; ++s) where[s + 1] += offset.value[s];
      f(long(p) * column.channels + c, where);
    }
    int s = 0;
    for (; s < spatial; ++s) {
      pixel[s + 1] += column.step[s];
      if (pixel[s + 1] <= shape.extent[s + 1] - 1 + column.upper[s]) break;
      pixel[s + 1] = column.lower[s];
    }
    if (s == spatial) ++pixel[shape.rank - 1];
  }
}

template <int Rank, bool Hint = false>
void test(const char* what, const Shape& shape, const Column& column,
          std::vector<std::pair<At, At>> places) {
  Buffer<int> tensor(numbered<int>(shape.size()));
  inflight::tensor_map_options options;
  std::vector<int> steps = {1};
  steps.insert(steps.end(), column.step.begin(), column.step.end());
  steps.push_back(1);
  options.element_strides = dims(steps);
  const inflight::im2col_box box = {dims(column.lower), dims(column.upper), column.channels,
                                    column.pixels};
  const auto map =
      good(inflight::make_im2col_tensor_map(tensor.device, shape.extents(), box, options));
  const int count = column.channels * column.pixels;
  bool right = true;
  for (const auto& [at, offset] : places) {
    Buffer<int> out(count);
    load<Rank, Hint><<<1, 64>>>(map, at, offset, out.device, count);
    out.read();
    each_of_column(shape, column, at, offset, [&](long n, std::array<long, 5> where) {
      right &= out.host[n] == (shape.inside(where) ? tensor.host[shape.index(where)] : 0);
    });
  }
  verdict((std::string(what) + " loads").c_str(), right);
  // Stores need a bounding box within the tensor.
  Column plain = column;
  for (int& corner : plain.lower) corner = 0;
  for (int& corner : plain.upper) corner = 0;
  const auto sink = good(inflight::make_im2col_tensor_map(
      tensor.device, shape.extents(),
      {dims(plain.lower), dims(plain.upper), column.channels, column.pixels}, options));
  const At from = {{4, 1, 1, 0, 0}};
  const auto values = numbered<int>(count, 3);
  Buffer<int> in(values);
  auto wanted = tensor.host;
  store<Rank, Hint><<<1, 64>>>(sink, from, in.device, count);
  each_of_column(shape, plain, from, At{}, [&](long n, std::array<long, 5> where) {
    if (shape.inside(where)) wanted[shape.index(where)] = 2 * values[n];
  });
  verdict((std::string(what) + " stores and adds").c_str(), tensor.read() == wanted);
}

// Columns into a swizzled tile: a row for each pixel.
using pixels = inflight::swizzled_tile<int, 16, 32, inflight::swizzle::b128>;

__global__ void load_tile(const __grid_constant__ inflight::tile_map<pixels, 4> map, int* out) {
  __shared__ pixels tile;
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction copies(ready);
    inflight::copy_im2col_async(tile, map, {32, -1, 2, 1}, {1, 0}, copies);
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x) out[i] = tile(i / 32, i % 32);
}

void test_tile() {
  const Shape shape({64, 9, 8, 2});
  Buffer<int> tensor(numbered<int>(shape.size())), out(16 * 32);
  const auto map = good(inflight::make_im2col_tensor_map<pixels, 4>(tensor.device, shape.extents(),
                                                                    {-1, -1}, {-1, -1}));
  load_tile<<<1, 64>>>(map, out.device);
  out.read();
  bool right = true;
  each_of_column(shape, {{-1, -1}, {-1, -1}, {1, 1}, 32, 16}, {{32, -1, 2, 1}}, {{1, 0}},
                 [&](long n, std::array<long, 5> where) {
                   right &=
                       out.host[n] == (shape.inside(where) ? tensor.host[shape.index(where)] : 0);
                 });
  verdict("a swizzled tile loads", right);
}

}  // namespace

int main() {
  test<3>("W", Shape({8, 12, 3}), {{-1}, {1}, {1}, 4, 20},
          {{{{0, -1, 0}}, {{0}}}, {{{4, 3, 1}}, {{2}}}, {{{0, 12, 2}}, {{1}}}});
  test<4, true>(
      "W, H, with a policy", Shape({8, 9, 7, 2}), {{-1, -1}, {-1, -1}, {1, 1}, 8, 32},
      {{{{0, -1, -1, 0}}, {{0, 0}}}, {{{0, 4, 2, 0}}, {{2, 1}}}, {{{0, 7, 5, 1}}, {{1, 2}}}});
  test<4>("W, H, every second pixel", Shape({12, 10, 10, 2}), {{0, 0}, {0, 0}, {2, 2}, 8, 30},
          {{{{0, 0, 0, 0}}, {{1, 1}}}, {{{4, 2, 4, 1}}, {{0, 1}}}});
  test<5>("W, H, D", Shape({4, 6, 5, 4, 2}), {{-1, -2, 0}, {1, 0, -1}, {1, 1, 1}, 4, 64},
          {{{{0, -1, -2, 0, 0}}, {{0, 0, 0}}}, {{{0, 3, 2, 1, 1}}, {{1, 2, 1}}}});
  test_tile();
}
