// cudaHostRegister takes memory of the process that is writable, or read-only with its flag.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add_one(int* p) { ++*p; }

constexpr std::size_t page = 4096;

char* pages(int count, int access) {
  return static_cast<char*>(
      mmap(nullptr, count * page, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
void say(const char* what, cudaError_t error) {
  std::printf("%s: %d\n", what, int(error));
  cudaGetLastError();
}

int main() {
  cudaFree(nullptr);
  char* plain = pages(4, PROT_READ | PROT_WRITE);
  say("two pages", cudaHostRegister(plain, 2 * page, 0));
  add_one<<<1, 1>>>(reinterpret_cast<int*>(plain));
  say("a kernel writes to them", cudaDeviceSynchronize());
  std::printf("the value is %d\n", *reinterpret_cast<int*>(plain));
  say("the same again", cudaHostRegister(plain, 2 * page, 0));
  say("a part of them", cudaHostRegister(plain + page, page, 0));
  say("pages that overlap them", cudaHostRegister(plain + page, 2 * page, 0));
  say("pages beside them", cudaHostRegister(plain + 2 * page, page, 0));
  say("unregister from within", cudaHostUnregister(plain + 8));
  say("unregister", cudaHostUnregister(plain));
  say("unregister again", cudaHostUnregister(plain));
  say("bytes inside of a page", cudaHostRegister(plain + 100, 300, 0));
  say("null", cudaHostRegister(nullptr, page, 0));
  say("no bytes", cudaHostRegister(plain, 0, 0));
  say("unknown flags", cudaHostRegister(plain, page, 0x100));

  char* constant = pages(2, PROT_READ);
  say("read-only pages", cudaHostRegister(constant, 2 * page, 0));
  say("inaccessible pages", cudaHostRegister(pages(2, PROT_NONE), 2 * page, 0));
  char* gone = pages(3, PROT_READ | PROT_WRITE);
  munmap(gone + page, page);
  say("an unmapped page", cudaHostRegister(gone + page, page, 0));
  say("an unmapped page within", cudaHostRegister(gone, 3 * page, 0));
  say("2^46 bytes", cudaHostRegister(reinterpret_cast<void*>(page), std::size_t(1) << 46, 0));
  say("afterwards", cudaDeviceSynchronize());
}
