// arch: sm_90a
// The effect of a map's options on a load: slices of channels, NaN around a tensor, tf32, and tiles
// that are windows into one row.
#include "tests/library/tensors.cuh"

namespace {

constexpr int most = 4096;

template <int Rank, std::size_t... D>
__device__ void load_box(void* box, const inflight::tensor_map& map, const At& at,
                         inflight::barrier<>& ready, std::index_sequence<D...>) {
  inflight::copy_async(static_cast<unsigned char*>(box), map, {at.value[D]...}, ready);
}

template <int Rank>
__global__ void load(const __grid_constant__ inflight::tensor_map map, At at, unsigned* out,
                     int bytes) {
  alignas(1024) __shared__ unsigned box[most / 4];
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    load_box<Rank>(box, map, at, ready, std::make_index_sequence<Rank>());
    inflight::transaction copies(ready);
    copies.expect(bytes);
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = box[i];
}

// The box at `at`, as 32-bit words.
template <int Rank>
std::vector<unsigned> box(const inflight::tensor_map& map, At at, int bytes) {
  Buffer<unsigned> out(bytes / 4);
  load<Rank><<<1, 64>>>(map, at, out.device, bytes);
  return out.read();
}

// Dimensions W, H, slices, N: a position of dimension 0 is a whole slice, and a copy takes one
// slice.
void slices(const char* what, inflight::tensor_interleave interleave, int words) {
  const Shape shape({6, 5, 3, 2});
  Buffer<unsigned> tensor(numbered<unsigned>(shape.size() * words));
  inflight::tensor_map_options options;
  options.interleave = interleave;
  if (words == 8) options.swizzle = inflight::swizzle::b32;
  const auto map =
      good(inflight::make_tensor_map(tensor.device, shape.extents(), {4, 3, 1, 2}, options));
  bool right = true;
  for (const At& at : {At{{1, 1, 2, 0}}, At{{-1, 3, 0, 1}}}) {
    const auto got = box<4>(map, at, 4 * 3 * 2 * words * 4);
    each_of_box(4, {4, 3, 1, 2, 1}, {1, 1, 1, 1, 1}, at, [&](long n, std::array<long, 5> where) {
      for (int w = 0; w < words; ++w) {
        const unsigned wanted =
            shape.inside(where) ? tensor.host[shape.index(where) * words + w] : 0;
        right &= got[inflight::swizzled_offset(options.swizzle, (n * words + w) * 4) / 4] == wanted;
      }
    });
  }
  verdict(what, right);
}

void not_a_number() {
  Buffer<float> tensor(numbered<float>(64));
  inflight::tensor_map_options options;
  options.fill = inflight::tensor_fill::nan;
  options.l2_promotion = inflight::tensor_l2_promotion::b128;
  const auto map = good(inflight::make_tensor_map(tensor.device, {64}, {16}, options));
  const auto got = box<1>(map, {{56}}, 64);
  bool right = std::memcmp(got.data(), &tensor.host[56], 32) == 0;
  for (int i = 8; i < 16; ++i) right &= got[i] == 0x7ff77ff7;
  verdict("NaN past the end", right);
}

// tf32 lacks 13 bits of f32; the load rounds to nearest, ties to even.
void tf32() {
  std::vector<float> values(64);
  Random random(5);
  for (float& value : values) value = float(random.next32()) / 3.0f;
  Buffer<float> tensor(values);
  inflight::tensor_map_options options;
  options.type = inflight::tensor_type::tf32;
  const auto got =
      box<1>(good(inflight::make_tensor_map(tensor.device, {64}, {64}, options)), {{0}}, 256);
  bool right = true;
  for (int i = 0; i < 64; ++i) {
    unsigned bits;
    std::memcpy(&bits, &values[i], 4);
    const unsigned odd = bits >> 13 & 1;
    right &= got[i] == ((bits + 0xfff + odd) & ~0x1fffu);
  }
  verdict("tf32 rounds", right);
}

// Row k of the tensor begins four elements after row k - 1.
void windows() {
  Buffer<unsigned> tensor(numbered<unsigned>(128));
  inflight::tensor_map_options options;
  options.strides = {16};
  options.overlapping = true;
  const auto map = good(inflight::make_tensor_map(tensor.device, {32, 24}, {16, 8}, options));
  const auto got = box<2>(map, {{4, 5}}, 16 * 8 * 4);
  bool right = true;
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 16; ++column)
      right &= got[row * 16 + column] == tensor.host[(5 + row) * 4 + 4 + column];
  verdict("windows that overlap", right);
}

}  // namespace

int main() {
  slices("slices of 16 bytes", inflight::tensor_interleave::b16, 4);
  slices("slices of 32 bytes", inflight::tensor_interleave::b32, 8);
  not_a_number();
  tf32();
  windows();
}
