// arch: sm_90a
// A kernel that changes tensor maps field by field, in global memory and through shared memory, and
// the copies that then use them, as kernels for groups of tensors do.
#include "tests/library/tensors.cuh"

namespace {

namespace ptx = inflight::ptx;
using inflight::map_space;
using inflight::reduction_op;
using inflight::tensor_map;

constexpr int most = 1024;

enum change { address, sizes, stride, box, step, swizzled, type, filled, rank, change_count };
const char* const names[] = {"address", "sizes", "stride", "box", "step",
                             "swizzle", "type",  "fill",   "rank"};

template <map_space Space>
__device__ void apply(change which, ptx::map_address<Space> map, const float* other) {
  switch (which) {
    case address:
      ptx::tensormap_replace_global_address<Space>(map, ptx::global_address(other));
      break;
    case sizes:
      ptx::tensormap_replace_global_dim<Space, 0>(map, 4);
      ptx::tensormap_replace_global_dim<Space, 1>(map, 3);
      break;
    case stride:
      ptx::tensormap_replace_global_stride<Space, 0>(map, 2 * 32 * 4);
      break;
    case box:
      ptx::tensormap_replace_box_dim<Space, 1>(map, 4);
      break;
    case step:
      ptx::tensormap_replace_element_stride<Space, 1>(map, 2);
      break;
    case swizzled:
      ptx::tensormap_replace_swizzle_mode<Space, static_cast<int>(inflight::swizzle::b32)>(map);
      break;
    case type:
      ptx::tensormap_replace_elemtype<Space, 2>(map);
      break;  // u32
    case filled:
      ptx::tensormap_replace_fill_mode<Space, 1>(map);
      ptx::tensormap_replace_global_dim<Space, 0>(map, 4);
      break;
    case rank:
      ptx::tensormap_replace_rank<Space>(map, 1);  // the rank minus one
      ptx::tensormap_replace_interleave_layout<Space, 0>(map);
      break;
    default:
      break;
  }
}

// Changes the map in place, or in a copy in shared memory that a warp then writes back.
template <bool ThroughShared>
__global__ void modify(tensor_map* map, change which, const float* other) {
  if constexpr (ThroughShared) {
    alignas(128) __shared__ tensor_map copy;
    for (int i = threadIdx.x; i < 16; i += 32) copy.opaque[i] = map->opaque[i];
    __syncwarp();
    if (threadIdx.x == 0) apply<map_space::shared>(which, ptx::shared_address(&copy), other);
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::global_address(map), ptx::shared_address(&copy));
  } else {
    if (threadIdx.x == 0) apply<map_space::global>(which, ptx::global_address(map), other);
    ptx::fence_proxy_tensormap_release();
  }
}

__global__ void load(const tensor_map* map, int bytes, unsigned* out) {
  alignas(1024) __shared__ unsigned tile[most];
  __shared__ inflight::barrier<> ready;
  for (int i = threadIdx.x; i < most; i += blockDim.x) tile[i] = 0xdddddddd;
  inflight::release_to_async();
  if (threadIdx.x == 0) ready.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::fence_proxy_tensormap_acquire(reinterpret_cast<std::uint64_t>(map));
    inflight::transaction copies(ready);
    inflight::prefetch_async(*map, {0, 1});
    inflight::prefetch_async(*map, {0, 1}, evict_first());
    inflight::copy_async(tile, *map, {0, 1}, ready);
    copies.expect(bytes);
    copies.arrive();
  }
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < most; i += blockDim.x) out[i] = tile[i];
}

// The expected box of 8 x 8 at (0, 1) of a 32 x 16 tensor after the change.
std::vector<unsigned> wanted(change which, const std::vector<float>& tensor,
                             const std::vector<float>& other) {
  std::vector<unsigned> tile(most, 0xdddddddd);
  const auto& from = which == address ? other : tensor;
  const int rows = which == box || which == step ? 4 : 8;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < 8; ++column) {
      const int y = 1 + row * (which == step ? 2 : 1), far = which == stride ? 64 : 32;
      unsigned bits;
      std::memcpy(&bits, &from[y * far + column], 4);
      if (which == sizes && (column >= 4 || y >= 3)) bits = 0;
      if (which == filled && column >= 4) bits = 0x7ff77ff7;
      unsigned byte = (row * 8 + column) * 4;
      if (which == swizzled) byte = inflight::swizzled_offset(inflight::swizzle::b32, byte);
      tile[byte / 4] = bits;
    }
  return tile;
}

template <bool ThroughShared>
void test(const char* where) {
  Buffer<float> tensor(numbered<float>(32 * 32)), other(numbered<float>(32 * 32, 7));
  const auto original = good(inflight::make_tensor_map(tensor.device, {32, 16}, {8, 8}));
  for (int i = 0; i < change_count; ++i) {
    const auto which = static_cast<change>(i);
    Buffer<tensor_map> map(std::vector<tensor_map>{original});
    Buffer<unsigned> out(most);
    modify<ThroughShared><<<1, 32>>>(map.device, which, other.device);
    load<<<1, 64>>>(map.device, which == box || which == step ? 128 : 256, out.device);
    verdict((std::string(where) + ", " + names[i]).c_str(),
            out.read() == wanted(which, tensor.host, other.host));
  }
}

}  // namespace

int main() {
  test<false>("in global memory");
  test<true>("by way of shared memory");
}
