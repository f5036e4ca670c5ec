// Memory that is never released.
// options: --leak-check
#include "tests/kernels/check/check_test.cuh"

__global__ void use(int* p) { p[threadIdx.x] = 1; }
__global__ void heap(bool release) {
  void* p = malloc(64);  // [malloc]
  if (release) free(p);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"device",
                    [] {
                      int *a, *b, *c;
                      cudaMalloc(&a, 4096);
                      cudaMalloc(&b, 4096);
                      cudaMalloc(&c, 512);
                      use<<<1, 32>>>(a);
                      cudaDeviceSynchronize();
                      cudaFree(a);
                    }},
                   {"device_twin",
                    [] {
                      int* a;
                      cudaMalloc(&a, 4096);
                      use<<<1, 32>>>(a);
                      cudaDeviceSynchronize();
                      cudaFree(a);
                    }},
                   {"ordered",
                    [] {
                      int* a;
                      cudaMallocAsync(&a, 4096, nullptr);
                      use<<<1, 32>>>(a);
                    }},
                   {"ordered_twin",
                    [] {
                      int* a;
                      cudaMallocAsync(&a, 4096, nullptr);
                      use<<<1, 32>>>(a);
                      cudaFreeAsync(a, nullptr);
                    }},
                   {"host_and_managed",
                    [] {
                      int *a, *b;
                      cudaMallocHost(&a, 4096);
                      cudaMallocManaged(&b, 4096);
                      use<<<1, 32>>>(b);
                    }},
                   {"host_and_managed_twin",
                    [] {
                      int *a, *b;
                      cudaMallocHost(&a, 4096);
                      cudaMallocManaged(&b, 4096);
                      use<<<1, 32>>>(b);
                      cudaDeviceSynchronize();
                      cudaFreeHost(a);
                      cudaFree(b);
                    }},
                   {"heap", [] { heap<<<1, 2>>>(false); }},
                   {"heap_twin", [] { heap<<<1, 2>>>(true); }},
                   {"reset", [] {
                      int* a;
                      cudaMalloc(&a, 4096);
                      cudaDeviceReset();
                    }}});
}
