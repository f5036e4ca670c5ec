// Large allocations begin at a page of 2 MiB, whatever was allocated before; small ones at 512 bytes.
// flags: -lcuda
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

// The largest power of two, up to 2 MiB, that divides every address.
std::uint64_t alignment = 0;
void see(const void* p) { alignment |= p ? reinterpret_cast<std::uint64_t>(p) : 1; }
void say(const char* what, std::size_t bytes) {
  alignment |= 2 << 20;
  std::printf("%s of %zu bytes: at %s\n", what, bytes,
              alignment % (2 << 20) == 0 ? "pages"
              : alignment % 512 == 0     ? "512 bytes"
                                         : "less");
  alignment = 0;
}

int main() {
  for (std::size_t bytes : {std::size_t{5000}, std::size_t{174063616}}) {
    for (int i = 0; i < 3; ++i) {
      void* p = nullptr;
      cudaMalloc(&p, 1000);  // shifts later allocations, so that none is aligned by chance
      cudaMalloc(&p, bytes);
      see(p);
    }
    say("cudaMalloc", bytes);
    CUdeviceptr p = 0;
    cuMemAlloc(&p, bytes);
    see(reinterpret_cast<void*>(p));
    say("cuMemAlloc", bytes);
  }
  void* p = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&p, &pitch, 3000, 2000);
  see(p);
  say("cudaMallocPitch", pitch * 2000);
}
