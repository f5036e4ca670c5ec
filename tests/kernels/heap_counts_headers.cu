// malloc in a kernel takes its bytes and a header from the heap. Freed memory can be reused.
#include "tests/kernels/kernel_test.cuh"

__global__ void fill(int size, int* count) {
  void** last = nullptr;
  int n = 0;
  for (void** p; (p = (void**)malloc(size)); ++n) {
    *p = last;
    last = p;
  }
  *count = n;
  while (last) {
    void** const before = (void**)*last;
    free(last);
    last = before;
  }
}

int main() {
  constexpr int heap = 8 << 20;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap));
  Buffer<int> count(1);
  for (int size : {1000, 4096, 100000}) {
    fill<<<1, 1>>>(size, count);
    const int first = count.read()[0];
    fill<<<1, 1>>>(size, count);
    const int again = count.read()[0];
    const long long bytes = (long long)first * size;
    std::printf(
        "%d bytes: within the heap %d, with headers %d, a twentieth of it or more %d, "
        "again as many %d\n",
        size, bytes <= heap, first <= heap / (size + 8), bytes >= heap / 20, again > first / 2);
  }
}
