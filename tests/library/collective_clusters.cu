// arch: sm_90a
// reduce and the scans over all threads of a cluster.
#include "collective_reference.cuh"

constexpr unsigned rounds = 3;

template <unsigned Threads, class T, class Op>
__global__ void clusters(const T* in, Results<T>* out, Op op) {
  __shared__ inflight::cluster_scratch<T, Threads, 8> scratch;
  auto cluster = inflight::this_cluster();
  auto team = inflight::with_scratch(cluster, scratch);
  const unsigned count = cluster.num_threads(), rank = cluster.thread_rank();
  for (unsigned round = 0; round < rounds; ++round)
    out[round * count + rank] = all_three(team, in[(rank + round) % count], op);
}

template <unsigned Threads, class T, class Op>
int errors_of(unsigned blocks, unsigned threads, Op op) {
  const unsigned count = blocks * threads;
  Buffer<T> in(make_values<T>(count, int(count)));
  Buffer<Results<T>> out(rounds * count);
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, clusters<Threads, T, Op>, (const T*)in.device, out.device, op));
  auto& got = out.read();
  int errors = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<T> values;
    for (unsigned i = 0; i < count; ++i) values.push_back(in.host[(i + round) % count]);
    errors += wrong(values, got, ranks(0, count), op, round * count);
  }
  return errors;
}

template <class T, class Op>
void test(const char* name, Op op) {
  say(name, "8 blocks of 128", errors_of<128, T>(8, 128, op));
  say(name, "4 blocks of 50", errors_of<inflight::any_threads, T>(4, 50, op));
  say(name, "2 blocks of 50", errors_of<50, T>(2, 50, op));
  say(name, "1 block of 64", errors_of<64, T>(1, 64, op));
}

// A cluster scans from a variable twice: after the first time, the variable holds the sum.
template <unsigned Threads>
__global__ void __cluster_dims__(4) go_on(int* target, int* got) {
  __shared__ inflight::cluster_scratch<int, Threads, 4> scratch;
  auto cluster = inflight::this_cluster();
  auto team = inflight::with_scratch(cluster, scratch);
  const int value = int(cluster.thread_rank()) + 1;
  int* own = got + 2 * cluster.thread_rank();
  own[0] = inflight::exclusive_scan_update(team, *target, value);
  own[1] = inflight::inclusive_scan_update(team, *target, value);
}

template <unsigned Threads>
int errors_going_on(int threads) {
  const int count = 4 * threads, start = 7, sum = count * (count + 1) / 2;
  Buffer<int> target(std::vector<int>{start}), got(2 * count);
  go_on<Threads><<<4, threads>>>(target.device, got.device);
  got.read();
  int errors = target.read()[0] != start + 2 * sum;
  for (int i = 0; i < count; ++i) {
    errors += got.host[2 * i] != start + i * (i + 1) / 2;
    errors += got.host[2 * i + 1] != start + sum + (i + 1) * (i + 2) / 2;
  }
  return errors;
}

int main() {
  test<int>("int plus", inflight::plus<int>());
  test<float>("float greater", inflight::greater<float>());
  test<Place>("12 bytes, the first of the greatest", First());
  test<Matrix>("32 bytes, a product", Product());
  say("12 bytes, the first of the greatest", "2 blocks of 800",
      errors_of<800, Place>(2, 800, First()));
  say("scan_update", "4 blocks of 64", errors_going_on<64>(64));
  say("scan_update", "4 blocks of 50", errors_going_on<inflight::any_threads>(50));
}
