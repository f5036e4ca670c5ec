// A program built elsewhere with nvcc's defaults: `program` computes a sum and prints whether it is
// right. `program race` lacks a barrier.
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void add_up(int* sum, const int* in, int n) {
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += in[i];
  atomicAdd(sum, mine);
}

__global__ void reverse(int* data) {
  __shared__ int tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[255 - threadIdx.x];
}

int main(int count, char**) {
  std::vector<int> in(1000);
  std::iota(in.begin(), in.end(), 1);
  int *data, *sum, result = 0;
  cudaMalloc(&data, in.size() * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemcpy(data, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(int));
  if (count > 1) reverse<<<1, 256>>>(data);
  add_up<<<1, 256>>>(sum, data, int(in.size()));
  cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  std::printf("%s\n", result == 500500 ? "right" : "wrong");
  return result != 500500;
}
