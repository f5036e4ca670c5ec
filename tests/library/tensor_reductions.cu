// arch: sm_90a
// reduce_async with every operation, on the element types that have it, in 1-D to 5-D boxes, with
// and without an L2 policy. Elements past the tensor's end stay unchanged.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/library/tensors.cuh"

namespace {

using inflight::reduction_op;

constexpr int columns = 16, rows = 6;

template <reduction_op Op, int Rank, bool Hint, class T, std::size_t... D>
__device__ void reduce_box(const inflight::tensor_map& map, const At& at, const T* box,
                           std::index_sequence<D...>) {
  if constexpr (Hint)
    inflight::reduce_async<Op>(map, {at.value[D]...}, box, evict_first());
  else
    inflight::reduce_async<Op>(map, {at.value[D]...}, box);
}

template <reduction_op Op, int Rank, bool Hint, class T>
__global__ void reduce(const __grid_constant__ inflight::tensor_map map, At at, const T* in,
                       int count) {
  alignas(128) __shared__ T box[256];
  for (int i = threadIdx.x; i < count; i += blockDim.x) box[i] = in[i];
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  reduce_box<Op, Rank, Hint>(map, at, box, std::make_index_sequence<Rank>());
  inflight::bulk_commit();
  inflight::bulk_wait();
}

// PTX ISA, "red": inc and dec wrap at the operand.
template <reduction_op Op, class T>
T apply(T a, T b) {
  if constexpr (Op == reduction_op::add) return T(a + b);
  if constexpr (Op == reduction_op::min) return b < a ? b : a;
  if constexpr (Op == reduction_op::max) return a < b ? b : a;
  if constexpr (Op == reduction_op::inc) return a >= b ? 0 : a + 1;
  if constexpr (Op == reduction_op::dec) return a == 0 || a > b ? b : a - 1;
  if constexpr (Op == reduction_op::bit_and) return a & b;
  if constexpr (Op == reduction_op::bit_or) return a | b;
  if constexpr (Op == reduction_op::bit_xor) return a ^ b;
}

template <class T>
std::vector<T> values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> some(count);
  for (T& value : some) {
    const std::uint64_t bits = random.next();
    if constexpr (std::is_integral<T>::value)
      value = T(seed % 2 ? bits : bits % 7);  // small values make inc and dec wrap
    else
      value = T(float(int(bits % 64) - 32) * 0.5f);  // sums are exact in every type
  }
  return some;
}

template <class T>
float as_float(T value) {
  if constexpr (std::is_same<T, __half>::value)
    return __half2float(value);
  else if constexpr (std::is_same<T, __nv_bfloat16>::value)
    return __bfloat162float(value);
  else
    return float(value);
}

template <reduction_op Op, int Rank, class T, bool Hint = false>
bool right(std::uint64_t seed) {
  std::vector<int> extents = {columns, Rank == 1 ? 1 : rows, 3, 2, 2};
  extents.resize(Rank);
  std::array<int, 5> box{8, Rank == 1 ? 1 : 4, 2, 1, 2};
  for (int i = Rank; i < 5; ++i) box[i] = 1;
  const At at = {{8, Rank == 1 ? 0 : 4, Rank > 2 ? 2 : 0, Rank > 3 ? 1 : 0, 0}};
  const Shape shape(extents);
  Buffer<T> tensor(values<T>(shape.size(), seed));
  const auto map =
      good(inflight::make_tensor_map<T>(tensor, shape.extents(), Shape::dims(box, Rank, 1)));
  const int count = box[0] * box[1] * box[2] * box[3] * box[4];
  const auto in = values<T>(count, seed + 2);
  Buffer<T> source(in);
  auto wanted = tensor.host;
  each_of_box(Rank, box, {1, 1, 1, 1, 1}, at, [&](long n, std::array<long, 5> where) {
    if (!shape.inside(where)) return;
    T& value = wanted[shape.index(where)];
    if constexpr (std::is_integral<T>::value)
      value = apply<Op>(value, in[n]);
    else
      value = T(apply<Op>(as_float(value), as_float(in[n])));
  });
  reduce<Op, Rank, Hint><<<1, 32>>>(map, at, source.device, count);
  tensor.read();
  bool same = true;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if constexpr (std::is_integral<T>::value)
      same &= tensor.host[i] == wanted[i];
    else
      same &= as_float(tensor.host[i]) == as_float(wanted[i]);
  return same;
}

template <reduction_op Op, class T>
void test(const char* what) {
  verdict(what, right<Op, 2, T>(1) && right<Op, 2, T, true>(2));
}

// Two blocks add their swizzled tiles to the same box.
using tile = inflight::swizzled_tile<float, 16, 32, inflight::swizzle::b128>;

__global__ void add_tiles(const __grid_constant__ inflight::tile_map<tile> map) {
  __shared__ tile box;
  for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x)
    box(i / 32, i % 32) = float((blockIdx.x + 1) * i);
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  inflight::reduce_async<reduction_op::add>(map, {32, 8}, box);
  inflight::bulk_commit();
  inflight::bulk_wait_read();
}

void test_tiles() {
  Buffer<float> tensor(std::vector<float>(64 * 24, 0.5f));
  add_tiles<<<2, 64>>>(good(inflight::make_tensor_map<tile>(tensor, {64, 24})));
  tensor.read();
  bool right = true;
  for (int i = 0; i < 64 * 24; ++i) {
    const int row = i / 64 - 8, column = i % 64 - 32;
    const float sum = row < 0 || column < 0 ? 0 : 3.0f * float(row * 32 + column);
    right &= tensor.host[i] == 0.5f + sum;
  }
  verdict("two blocks' swizzled tiles", right);
}

}  // namespace

int main() {
  test<reduction_op::add, std::uint32_t>("add u32");
  test<reduction_op::add, std::int32_t>("add s32");
  test<reduction_op::add, std::uint64_t>("add u64");
  test<reduction_op::add, float>("add f32");
  test<reduction_op::add, double>("add f64");
  test<reduction_op::add, __half>("add f16");
  test<reduction_op::add, __nv_bfloat16>("add bf16");
  test<reduction_op::min, std::uint32_t>("min u32");
  test<reduction_op::min, std::int32_t>("min s32");
  test<reduction_op::min, std::int64_t>("min s64");
  test<reduction_op::min, __half>("min f16");
  test<reduction_op::max, std::int32_t>("max s32");
  test<reduction_op::max, std::uint64_t>("max u64");
  test<reduction_op::max, __nv_bfloat16>("max bf16");
  test<reduction_op::inc, std::uint32_t>("inc u32");
  test<reduction_op::dec, std::uint32_t>("dec u32");
  test<reduction_op::bit_and, std::uint32_t>("and u32");
  test<reduction_op::bit_and, std::uint64_t>("and u64");
  test<reduction_op::bit_or, std::int32_t>("or s32");
  test<reduction_op::bit_xor, std::uint64_t>("xor u64");
  verdict("add s32, 1-D", right<reduction_op::add, 1, std::int32_t>(1));
  verdict("xor u32, 3-D", right<reduction_op::bit_xor, 3, std::uint32_t>(1));
  verdict("max s32, 4-D", right<reduction_op::max, 4, std::int32_t, true>(1));
  verdict("add f32, 5-D", right<reduction_op::add, 5, float>(1));
  test_tiles();
}
