// inclusive_scan_update, exclusive_scan_update, and reductions into a target, for all kinds of
// groups and of targets: plain variables, cuda::atomic and cuda::atomic_ref, in global and shared
// memory.
#include <cuda/atomic>

#include "collective_reference.cuh"

constexpr unsigned threads = 512, blocks = 2;

// x -> a * x + b: composition is associative and does not commute.
struct Affine {
  unsigned a, b;
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& first, const Affine& then) const {
    return {first.a * then.a, then.a * first.b + then.b};
  }
};

// All values differ, and none is the neutral element.
template <class V>
__host__ __device__ V value_of(unsigned i) {
  const unsigned some = (i * 421 + 77) % (threads * blocks) + 1;
  if constexpr (std::is_same_v<V, Affine>)
    return {some % 5 * 2 + 1, some};
  else
    return V(some);
}

// The type in memory, and the kernel's access to it.
template <class V>
struct Plain {
  V held;
  __device__ V& target() { return held; }
};
template <class V>
struct Atomic {
  cuda::atomic<V, cuda::thread_scope_device> held;
  __device__ auto& target() { return held; }
};
template <class V>
struct Reference {
  V held;
  __device__ cuda::atomic_ref<V, cuda::thread_scope_device> target() {
    return cuda::atomic_ref<V, cuda::thread_scope_device>(held);
  }
};

// Each thread's results, its group and its rank there.
template <class V>
struct Got {
  V inclusive, exclusive;
  unsigned group, rank;
};

template <class Group, class Held, class V, class Op>
__device__ void scan_both(const Group& group, Held* held, unsigned i, Op op, Got<V>& got) {
  auto&& up = held[0].target();
  auto&& below = held[1].target();
  got.rank = unsigned(group.thread_rank());
  got.inclusive = inflight::inclusive_scan_update(group, up, value_of<V>(i), op);
  got.exclusive = inflight::exclusive_scan_update(group, below, value_of<V>(i), op);
}

constexpr unsigned gathered = 0, whole_block = 1024;  // in place of a tile's size

template <unsigned Size, class Held, class V, class Op>
__device__ void scan(Held* held, Got<V>* all, Op op) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const auto block = inflight::this_thread_block();
  if constexpr (Size == whole_block) {
    __shared__ inflight::block_scratch<V, threads> scratch;
    all[i].group = blockIdx.x;
    scan_both(inflight::with_scratch(block, scratch), held, i, op, all[i]);
  } else if constexpr (Size == gathered) {
    const auto warp = inflight::tiled_partition<32>(block);
    const auto group = inflight::binary_partition(warp, i * 2654435761u >> 31);
    all[i].group = i / 32 * 2 + group.meta_group_rank();
    scan_both(group, held, i, op, all[i]);
  } else {
    all[i].group = i / Size;
    scan_both(inflight::tiled_partition<Size>(block), held, i, op, all[i]);
  }
}

// Two targets for the grid; or two in the shared memory of each block.
template <unsigned Size, class Held, class V, class Op>
__global__ void in_global(Held* held, Got<V>* all, Op op) {
  scan<Size>(held, all, op);
}
template <unsigned Size, class Held, class V, class Op>
__global__ void in_shared(Held* held, Got<V>* all, Op op) {
  __shared__ Held own[2];
  unsigned* words = reinterpret_cast<unsigned*>(own);
  unsigned* outside = reinterpret_cast<unsigned*>(held + 2 * blockIdx.x);
  constexpr unsigned count = sizeof own / 4;
  if (threadIdx.x < count) words[threadIdx.x] = outside[threadIdx.x];
  __syncthreads();
  scan<Size>(own, all, op);
  __syncthreads();
  if (threadIdx.x < count) outside[threadIdx.x] = words[threadIdx.x];
}

// Checks that the groups updated the target one by one, in some order from `state` to `end`. Each
// finds the value that the one before it left, and its members get that combined with the scan.
template <class V, class Op>
int unlike_a_chain(const Got<V>* all, unsigned first, unsigned count, bool inclusive, V state,
                   V end, Op op) {
  std::vector<std::vector<unsigned>> groups;
  for (unsigned i = first; i < first + count; ++i) {
    if (groups.size() <= all[i].group) groups.resize(all[i].group + 1);
    auto& group = groups[all[i].group];
    if (group.size() <= all[i].rank) group.resize(all[i].rank + 1);
    group[all[i].rank] = i;
  }
  std::vector<std::vector<unsigned>> waiting;
  for (auto& group : groups)
    if (!group.empty()) waiting.push_back(group);
  // Whether a group's results are what it would get if it were next; `left` is what it would leave.
  const auto follows = [&](const std::vector<unsigned>& group, V& left) {
    left = state;
    for (unsigned i : group) {
      if (!inclusive && !same(all[i].exclusive, left)) return false;
      left = op(left, value_of<V>(i));
      if (inclusive && !same(all[i].inclusive, left)) return false;
    }
    return true;
  };
  // If several could be next (for the greatest so far), takes the one that changes least.
  while (!waiting.empty()) {
    std::size_t next = waiting.size();
    V left, after = state;
    for (std::size_t at = 0; at < waiting.size(); ++at) {
      if (!follows(waiting[at], left)) continue;
      if constexpr (std::is_arithmetic_v<V>)
        if (next != waiting.size() && after < left) continue;
      next = at, after = left;
    }
    if (next == waiting.size()) return int(waiting.size());
    state = after;
    waiting.erase(waiting.begin() + long(next));
  }
  return !same(state, end);
}

template <unsigned Size, template <class> class Kind, class V, class Op>
int errors_of(V start, Op op) {
  using Held = Kind<V>;
  static_assert(sizeof(Held) == sizeof(V), "read and written as plain values here");
  int errors = 0;
  for (bool shared : {false, true}) {
    Buffer<V> held(std::vector<V>(2 * blocks, start));
    Buffer<Got<V>> got(threads * blocks);
    Held* to = reinterpret_cast<Held*>(held.device);
    if (shared)
      in_shared<Size><<<blocks, threads>>>(to, got.device, op);
    else
      in_global<Size><<<blocks, threads>>>(to, got.device, op);
    held.read(), got.read();
    const unsigned parts = shared ? blocks : 1, count = threads * blocks / parts;
    for (unsigned part = 0; part < parts; ++part)
      for (int which : {0, 1})
        errors += unlike_a_chain(got.host.data(), part * count, count, which == 0, start,
                                 held.host[2 * part + which], op);
  }
  return errors;
}

template <unsigned Size>
void test(const char* group) {
  const auto report = [&](const char* kind, int errors) {
    char name[80];
    std::snprintf(name, sizeof name, "%s, %s", group, kind);
    say("scan_update", name, errors);
  };
  report("int", errors_of<Size, Plain>(3, inflight::plus<int>()));
  report("float", errors_of<Size, Plain>(0.5f, inflight::plus<float>()));
  report("a type of the program's", errors_of<Size, Plain>(Affine{1, 0}, Compose()));
  report("atomic", errors_of<Size, Atomic>(7ull, inflight::plus<unsigned long long>()));
  report("atomic, the greatest", errors_of<Size, Atomic>(20, inflight::greater<int>()));
  report("atomic_ref", errors_of<Size, Reference>(-9ll, inflight::plus<long long>()));
  report("atomic_ref, in double", errors_of<Size, Reference>(0.25, inflight::plus<double>()));
}

// Reductions into atomics, and scans without an operator whose target has another type.
struct Totals {
  cuda::atomic<unsigned, cuda::thread_scope_device> sum, all, any, odd, least;
  unsigned product;
  cuda::atomic<double, cuda::thread_scope_device> floating, stored;
  unsigned long long wide;
  short pointed;
};

__global__ void reduce_into(Totals* to) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  inflight::reduce_update_async(tile, to->sum, i, inflight::plus<unsigned>());
  inflight::reduce_update_async(tile, to->all, ~i, inflight::bit_and<unsigned>());
  inflight::reduce_update_async(tile, to->any, i, inflight::bit_or<unsigned>());
  inflight::reduce_update_async(tile, to->odd, i * i, inflight::bit_xor<unsigned>());
  inflight::reduce_update_async(tile, to->least, i + 5, inflight::less<unsigned>());
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> product(to->product);
  inflight::reduce_update_async(tile, product, 2 * i + 1,
                                [](unsigned a, unsigned b) { return a * b; });
  inflight::reduce_update_async(tile, to->floating, float(i), inflight::plus<float>());
  inflight::exclusive_scan_update(tile, to->wide, short(i));
  if (i < 32) {
    inflight::reduce_store_async(tile, to->stored, i, inflight::plus<unsigned>());
    inflight::reduce_store_async(tile, &to->pointed, i, inflight::plus<unsigned>());
  }
}

int main() {
  test<1>("a thread");
  test<4>("tile of 4");
  test<32>("tile of 32");
  test<128>("tile of 128");
  test<512>("tile of 512");
  test<gathered>("coalesced");
  test<whole_block>("block with scratch");

  Buffer<unsigned char> bytes(sizeof(Totals));
  Totals* device = reinterpret_cast<Totals*>(bytes.device);
  const unsigned ones = ~0u, one = 1;
  CHECK(cudaMemcpy(&device->all, &ones, 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(&device->least, &ones, 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(&device->product, &one, 4, cudaMemcpyHostToDevice));
  reduce_into<<<blocks, threads>>>(device);
  const Totals& got = *reinterpret_cast<Totals*>(bytes.read().data());
  unsigned sum = 0, all = ones, any = 0, odd = 0, product = 1;
  for (unsigned i = 0; i < blocks * threads; ++i)
    sum += i, all &= ~i, any |= i, odd ^= i * i, product *= 2 * i + 1;
  say("reduce into atomics", "sums and bits",
      (got.sum.load() != sum) + (got.all.load() != all) + (got.any.load() != any) +
          (got.odd.load() != odd));
  say("reduce into atomics", "the least, a product, a float's sum in a double",
      (got.least.load() != 5) + (got.product != product) + (got.floating.load() != sum));
  say("reduce into atomics", "stored, and stored through a pointer",
      (got.stored.load() != 496) + (got.pointed != 496));
  say("scan_update", "values of another type", got.wide != sum);
}
