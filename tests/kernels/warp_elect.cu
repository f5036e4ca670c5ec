// elect.sync: the elected lane, for masks of all kinds, and its two destinations.
#include <cstdint>
#include <cstdio>

namespace {

struct Answer {
  std::uint32_t leader[32], elected[32], elected_alone[32];
};

__global__ void elect(std::uint32_t mask, Answer* out) {
  const std::uint32_t lane = threadIdx.x;
  if (!(mask >> lane & 1)) return;
  std::uint32_t leader, elected, alone;
  asm volatile(
      "{\n .reg .pred p, q;\n"
      " elect.sync %0|p, %3;\n selp.u32 %1, 1, 0, p;\n"
      " elect.sync _|q, %3;\n selp.u32 %2, 1, 0, q;\n}"
      : "=r"(leader), "=r"(elected), "=r"(alone)
      : "r"(mask));
  out->leader[lane] = leader;
  out->elected[lane] = elected;
  out->elected_alone[lane] = alone;
}

// Each half elects for itself, the upper one first in time.
__global__ void elect_in_halves(Answer* out) {
  const std::uint32_t lane = threadIdx.x;
  std::uint32_t leader, elected;
  if (lane < 12) {
    __nanosleep(1000);
    asm volatile("{\n .reg .pred p;\n elect.sync %0|p, 0x00000fff;\n selp.u32 %1, 1, 0, p;\n}"
                 : "=r"(leader), "=r"(elected));
  } else {
    asm volatile("{\n .reg .pred p;\n elect.sync %0|p, 0xfffff000;\n selp.u32 %1, 1, 0, p;\n}"
                 : "=r"(leader), "=r"(elected));
  }
  out->leader[lane] = leader;
  out->elected[lane] = elected;
}

std::uint32_t bits(const std::uint32_t (&values)[32]) {
  std::uint32_t set = 0;
  for (int l = 0; l < 32; ++l) set |= (values[l] & 1) << l;
  return set;
}

}  // namespace

int main() {
  Answer* a;
  cudaMallocManaged(&a, sizeof *a);
  for (std::uint32_t mask : {0xffffffffu, 0xfffffff0u, 0x80000000u, 0x00000001u, 0x0f0f0f00u,
                             0xaaaaaaaau, 0x00010000u, 0xc0000000u}) {
    *a = {};
    elect<<<1, 32>>>(mask, a);
    const char* end = cudaGetErrorString(cudaDeviceSynchronize());
    bool same = true;
    std::uint32_t leader = 99;
    for (int l = 0; l < 32; ++l) {
      if (!(mask >> l & 1)) continue;
      if (leader == 99) leader = a->leader[l];
      same &= a->leader[l] == leader;
    }
    std::printf("mask %08x: leader %2u (%s), predicates %08x %08x, %s\n", mask, leader,
                same ? "everywhere" : "not everywhere", bits(a->elected), bits(a->elected_alone),
                end);
  }
  *a = {};
  elect_in_halves<<<1, 32>>>(a);
  const char* end = cudaGetErrorString(cudaDeviceSynchronize());
  std::printf("halves: %s, leaders %u and %u, predicates %08x\n", end, a->leader[0], a->leader[31],
              bits(a->elected));
  cudaFree(a);
}
