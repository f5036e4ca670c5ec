// A kernel may write constant memory through its address. Later kernels see what it wrote, but its
// own reads by ld.const may not.
#include "tests/kernels/check/check_test.cuh"

constexpr int threads = 64;
__constant__ int table[2 * threads];

int* address_of_table() {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, table);
  return static_cast<int*>(address);
}

// Thread t reads what another warp writes, in the same half of the table or in the other one.
template <bool meet>
__global__ void exchange(int* to, int* out, int half) {
  const int t = threadIdx.x;
  to[t] = t;  // [write]
  if (meet) __syncthreads();
  out[t] = table[half + (t + 32) % threads];  // [read]
}
template <bool meet, int half>
void exchanged() {
  Buffer<int> out(threads);
  exchange<meet><<<1, threads>>>(address_of_table(), out, half);
  out.read();
}

// The twin reads through the address.
__global__ void exchange_plainly(int* to, int* out) {
  const int t = threadIdx.x;
  to[t] = t;
  __syncthreads();
  out[t] = *static_cast<volatile int*>(to + (t + 32) % threads);
}
void plainly() {
  Buffer<int> out(threads);
  exchange_plainly<<<1, threads>>>(address_of_table(), out);
  out.read();
}

__global__ void write(int* to) { to[threadIdx.x] = 1; }
__global__ void read(int* out) { out[threadIdx.x] = table[threadIdx.x]; }
void two_kernels() {
  Buffer<int> out(threads);
  for (int i = 0; i < 2; ++i) {
    write<<<1, threads>>>(address_of_table());
    read<<<1, threads>>>(out);
  }
  out.read();
}

// Each thread reads an element, writes it, and in the mistake reads it again.
template <bool again>
__global__ void update(int* to, volatile int* at, int* out) {
  const int t = threadIdx.x;
  int sum = table[at[t] + t];
  to[t] = sum + 1;                 // [own write]
  if (again) sum += table[at[t] + t];  // [own read]
  out[t] = sum;
}
template <bool again>
void updated() {
  Buffer<int> at(threads), out(threads);
  update<false><<<1, threads>>>(address_of_table(), at, out);
  if (again) update<true><<<1, 1>>>(address_of_table(), at, out);
  out.read();
}

// All blocks read the table, the first one then adds to it, and all read it again.
__device__ void meet_all(int* arrived, int count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < count) {
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void grow(int* to, volatile int* at, int* out, int* arrived) {
  const int t = threadIdx.x;
  int sum = table[at[t] + t];
  meet_all(arrived, 2);
  if (blockIdx.x == 0) atomicAdd(to + t, sum);  // [grid write]
  meet_all(arrived, 4);
  sum += table[at[t] + t];  // [grid read]
  out[blockIdx.x * threads + t] = sum;
}
void over_the_grid() {
  Buffer<int> at(threads), out(2 * threads), arrived(1);
  grow<<<2, threads>>>(address_of_table(), at, out, arrived);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", exchanged<true, 0>},
                   {"twin", two_kernels},
                   {"race", exchanged<false, 0>},
                   {"other_bytes_twin", exchanged<true, threads>},
                   {"plain_twin", plainly},
                   {"own", updated<true>},
                   {"own_twin", updated<false>},
                   {"grid", over_the_grid}});
}
