// arch: sm_90a
// CUDA's names for barriers that count bytes and for bulk and tensor copies: inflight::device.
#include <cuda.h>

#include <inflight/device.cuh>

#include "tests/library/tensors.cuh"

namespace {

constexpr int threads = 64, words = 256;
using Barrier = inflight::barrier<inflight::thread_scope_block>;
namespace cde = inflight::device::experimental;

// --- barriers ---

// The ways to set how many bytes a phase expects.
enum Way { arrive_tx, arrive_two_tx, expect_tx, native, bulk, ways };
const char* const names[] = {"memcpy_async_tx and barrier_arrive_tx", "barrier_arrive_tx of two",
                             "barrier_expect_tx", "barrier_native_handle",
                             "cp_async_bulk_global_to_shared"};

template <int way>
__global__ void load(int* out, const int* in) {
  alignas(16) __shared__ int shared[words];
  __shared__ Barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + (way == arrive_two_tx));
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    const inflight::aligned_size_t<16> bytes(sizeof(shared));
    if constexpr (way == bulk)
      cde::cp_async_bulk_global_to_shared(shared, in, sizeof(shared), bar);
    else
      inflight::device::memcpy_async_tx(shared, in, bytes, bar);
    if constexpr (way == expect_tx) {
      inflight::device::barrier_expect_tx(bar, sizeof(shared));
      token = bar.arrive();
    } else if constexpr (way == native) {
      std::uint64_t* handle = inflight::device::barrier_native_handle(bar);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                   : "=l"(token)
                   : "r"(inflight::ptx::shared_address(handle)), "r"(unsigned(sizeof(shared)))
                   : "memory");
    } else {
      token =
          inflight::device::barrier_arrive_tx(bar, way == arrive_two_tx ? 2 : 1, sizeof(shared));
    }
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < words; i += threads) out[i] = shared[words - 1 - i];
}

template <int way>
void check_loads() {
  Buffer<int> in(numbered<int>(words, way + 1)), out(words);
  load<way><<<1, threads>>>(out, in);
  verdict(names[way], out.read() == std::vector<int>(in.host.rbegin(), in.host.rend()));
  if constexpr (way + 1 < ways) check_loads<way + 1>();
}

// No bytes: an ordinary arrival, and several at once by one thread.
__global__ void arrivals(int* out) {
  __shared__ int value[threads];
  __shared__ Barrier bar;
  if (threadIdx.x == 0) init(&bar, 3 * threads);
  __syncthreads();
  value[threadIdx.x] = threadIdx.x * threadIdx.x;
  bar.wait(inflight::device::barrier_arrive_tx(bar, 3, 0));
  out[threadIdx.x] = value[threads - 1 - threadIdx.x];
}

// --- stores ---

// Two groups, one for each half. The issuing thread reads what they wrote, and overwrites one
// source as soon as it has been read.
__global__ void store(int* out, int* again, const int* in) {
  alignas(16) __shared__ int shared[2][words];
  for (int i = threadIdx.x; i < 2 * words; i += threads) shared[i / words][i % words] = in[i] + 1;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int half = 0; half < 2; ++half) {
    cde::cp_async_bulk_shared_to_global(out + half * words, shared[half], sizeof(shared[half]));
    cde::cp_async_bulk_commit_group();
  }
  cde::cp_async_bulk_wait_group_read<1>();
  for (int& each : shared[0]) each = -1;
  cde::cp_async_bulk_wait_group<1>();
  for (int i = 0; i < words; ++i) again[i] = out[i];
  cde::cp_async_bulk_wait_group<0>();
  for (int i = words; i < 2 * words; ++i) again[i] = out[i];
  cde::cp_async_bulk_wait_group_read<0>();
}

void check_stores() {
  Buffer<int> in(numbered<int>(2 * words)), out(2 * words), again(2 * words);
  store<<<1, threads>>>(out, again, in);
  std::vector<int> wanted = in.host;
  for (int& each : wanted) ++each;
  const bool right = out.read() == wanted;
  verdict("cp_async_bulk_shared_to_global", right && again.read() == wanted);
}

// --- tensors ---

constexpr int rank_words[] = {0, 32, 16 * 8, 8 * 4 * 2, 8 * 4 * 3 * 2, 4 * 3 * 2 * 2 * 2};

template <int Rank, class Map>
__device__ void load_box(int* box, const Map* map, const At& at, Barrier& bar) {
  const int(&c)[5] = at.value;
  if constexpr (Rank == 1) cde::cp_async_bulk_tensor_1d_global_to_shared(box, map, c[0], bar);
  if constexpr (Rank == 2) cde::cp_async_bulk_tensor_2d_global_to_shared(box, map, c[0], c[1], bar);
  if constexpr (Rank == 3)
    cde::cp_async_bulk_tensor_3d_global_to_shared(box, map, c[0], c[1], c[2], bar);
  if constexpr (Rank == 4)
    cde::cp_async_bulk_tensor_4d_global_to_shared(box, map, c[0], c[1], c[2], c[3], bar);
  if constexpr (Rank == 5)
    cde::cp_async_bulk_tensor_5d_global_to_shared(box, map, c[0], c[1], c[2], c[3], c[4], bar);
}

template <int Rank, class Map>
__device__ void store_box(const Map* map, const At& at, const int* box) {
  const int(&c)[5] = at.value;
  if constexpr (Rank == 1) cde::cp_async_bulk_tensor_1d_shared_to_global(map, c[0], box);
  if constexpr (Rank == 2) cde::cp_async_bulk_tensor_2d_shared_to_global(map, c[0], c[1], box);
  if constexpr (Rank == 3)
    cde::cp_async_bulk_tensor_3d_shared_to_global(map, c[0], c[1], c[2], box);
  if constexpr (Rank == 4)
    cde::cp_async_bulk_tensor_4d_shared_to_global(map, c[0], c[1], c[2], c[3], box);
  if constexpr (Rank == 5)
    cde::cp_async_bulk_tensor_5d_shared_to_global(map, c[0], c[1], c[2], c[3], c[4], box);
}

// Loads the box at `from` and stores x -> 2x + its index at `to`.
template <int Rank, class Map>
__global__ void move_box(const __grid_constant__ Map map, At from, At to) {
  constexpr int size = rank_words[Rank];
  alignas(128) __shared__ int box[size];
  __shared__ Barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    load_box<Rank>(box, &map, from, bar);
    token = inflight::device::barrier_arrive_tx(bar, 1, sizeof(box));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < size; i += threads) box[i] = 2 * box[i] + i;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_box<Rank>(&map, to, box);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

template <int Rank>
void check_tensor(const Shape& shape, std::array<int, 5> box, At from, At to) {
  for (bool of_cuda : {true, false}) {
    Buffer<int> tensor(numbered<int>(shape.size(), Rank));
    const auto map = good(inflight::make_tensor_map(
        tensor.device, shape.extents(), Shape::dims(box, Rank, 1), shape.options(sizeof(int))));
    std::vector<int> wanted = tensor.host;
    std::vector<int> loaded;
    const std::array<int, 5> step{1, 1, 1, 1, 1};
    each_of_box(Rank, box, step, from, [&](long, std::array<long, 5> at) {
      loaded.push_back(shape.inside(at) ? wanted[shape.index(at)] : 0);
    });
    each_of_box(Rank, box, step, to, [&](long n, std::array<long, 5> at) {
      if (shape.inside(at)) wanted[shape.index(at)] = 2 * loaded[n] + int(n);
    });
    if (of_cuda) {
      CUtensorMap same;
      static_assert(sizeof(same) == sizeof(map), "Both are the 128 bytes that the driver writes.");
      std::memcpy(&same, &map, sizeof(map));
      move_box<Rank><<<1, threads>>>(same, from, to);
    } else {
      move_box<Rank><<<1, threads>>>(map, from, to);
    }
    std::printf("%dd through a ", Rank);
    verdict(of_cuda ? "CUtensorMap" : "tensor_map", tensor.read() == wanted);
  }
}

}  // namespace

int main() {
  check_loads<0>();
  Buffer<int> out(threads);
  arrivals<<<1, threads>>>(out);
  bool right = true;
  out.read();
  for (int t = 0; t < threads; ++t) right &= out.host[t] == (threads - 1 - t) * (threads - 1 - t);
  verdict("barrier_arrive_tx of three without bytes", right);
  check_stores();
  check_tensor<1>(Shape({200}), {32, 1, 1, 1, 1}, {{180}}, {{16}});
  check_tensor<2>(Shape({52, 30}, 4), {16, 8, 1, 1, 1}, {{-4, 25}}, {{40, 9}});
  check_tensor<3>(Shape({20, 9, 7}), {8, 4, 2, 1, 1}, {{4, 3, 5}}, {{12, 6, 5}});
  check_tensor<4>(Shape({16, 7, 6, 5}), {8, 4, 3, 2, 1}, {{4, 2, -1, 3}}, {{8, 1, 2, 0}});
  check_tensor<5>(Shape({12, 5, 4, 6, 3}), {4, 3, 2, 2, 2}, {{4, 1, 2, 3, 0}}, {{8, 2, 0, 3, 1}});
}
