// Unwritten shared memory that affects a result, and that does not.
// arch: sm_90a
#include "tests/kernels/check/check_test.cuh"

constexpr unsigned n = 128;

template <class T = int>
T* device(std::size_t count = n) {
  T* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  return p;
}

__device__ void wait(std::uint64_t* bar) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;\n}" ::"r"(shared_address(bar))
      : "memory");
}

__global__ void bulk(const int* in, int* out, unsigned bytes) {
  __shared__ alignas(128) int tile[n];
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&bar)),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_address(tile)),
        "l"(in), "r"(bytes), "r"(shared_address(&bar))
        : "memory");
  }
  __syncthreads();
  wait(&bar);
  out[threadIdx.x] = tile[threadIdx.x];  // [bulk]
}

__device__ void copy(int* to, const int* from, unsigned bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(bytes)
               : "memory");
}

__global__ void group(const int* in, int* out, unsigned count, bool fill) {
  __shared__ int tile[n];
  const unsigned i = threadIdx.x;
  if (fill || i < count) copy(&tile[i], &in[i], i < count ? 4 : 0);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const int value = tile[i ^ 1];  // [group]
  out[i] = value * 2;             // [twice]
}

__global__ void only_those_copied(const int* in, int* out, unsigned count) {
  __shared__ int tile[n];
  const unsigned i = threadIdx.x;
  if (i < count) tile[i] = in[i];
  __syncthreads();
  const int value = 3 * tile[n - 1 - i] + 1;
  if (n - 1 - i < count) out[i] = value;
}

__global__ void tree(const int* in, int* out, unsigned count) {
  extern __shared__ int sums[];
  const unsigned i = threadIdx.x;
  if (i < count) sums[i] = in[i];
  __syncthreads();
  for (unsigned step = n / 2; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step];  // [sum]
    __syncthreads();
  }
  if (i == 0) out[0] = sums[0];  // [root]
}

// One warp scans a sum per lane, though fewer were written. The others are not used.
__global__ void scan_of_a_whole_warp(const int* in, int* out) {
  __shared__ int sums[32];
  const unsigned i = threadIdx.x;
  if (i % 32 == 0) sums[i / 32] = in[i];
  __syncthreads();
  if (i < 32) {
    int sum = sums[i];
    for (int d = 1; d < 32; d *= 2) {
      const int before = __shfl_up_sync(~0u, sum, d);
      if (i >= d) sum += before;
    }
    sums[i] = sum;
  }
  __syncthreads();
  out[i] = sums[i / 32];
}

// The slots of warps that do not exist are read, and the values are discarded.
__global__ void warp_slots(const int* in, int* out) {
  __shared__ int slots[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = in[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) slots[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = slots[lane];
  for (int step = 2; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) out[0] = sum;
}

__global__ void halo(const int* in, int* out) {
  __shared__ int tile[n + 2];
  const unsigned i = threadIdx.x;
  tile[i + 1] = in[i];
  __syncthreads();
  const int left = tile[i], right = tile[i + 2];
  out[i] = (i > 0 ? left : 0) + (i < n - 1 ? right : 0);
}

struct alignas(16) Point {
  float x, y, z;
};
// The bytes after z are copied with it.
__global__ void padded(const Point* in, Point* out) {
  __shared__ Point points[n];
  const unsigned i = threadIdx.x;
  points[i].x = in[i].x, points[i].y = in[i].y, points[i].z = in[i].z;
  __syncthreads();
  reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(points)[n - 1 - i];
}

__global__ void index(const int* in, int* out, unsigned count) {
  __shared__ int order[n];
  const unsigned i = threadIdx.x;
  if (i < count) order[i] = n - 1 - i;
  __syncthreads();
  out[i] = in[order[i] & (n - 1)];  // [index]
}

// The thread itself writes the bytes before what it has read reaches the result.
enum class Overwrites { by_store, by_copy, before };
template <Overwrites how>
__global__ void overwritten(const int* in, int* out) {
  __shared__ volatile int tile[n];
  const unsigned t = threadIdx.x;
  if (how == Overwrites::before) tile[t] = in[t];
  const int early = tile[t] * 2;  // [early]
  if (how == Overwrites::by_store) tile[t] = in[t];
  if (how == Overwrites::by_copy) {
    copy(const_cast<int*>(&tile[t]), &in[t], 4);
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  out[t] = early + tile[t];  // [result]
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"short_bulk_copy", [] { bulk<<<1, n>>>(device(), device(), 4 * n - 64); }},
       {"short_bulk_copy_twin", [] { bulk<<<1, n>>>(device(), device(), 4 * n); }},
       {"short_group_copy", [] { group<<<1, n>>>(device(), device(), 100, false); }},
       {"short_group_copy_twin", [] { group<<<1, n>>>(device(), device(), n, false); }},
       {"zero_fill", [] { group<<<1, n>>>(device(), device(), 100, true); }},
       {"tree", [] { tree<<<1, n, 4 * n>>>(device(), device(), 100); }},
       {"scan_of_a_whole_warp", [] { scan_of_a_whole_warp<<<1, n>>>(device(), device()); }},
       {"tree_twin", [] { tree<<<1, n, 4 * n>>>(device(), device(), n); }},
       {"index", [] { index<<<1, n>>>(device(), device(), 100); }},
       {"index_twin", [] { index<<<1, n>>>(device(), device(), n); }},
       {"dropped_by_a_branch", [] { only_those_copied<<<1, n>>>(device(), device(), 100); }},
       {"dropped_by_a_shuffle", [] { warp_slots<<<1, n>>>(device(), device()); }},
       {"dropped_by_a_choice", [] { halo<<<1, n>>>(device(), device()); }},
       {"overwritten", [] { overwritten<Overwrites::by_store><<<1, n>>>(device(), device()); }},
       {"overwritten_by_copy",
        [] { overwritten<Overwrites::by_copy><<<1, n>>>(device(), device()); }},
       {"overwritten_twin", [] { overwritten<Overwrites::before><<<1, n>>>(device(), device()); }},
       {"padding", [] { padded<<<1, n>>>(device<Point>(), device<Point>()); }}});
}
