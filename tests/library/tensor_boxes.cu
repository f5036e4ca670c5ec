// arch: sm_90a
// Boxes of one to five dimensions, loaded from and stored to tensors with padded rows, inside and
// across every edge, with and without an L2 policy, with element strides, after prefetches.
#include "tests/library/tensors.cuh"

namespace {

constexpr int most = 4096;  // bytes of a box

template <int Rank, bool Hint, class T, std::size_t... D>
__device__ void load_box(T* box, const inflight::tensor_map& map, const At& at,
                         inflight::barrier<>& ready, std::index_sequence<D...>) {
  if constexpr (Hint) {
    inflight::prefetch_async(map, {at.value[D]...}, evict_first());
    inflight::copy_async(box, map, {at.value[D]...}, ready, evict_first());
  } else {
    inflight::prefetch_async(map, {at.value[D]...});
    inflight::copy_async(box, map, {at.value[D]...}, ready.native());
  }
}
template <int Rank, bool Hint, class T, std::size_t... D>
__device__ void store_box(T* box, const inflight::tensor_map& map, const At& at,
                          std::index_sequence<D...>) {
  if constexpr (Hint)
    inflight::store_async(map, {at.value[D]...}, box, evict_first());
  else
    inflight::store_async(map, {at.value[D]...}, box);
}

template <int Rank, bool Hint, class T>
__global__ void load(const __grid_constant__ inflight::tensor_map map, At at, T* out, int count) {
  alignas(128) __shared__ T box[most / sizeof(T)];
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    inflight::prefetch_map(map);
    ready.init(1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    load_box<Rank, Hint>(box, map, at, ready, std::make_index_sequence<Rank>());
    inflight::transaction copies(ready);
    copies.expect(count * sizeof(T));
    copies.arrive();
  }
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = box[i];
}

template <int Rank, bool Hint, class T>
__global__ void store(const __grid_constant__ inflight::tensor_map map, At at, const T* in,
                      int count) {
  alignas(128) __shared__ T box[most / sizeof(T)];
  for (int i = threadIdx.x; i < count; i += blockDim.x) box[i] = in[i];
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_box<Rank, Hint>(box, map, at, std::make_index_sequence<Rank>());
  inflight::bulk_commit();
  inflight::bulk_wait();
}

template <int Rank, bool Hint, class T>
void test(const char* what, std::vector<int> extents, std::vector<int> sizes,
          std::vector<At> places, std::array<int, 5> step = {1, 1, 1, 1, 1}) {
  const Shape shape(extents, 16 / sizeof(T));
  std::array<int, 5> box{1, 1, 1, 1, 1};
  for (int i = 0; i < Rank; ++i) box[i] = sizes[i];
  Buffer<T> tensor(numbered<T>(shape.size()));
  auto options = shape.options(sizeof(T));
  options.element_strides = Shape::dims(step, Rank, 1);
  const auto map = good(
      inflight::make_tensor_map<T>(tensor, shape.extents(), Shape::dims(box, Rank, 1), options));
  int count = 1;
  for (int i = 0; i < Rank; ++i) count *= (box[i] + step[i] - 1) / step[i];
  bool loads = true, stores = true;
  for (const At& at : places) {
    Buffer<T> out(count);
    load<Rank, Hint><<<1, 64>>>(map, at, out.device, count);
    out.read();
    each_of_box(Rank, box, step, at, [&](long n, std::array<long, 5> where) {
      const T wanted = shape.inside(where) ? tensor.host[shape.index(where)] : T{};
      loads &= out.host[n] == wanted;
    });
    if (*std::min_element(at.value, at.value + Rank) < 0) continue;  // not allowed for a store
    const auto values = numbered<T>(count, 2);
    Buffer<T> in(values);
    auto wanted = tensor.host;
    store<Rank, Hint><<<1, 64>>>(map, at, in.device, count);
    each_of_box(Rank, box, step, at, [&](long n, std::array<long, 5> where) {
      if (shape.inside(where)) wanted[shape.index(where)] = values[n];
    });
    stores &= tensor.read() == wanted;
  }
  verdict((std::string(what) + " loads").c_str(), loads);
  verdict((std::string(what) + " stores").c_str(), stores);
}

}  // namespace

int main() {
  test<1, false, std::uint8_t>("1-D u8", {208}, {64}, {{0}, {64}, {160}, {-32}, {208}});
  test<2, false, float>("2-D f32", {24, 20}, {16, 12},
                        {{0, 0}, {8, 5}, {12, 15}, {-4, -3}, {20, -11}});
  test<2, true, std::int32_t>("2-D s32, with a policy", {24, 20}, {8, 4}, {{4, 3}, {20, 18}});
  test<2, false, double>("2-D f64, every second row", {24, 20}, {8, 12}, {{2, 1}, {16, 12}},
                         {1, 2, 1, 1, 1});
  test<3, false, std::uint16_t>("3-D u16", {40, 6, 5}, {16, 3, 4},
                                {{0, 0, 0}, {24, 4, 3}, {-8, 5, -1}});
  test<4, false, std::uint32_t>("4-D u32", {12, 5, 4, 3}, {8, 3, 2, 2},
                                {{0, 0, 0, 0}, {8, 4, 3, 2}, {-4, -1, 1, -1}});
  test<5, true, std::uint64_t>("5-D u64, with a policy", {8, 4, 3, 3, 2}, {4, 2, 2, 3, 2},
                               {{0, 0, 0, 0, 0}, {6, 3, 2, 1, 1}, {-2, 0, -1, 0, 1}});
  test<5, false, float>("5-D f32, with steps", {8, 9, 5, 6, 4}, {4, 6, 3, 4, 2},
                        {{0, 0, 0, 0, 0}, {4, 5, 3, 4, 3}, {-4, -2, -1, 3, 1}}, {1, 3, 2, 4, 2});
}
