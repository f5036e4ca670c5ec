// Unwritten global memory in arithmetic, as a counter, and copied and then read by the host.
#include "tests/kernels/check/check_test.cuh"

constexpr unsigned n = 256;

int* device(std::size_t count = n) {
  int* p = nullptr;
  cudaMalloc(&p, count * sizeof(int));
  return p;
}
int* zeros() {
  int* p = device();
  cudaMemset(p, 0, n * sizeof(int));
  return p;
}
void read(const int* p) {
  static int host[n];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
}

__global__ void add(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;  // [add]
}
__global__ void copy(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // [copy]
}
__global__ void count(int* counts) {
  // [count]
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(&counts[threadIdx.x % 8]) : "memory");
}
__global__ void compare_uniform(const int* in, int* out) {
  int value;
  // [ldu]
  asm volatile("ldu.global.u32 %0, [%1];" : "=r"(value) : "l"(in) : "memory");
  if (value > 3) out[threadIdx.x] = 1;  // [of ldu]
}
__global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; }

__global__ void through_shared(const int* in, int* out) {
  __shared__ int tile[n];
  const unsigned i = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[i])),
               "l"(&in[i])  // [source]
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[i] = tile[n - 1 - i] * 2;  // [through shared]
}

// A sum with a zero in shared memory is as undefined as the unwritten element, and equal to it.
__global__ void summed_in_shared(const int* in, int* out) {
  __shared__ int tile[n];
  const unsigned i = threadIdx.x;
  tile[i] = 0;
  __syncthreads();
  tile[i] += in[i];  // [sum]
  __syncthreads();
  out[i] = tile[n - 1 - i] * 2;  // [product]
}

__global__ void heap(int* out, bool write) {
  int* p = static_cast<int*>(malloc(64));
  if (write) p[3] = 7;
  out[0] = p[3] + 1;  // [heap]
  free(p);
}

__global__ void decide(int* state) {
  if (state[threadIdx.x] > 3) state[0] = 1;  // [branch]
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"computed_with", [] { add<<<1, n>>>(device(), device()); }},
                   {"computed_with_twin", [] { add<<<1, n>>>(zeros(), device()); }},
                   {"loaded_by_ldu", [] { compare_uniform<<<1, n>>>(device(), device()); }},
                   {"loaded_by_ldu_twin", [] { compare_uniform<<<1, n>>>(zeros(), device()); }},
                   {"after_a_kernel",
                    [] {
                      int* p = device();
                      fill<<<1, n>>>(p);
                      add<<<1, n>>>(p, device());
                    }},
                   {"after_half_a_copy",
                    [] {
                      static int host[n];
                      int* p = device();
                      cudaMemcpy(p, host, sizeof host / 2, cudaMemcpyHostToDevice);
                      add<<<1, n>>>(p, device());
                    }},
                   {"after_a_copy",
                    [] {
                      static int host[n];
                      int* p = device();
                      cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
                      add<<<1, n>>>(p, device());
                    }},
                   {"after_a_copy_of_nothing",
                    [] {
                      int* p = device();
                      cudaMemcpy(p, device(), n * sizeof(int), cudaMemcpyDeviceToDevice);
                      add<<<1, n>>>(p, device());
                    }},
                   {"copied_and_read",
                    [] {
                      int* out = device();
                      copy<<<1, n>>>(device(), out);
                      read(out);
                    }},
                   {"copied_and_read_twin",
                    [] {
                      int* out = device();
                      copy<<<1, n>>>(zeros(), out);
                      read(out);
                    }},
                   {"only_copied", [] { copy<<<1, n>>>(device(), device()); }},
                   {"part_is_read",
                    [] {
                      int* out = device();
                      fill<<<1, n / 2>>>(out);
                      read(out);
                    }},
                   {"counted_in", [] { count<<<1, n>>>(device()); }},
                   {"counted_in_twin", [] { count<<<1, n>>>(zeros()); }},
                   {"through_shared", [] { through_shared<<<1, n>>>(device(), device()); }},
                   {"through_shared_twin", [] { through_shared<<<1, n>>>(zeros(), device()); }},
                   {"summed_in_shared", [] { summed_in_shared<<<1, n>>>(device(), device()); }},
                   {"summed_in_shared_twin", [] { summed_in_shared<<<1, n>>>(zeros(), device()); }},
                   {"heap", [] { heap<<<1, 1>>>(device(), false); }},
                   {"heap_twin", [] { heap<<<1, 1>>>(device(), true); }},
                   {"branch", [] { decide<<<1, n>>>(device()); }},
                   {"branch_twin", [] { decide<<<1, n>>>(zeros()); }},
                   {"ordered",
                    [] {
                      int* p = nullptr;
                      cudaMallocAsync(&p, n * sizeof(int), nullptr);
                      add<<<1, n>>>(p, device());
                      cudaFreeAsync(p, nullptr);
                    }},
                   {"ordered_twin", [] {
                      int* p = nullptr;
                      cudaMallocAsync(&p, n * sizeof(int), nullptr);
                      cudaMemsetAsync(p, 0, n * sizeof(int), nullptr);
                      add<<<1, n>>>(p, device());
                      cudaFreeAsync(p, nullptr);
                    }}});
}
