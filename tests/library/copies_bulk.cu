// arch: sm_90a
// Direct use of bulk copies: load, multicast, to another block, store, reductions, prefetch,
// transactions.
#include <inflight/copy.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int blocks = 2, count = 256;
constexpr unsigned bytes = count * sizeof(int);

__device__ unsigned block_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\n barrier.cluster.wait.acquire;" ::: "memory");
}

// A transaction loads two tiles in one phase; they are stored swapped.
__global__ void load_store(int* out, const int* in) {
  alignas(128) __shared__ int a[count], b[count];
  __shared__ inflight::barrier<> full;
  if (threadIdx.x == 0) {
    inflight::bulk_prefetch(in, bytes);
    full.init(1);
    inflight::transaction copies(full);
    copies.load(a, in, bytes);
    copies.load(b, in + count, bytes);
    copies.arrive();
  }
  __syncthreads();
  full.wait_parity(0);
  for (int i = threadIdx.x; i < count; i += blockDim.x) a[i] += 1, b[i] += 2;
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::bulk_store(out, b, bytes);
    inflight::bulk_commit();
    inflight::bulk_store(out + count, a, bytes);
    inflight::bulk_commit();
    inflight::bulk_wait_read<1>();
    inflight::bulk_wait<0>();
  }
}

// A tile for both blocks of the cluster, and each block's own tile to the other block.
__global__ void __cluster_dims__(blocks, 1, 1) in_cluster(int* out, const int* in) {
  alignas(128) __shared__ int shared[count], own[count], other[count];
  __shared__ inflight::barrier<> both, exchanged;
  const unsigned rank = block_rank();
  for (int i = threadIdx.x; i < count; i += blockDim.x) own[i] = int(rank) * 1000 + i;
  if (threadIdx.x == 0) {
    both.init(1);
    exchanged.init(1);
    inflight::ptx::mbarrier_expect_tx(both.address(), bytes);
    both.arrive();
    inflight::transaction incoming(exchanged);
    incoming.expect(bytes);
    incoming.arrive();
  }
  inflight::release_to_async();
  cluster_sync();
  if (threadIdx.x == 0) {
    if (rank == 0) inflight::bulk_multicast(shared, in, bytes, both, 3);
    inflight::bulk_to_block(other, own, bytes, rank ^ 1, exchanged);
  }
  both.wait_parity(0);
  exchanged.wait_parity(0);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    out[rank * count + i] = shared[i];
    out[(blocks + rank) * count + i] = other[i];
  }
  cluster_sync();
}

template <inflight::reduction_op operation, class T>
__global__ void reduce(T* global, const T* with) {
  alignas(128) __shared__ T shared[16];
  if (threadIdx.x < 16) shared[threadIdx.x] = with[threadIdx.x];
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    inflight::bulk_reduce<operation>(global, shared, sizeof shared);
    inflight::bulk_commit();
    inflight::bulk_wait<0>();
  }
}

template <inflight::reduction_op operation, class T, class F>
void check(const char* name, F f) {
  std::vector<T> there(16), with(16);
  for (int i = 0; i < 16; ++i) there[i] = T(i * 37 % 23), with[i] = T(i * 29 % 19);
  Buffer<T> global(there), operand(with);
  reduce<operation><<<1, 32>>>(global.device, operand.device);
  global.read();
  bool right = true;
  for (int i = 0; i < 16; ++i) right &= float(global.host[i]) == float(T(f(there[i], with[i])));
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
}

// Every block adds its tile to block 0's.
template <inflight::reduction_op operation, class T>
__global__ void __cluster_dims__(4, 1, 1) reduce_there(T* out) {
  alignas(128) __shared__ T sum[16], mine[16];
  __shared__ inflight::barrier<> done;
  const unsigned rank = block_rank();
  if (threadIdx.x < 16)
    sum[threadIdx.x] = T(threadIdx.x % 4 + 1), mine[threadIdx.x] = T(rank + threadIdx.x % 3);
  if (threadIdx.x == 0) {
    done.init(1);
    if (rank == 0) {
      inflight::transaction incoming(done);
      incoming.expect(4 * sizeof mine);
      incoming.arrive();
    }
  }
  inflight::release_to_async();
  cluster_sync();
  if (threadIdx.x == 0) inflight::bulk_reduce_to_block<operation>(sum, mine, sizeof mine, 0, done);
  if (rank == 0) {
    done.wait_parity(0);
    if (threadIdx.x < 16) out[threadIdx.x] = sum[threadIdx.x];
  }
  cluster_sync();
}

template <inflight::reduction_op operation, class T, class F>
void check_there(const char* name, F f) {
  Buffer<T> out(16);
  reduce_there<operation, T><<<4, 32>>>(out.device);
  out.read();
  bool right = true;
  for (int i = 0; i < 16; ++i) {
    T value = T(i % 4 + 1);
    for (int rank = 0; rank < 4; ++rank) value = T(f(value, T(rank + i % 3)));
    right &= out.host[i] == value;
  }
  std::printf("there, %s: %s\n", name, right ? "right" : "WRONG");
}

const auto add = [](auto a, auto b) { return a + b; };
const auto least = [](auto a, auto b) { return a < b ? a : b; };
const auto most = [](auto a, auto b) { return a < b ? b : a; };
const auto both = [](auto a, auto b) { return a & b; };
const auto either = [](auto a, auto b) { return a | b; };
const auto one = [](auto a, auto b) { return a ^ b; };
const auto inc = [](auto a, auto b) { return a >= b ? 0 : a + 1; };
const auto dec = [](auto a, auto b) { return a == 0 || a > b ? b : a - 1; };

template <class T>
void integers(const char* name) {
  using inflight::reduction_op;
  std::printf("%s\n", name);
  check<reduction_op::add, T>("add", add);
  check<reduction_op::min, T>("min", least);
  check<reduction_op::max, T>("max", most);
  check<reduction_op::bit_and, T>("and", both);
  check<reduction_op::bit_or, T>("or", either);
  check<reduction_op::bit_xor, T>("xor", one);
}
template <class T>
void halves(const char* name) {
  using inflight::reduction_op;
  std::printf("%s\n", name);
  check<reduction_op::add, T>("add", [](T a, T b) { return float(a) + float(b); });
  check<reduction_op::min, T>("min", [](T a, T b) { return float(a) < float(b) ? a : b; });
  check<reduction_op::max, T>("max", [](T a, T b) { return float(a) < float(b) ? b : a; });
}

}  // namespace

int main() {
  using inflight::reduction_op;
  std::vector<int> values(2 * count);
  for (int i = 0; i < 2 * count; ++i) values[i] = i * 3;
  const auto source = values;
  Buffer<int> in(source), out(2 * blocks * count);
  load_store<<<1, 64>>>(out, in);
  out.read();
  bool right = true;
  for (int i = 0; i < count; ++i)
    right &= out.host[i] == source[count + i] + 2 && out.host[count + i] == source[i] + 1;
  std::printf("load and store: %s\n", right ? "right" : "WRONG");

  in_cluster<<<blocks, 64>>>(out, in);
  out.read();
  right = true;
  for (int r = 0; r < blocks; ++r)
    for (int i = 0; i < count; ++i)
      right &= out.host[r * count + i] == source[i] &&
               out.host[(blocks + r) * count + i] == (r ^ 1) * 1000 + i;
  std::printf("multicast, to another block: %s\n", right ? "right" : "WRONG");

  integers<unsigned>("unsigned");
  check<reduction_op::inc, unsigned>("inc", inc);
  check<reduction_op::dec, unsigned>("dec", dec);
  integers<int>("int");
  integers<unsigned long long>("unsigned long long");
  integers<long long>("long long");
  halves<__half>("__half");
  halves<__nv_bfloat16>("__nv_bfloat16");
  check<reduction_op::add, float>("float add", add);
  check<reduction_op::add, double>("double add", add);

  check_there<reduction_op::add, unsigned>("unsigned add", add);
  check_there<reduction_op::add, int>("int add", add);
  check_there<reduction_op::add, unsigned long long>("unsigned long long add", add);
  check_there<reduction_op::min, unsigned>("unsigned min", least);
  check_there<reduction_op::min, int>("int min", least);
  check_there<reduction_op::max, unsigned>("unsigned max", most);
  check_there<reduction_op::max, int>("int max", most);
  check_there<reduction_op::bit_and, unsigned>("unsigned and", both);
  check_there<reduction_op::bit_and, int>("int and", both);
  check_there<reduction_op::bit_or, unsigned>("unsigned or", either);
  check_there<reduction_op::bit_or, int>("int or", either);
  check_there<reduction_op::bit_xor, unsigned>("unsigned xor", one);
  check_there<reduction_op::bit_xor, int>("int xor", one);
}
