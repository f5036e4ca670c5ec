// library: part/library.cu
// A shared library with its own kernels: loaded, used, closed and loaded again.
#include "tests/kernels/kernel_test.cuh"

#include <dlfcn.h>

__global__ void own(int* v) { v[threadIdx.x] += 1; }

bool use(const char* path, int* data) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::printf("%s\n", dlerror());
    return false;
  }
  auto run = reinterpret_cast<int (*)(int*, int)>(dlsym(library, "run_library_kernel"));
  std::printf("the library answers %d\n", run(data, 32));
  own<<<1, 32>>>(data);
  CHECK(cudaDeviceSynchronize());
  return dlclose(library) == 0;
}

int main(int, char** arguments) {
  Buffer<int> v(32);
  for (int i = 0; i < 3; ++i)
    if (!use(arguments[1], v)) return 1;
  print("v", v.read());
}
