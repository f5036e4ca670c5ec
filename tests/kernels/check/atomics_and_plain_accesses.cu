// Plain accesses mixed with atomics: a counter read too early is a race. A plain load before an
// atomic is not, nor are equal values that several threads store.
#include "tests/kernels/check/check_test.cuh"

// The atomic behind a plain load does not depend on it, and the other thread stores.
__global__ void peek_beside_store(int* at) {
  if (threadIdx.x == 0) *(volatile int*)at = 1;  // [strong store]
  if (threadIdx.x == 32) {
    at[1] = *at;  // [peek]
    at[2] = atomicExch(at, 3);
  }
}

template <bool right>
__global__ void histogram(const int* in, int* out) {
  __shared__ int bins[64];
  const unsigned t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(shared_address(&bins[in[t] % 64])) : "memory");  // [add]
  if (right) __syncthreads();
  out[t] = bins[t];  // [read]
}

__device__ void add(double* at, double v) {
  auto* word = reinterpret_cast<unsigned long long*>(at);
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
  } while (assumed != old);
}
__global__ void compare_and_swap(double* sum) { add(sum, threadIdx.x); }

__global__ void most(int* out) {
  const int v = threadIdx.x * 37 % 256;
  if (v > *out) atomicMax(out, v);
}

// Only the first block updates. What the others see is as large as their own.
__global__ void most_of_the_first(int* out) {
  const int v = 100 - blockIdx.x;
  int old = *out;
  while (v > old) {
    const int seen = atomicCAS(out, old, v);
    if (seen == old) break;
    old = seen;
  }
}

// An atomic load as some libraries write it: the value is exchanged for itself.
__device__ int load(int* at) {
  int old = *at, assumed;
  do {
    assumed = old;
    old = atomicCAS(at, assumed, assumed);
  } while (assumed != old);
  return old;
}
__global__ void exchanged_for_itself(int* at) { at[threadIdx.x + 1] = load(at); }
__global__ void counted(int* at) {
  if (load(at) > 5) atomicAdd(at + 1, 1);
  atomicAdd(at, 1);
}

// Lanes update in turn, and the first goes on with the value that it saw.
__device__ double fetch_max(double* at, double v) {
  auto* word = reinterpret_cast<unsigned long long*>(at);
  unsigned long long old = *word, assumed;
  do {
    if (__longlong_as_double(old) > v) break;
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(v));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void most_in_turns(double* at) {
  for (int i = 0; i < 2; ++i)
    if (threadIdx.x == i) at[i + 1] = fetch_max(at, i - 0.5);
}

// The lane that reads is not one of those that update.
__global__ void read_beside(int* at) {
  if (threadIdx.x == 0) at[1] = *at;       // [read_beside]
  if (threadIdx.x == 1) atomicAdd(at, 1);  // [update]
}

template <bool right>
__global__ void found(const int* in, int* out) {
  if (in[threadIdx.x] == 0) *out = right ? 1 : threadIdx.x;  // [store]
}

template <auto kernel>
void run() {
  Buffer<int> in(256), out(256);
  kernel<<<1, 64>>>(in, out);
  out.read();
}
void run_sum() {
  Buffer<double> sum(1);
  compare_and_swap<<<4, 64>>>(sum);
  sum.read();
}
template <int threads>
void run_most() {
  Buffer<int> out(1);
  most<<<1, threads>>>(out);
  out.read();
}
void run_most_of_blocks() {
  Buffer<int> out(1);
  most_of_the_first<<<4, 1>>>(out);
  out.read();
}
template <auto kernel>
void run_one_warp() {
  Buffer<int> at(8);
  kernel<<<1, 5>>>(at);
  at.read();
}
void run_turns() {
  Buffer<double> at(4);
  most_in_turns<<<1, 2>>>(at);
  at.read();
}
void run_counted() {
  Buffer<int> at(2);
  cudaStream_t streams[2];
  for (auto& each : streams) cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  for (auto& each : streams) counted<<<1, 1, 0, each>>>(at);
  cudaDeviceSynchronize();
  at.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"histogram", run<histogram<false>>},
                   {"histogram_twin", run<histogram<true>>},
                   {"compare_and_swap", run_sum},
                   {"most", run_most<256>},
                   {"most_of_a_warp", run_most<32>},
                   {"most_of_the_first", run_most_of_blocks},
                   {"exchanged_for_itself", run_one_warp<exchanged_for_itself>},
                   {"most_in_turns", run_turns},
                   {"counted_in_two_streams", run_counted},
                   {"read_beside", run_one_warp<read_beside>},
                   {"peek_beside_store",
                    [] {
                      Buffer<int> at(3);
                      CHECK(cudaMemset(at, 0, 12));
                      peek_beside_store<<<1, 64>>>(at);
                    }},
                   {"found", run<found<false>>},
                   {"found_twin", run<found<true>>}});
}
