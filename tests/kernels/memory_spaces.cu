// __constant__, __device__, __managed__, static and dynamic shared variables; initialisers with
// addresses; generic pointers into each space.
#include "tests/kernels/kernel_test.cuh"

__constant__ int constants[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ float unset[4];
__device__ int table[4] = {10, 20, 30, 40};
__device__ int* pointer = table + 2;
__device__ const int* const to_constant = constants + 5;
__managed__ int managed[4] = {7, 8, 9, 10};
__managed__ int counter;

__device__ __noinline__ int through(const int* p) { return *p; }

__global__ void read(int* out) {
  __shared__ int own[32];
  extern __shared__ int dynamic[];
  int t = threadIdx.x, local[4] = {t, t + 1, t + 2, t + 3};
  own[t] = t * 2;
  dynamic[31 - t] = t * 5;
  __syncthreads();
  const int* any[] = {&constants[t % 8], &table[t % 4], &own[31 - t],
                      &dynamic[t],       &local[t % 4], &managed[t % 4]};
  out[t] = through(any[t % 6]);
  out[32 + t] = *pointer + *to_constant + int(unset[t % 4] * 4);
  out[64 + t] = __isShared(own + t) + 2 * __isGlobal(table) + 4 * __isLocal(local) +
                8 * __isConstant(constants) + 16 * __isShared(table) + 32 * __isGlobal(own) +
                64 * __isShared(dynamic);
  atomicAdd(&counter, t);
}

// Two arrays in dynamic shared memory, past 48 KiB with an opt-in.
__global__ void large(long long* out, int words) {
  extern __shared__ int dynamic[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) dynamic[i] = i ^ 0x55;
  __syncthreads();
  long long sum = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) sum += dynamic[words - 1 - i];
  out[threadIdx.x] = sum;
}

int main() {
  float values[4] = {0.25f, 0.5f, 0.75f, 1.0f};
  CHECK(cudaMemcpyToSymbol(unset, values, sizeof values));
  int replaced[2] = {300, 400};
  CHECK(cudaMemcpyToSymbol(table, replaced, sizeof replaced, 2 * sizeof(int)));
  managed[1] = 88;
  Buffer<int> out(96);
  read<<<1, 32, 32 * sizeof(int)>>>(out);
  print("read", out.read(), 32);
  std::printf("managed: %d %d, counter %d\n", managed[1], managed[3], counter);
  void* address = nullptr;
  std::size_t size = 0;
  CHECK(cudaGetSymbolAddress(&address, table));
  CHECK(cudaGetSymbolSize(&size, table));
  int back[4];
  CHECK(cudaMemcpy(back, address, size, cudaMemcpyDeviceToHost));
  std::printf("table: %d %d %d %d in %zu bytes\n", back[0], back[1], back[2], back[3], size);

  Buffer<long long> sums(64);
  const int most = 227 << 10;
  large<<<1, 64, most>>>(sums, most / 4);
  SAY(cudaGetLastError());
  SAY(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  large<<<1, 64, most>>>(sums, most / 4);
  print_checksum("large", sums.read());
  SAY(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
}
