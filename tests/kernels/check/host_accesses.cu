// Host code that reads and writes device memory, and memory that it may access.
#include <cstring>

#include "tests/kernels/check/check_test.cuh"

__device__ int variable[32];

__global__ void number(int* out) { out[threadIdx.x] = threadIdx.x; }

int* device() {
  int* p = nullptr;
  cudaMalloc(&p, 128);
  return p;
}

volatile int sink;

void use(int* memory) {
  for (int i = 0; i < 32; ++i) memory[i] = 1;
  number<<<1, 32>>>(memory);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) sink = memory[i];
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"read",
                    [] {
                      int* const p = device();
                      number<<<1, 32>>>(p);
                      cudaDeviceSynchronize();
                      for (int i = 0; i < 32; ++i) sink = p[i];
                    }},
                   {"read_twin",
                    [] {
                      int* const p = device();
                      int copy[32];
                      number<<<1, 32>>>(p);
                      cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost);
                      for (int i = 0; i < 32; ++i) sink = copy[i];
                    }},
                   {"write",
                    [] {
                      int* const p = device();
                      for (int i = 0; i < 32; ++i) p[i] = i;
                      number<<<1, 32>>>(p);
                      cudaDeviceSynchronize();
                    }},
                   {"memset", [] { std::memset(device(), 0, 128); }},
                   {"memset_twin", [] { cudaMemset(device(), 0, 128); }},
                   {"ordered",
                    [] {
                      int* p = nullptr;
                      cudaMallocAsync(&p, 128, nullptr);
                      number<<<1, 32>>>(p);
                      cudaDeviceSynchronize();
                      sink = p[1];
                    }},
                   {"symbol",
                    [] {
                      void* p = nullptr;
                      cudaGetSymbolAddress(&p, variable);
                      sink = *static_cast<int*>(p);
                    }},
                   {"symbol_twin",
                    [] {
                      int copy[32];
                      cudaMemcpyFromSymbol(copy, variable, sizeof copy);
                      sink = copy[0];
                    }},
                   {"managed_twin",
                    [] {
                      int* p = nullptr;
                      cudaMallocManaged(&p, 128);
                      use(p);
                    }},
                   {"pinned_twin",
                    [] {
                      int* p = nullptr;
                      cudaMallocHost(&p, 128);
                      use(p);
                    }},
                   {"registered_twin", [] {
                      static int own[32];
                      cudaHostRegister(own, sizeof own, cudaHostRegisterDefault);
                      use(own);
                      cudaHostUnregister(own);
                    }}});
}
