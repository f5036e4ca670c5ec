// Misuse of tensor memory ends the kernel with the name that NVIDIA's own checks have for it, or
// with that of the descriptor's field.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// software-only
// stderr: 48 columns, but their number must be a power of two.*allocation_granularity_invalid
// stderr: phase_invalid_during_alloc
// stderr: the columns 32 to 32 .*unallocated_columns_access
// stderr: unallocated_columns_being_dealloced
// stderr: the columns 0 to 31 .*col_being_dealloced_not_returned_by_alloc
// stderr: columns 511 to 514.*access_out_of_physical_bounds
// stderr: lane 64, but warp 0 .*lanes 0 to 31 only.*current_warp_owner_invalid
// stderr: lane 8, but with this shape it must be a multiple of 32.*invalid_datapath_alignment
// stderr: instruction descriptor is wrong: its type of A \(bits 7 to 9\) is 2
// stderr: instruction descriptor is wrong: its M is 48
// stderr: sparse_mismatch_between_idesc_mod
// stderr: descriptor of matrix B is wrong: its swizzle mode \(bits 61 to 63\) is 3
// stderr: D uses the columns 0 to 63 .*unallocated_columns_access
// stderr: wait for 512 columns of tensor memory \(tcgen05.alloc\), of which 480 are free
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_test.cuh"
#include "part/tcgen05.cuh"

enum Mistake {
  size,
  permit,
  unallocated,
  not_freed,
  other_allocation,
  bounds,
  owner,
  alignment,
  type,
  rows,
  sparse,
  swizzle,
  accumulator,
  never_free,
  count
};

__global__ void make(int mistake) {
  __shared__ std::uint32_t address, second;
  __shared__ __align__(1024) unsigned char matrix[16384];
  alloc(&address, mistake == size ? 48 : mistake == other_allocation ? 64 : 32);
  const std::uint32_t at = address;
  if (mistake == permit) {
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    alloc(&second, 32);
  }
  if (mistake == unallocated) store_column(at + 32, 1);
  if (mistake == not_freed) dealloc(at + 64, 32);
  if (mistake == other_allocation) dealloc(at, 32);
  if (mistake == bounds) {
    std::uint32_t r[4];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at + 511));
    second = r[0];
  }
  if (mistake == owner) store_column(at + (64u << 16), 1);
  if (mistake == alignment) store_column(at + (8u << 16), 1);
  if (mistake == never_free) alloc(&second, 512);
  if (mistake >= type && mistake <= accumulator && threadIdx.x == 0) {
    std::uint32_t descriptor =
        1 << 4 | (mistake == accumulator ? 64 : 16) / 8 << 17 | 128 / 16 << 24;
    if (mistake == type) descriptor |= 2 << 7;
    if (mistake == rows) descriptor = 1 << 4 | 2 << 17 | 3 << 24;
    if (mistake == sparse) descriptor |= 1 << 2;
    const std::uint64_t a = shared_address(matrix) >> 4 | 64ull << 32 | 1ull << 46 | 2ull << 61;
    const std::uint64_t b = mistake == swizzle ? a | 1ull << 61 : a;
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, "
        "%3, p;\n}" ::"r"(at),
        "l"(a), "l"(b), "r"(descriptor)
        : "memory");
  }
}

int main() {
  // A fault ends the context for good, so each mistake has a process.
  for (int i = 0; i < count; ++i) {
    std::fflush(stdout);
    if (const pid_t child = fork()) {
      waitpid(child, nullptr, 0);
      continue;
    }
    make<<<1, 32>>>(i);
    std::printf("%d: %s\n", i, cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
}
