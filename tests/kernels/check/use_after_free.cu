// Memory that was freed before a kernel used it.
#include "tests/kernels/check/check_test.cuh"

__global__ void fill(int* out) {
  out[threadIdx.x] = 1;  // [use]
}

__global__ void heap(int* out, bool early) {
  int* p = static_cast<int*>(malloc(64));
  p[0] = 1;
  if (early) free(p);  // [free]
  out[0] = p[0];       // [heap]
  if (!early) free(p);
}

__global__ void twice(bool again) {
  void* p = malloc(64);
  free(p);             // [once]
  if (again) free(p);  // [again]
}

int* device() {
  int* p = nullptr;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  return p;
}

cudaStream_t unordered_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"device",
                    [] {
                      int* p = device();
                      cudaFree(p);
                      fill<<<1, 64>>>(p);
                    }},
                   {"device_twin",
                    [] {
                      int* p = device();
                      fill<<<1, 64>>>(p);
                      cudaFree(p);
                    }},
                   {"ordered",
                    [] {
                      int* p = nullptr;
                      cudaMallocAsync(&p, 4096, nullptr);
                      cudaFreeAsync(p, nullptr);
                      fill<<<1, 64>>>(p);
                    }},
                   {"ordered_twin",
                    [] {
                      int* p = nullptr;
                      cudaMallocAsync(&p, 4096, nullptr);
                      fill<<<1, 64>>>(p);
                      cudaFreeAsync(p, nullptr);
                    }},
                   {"pool",
                    [] {
                      cudaStream_t stream = unordered_stream();
                      int* p = nullptr;
                      cudaMallocAsync(&p, 4096, stream);
                      fill<<<1, 64, 0, stream>>>(p);
                      cudaFree(p);
                    }},
                   {"pool_twin",
                    [] {
                      cudaStream_t stream = unordered_stream();
                      int* p = nullptr;
                      cudaMallocAsync(&p, 4096, stream);
                      fill<<<1, 64, 0, stream>>>(p);
                      cudaStreamSynchronize(stream);
                      cudaFree(p);
                    }},
                   {"registered",
                    [] {
                      int* p = static_cast<int*>(std::calloc(1024, 4));
                      cudaHostRegister(p, 4096, 0);
                      cudaHostUnregister(p);
                      fill<<<1, 64>>>(p);
                    }},
                   {"registered_twin",
                    [] {
                      int* p = static_cast<int*>(std::calloc(1024, 4));
                      cudaHostRegister(p, 4096, 0);
                      fill<<<1, 64>>>(p);
                    }},
                   {"heap", [] { heap<<<1, 1>>>(device(), true); }},
                   {"heap_twin", [] { heap<<<1, 1>>>(device(), false); }},
                   {"freed_twice", [] { twice<<<1, 1>>>(true); }},
                   {"freed_twice_twin", [] { twice<<<1, 1>>>(false); }}});
}
