// arch: sm_80
// software-only
// A flag follows the data of a warp's row, as in NCCL's LL128 over NVLink: a reader that sees the
// flag must see the data. The flag's page is protected, so the kernel's first read stops in the
// host's handler. It then writes data and flag, as another device might. Data read before is
// stale.
#include <signal.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

constexpr size_t page = 4096;
char* memory;
uint4* row;  // half in the first page, half in the second, with the flag last

void write_row(int, siginfo_t*, void*) {
  mprotect(memory + page, page, PROT_READ | PROT_WRITE);
  memset(row, 1, 8 * sizeof *row);
}

__global__ void read(const uint4* row, unsigned lanes, unsigned* data, unsigned* flag) {
  if (threadIdx.x >= lanes) return;
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(row + threadIdx.x % 8)
               : "memory");
  if (threadIdx.x < 8) data[threadIdx.x] = v.x;
  if (threadIdx.x == 7) *flag = v.w;
}

int main() {
  memory =
      (char*)mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  row = (uint4*)(memory + page) - 4;
  struct sigaction action {};
  action.sa_sigaction = write_row;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  cudaHostRegister(memory, 2 * page, 0);
  unsigned* found;
  cudaMallocHost(&found, 9 * sizeof *found);
  for (const unsigned lanes : {8u, 20u, 32u}) {
    memset(memory, 0, 2 * page);
    mprotect(memory + page, page, PROT_NONE);
    read<<<1, 32>>>(row, lanes, found, found + 8);
    const cudaError_t status = cudaDeviceSynchronize();
    printf("%u lanes: %s, flag %d, data", lanes, cudaGetErrorName(status), found[8] != 0);
    for (int i = 0; i < 8; ++i) printf(" %d", found[i] != 0);
    printf("\n");
  }
  return 0;
}
