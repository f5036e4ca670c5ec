// stderr: kernel .*store.*source of this copy was written while the copy was in flight
// async: late
// Waits for groups of bulk stores do not wait for uncommitted stores, so their source is
// overwritten too early. Each block stores 32 KiB, waits in one of four ways, and writes its
// source.
#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr unsigned bytes = 32768, words = bytes / 4, pieces = 8;
constexpr int blocks = 264;
enum Wait { nothing, read_uncommitted, read_committed, whole_uncommitted };
const char* const names[] = {"no wait", "wait_group.read without a commit",
                             "wait_group.read behind a commit", "wait_group without a commit"};

__global__ void store(unsigned* out, int wait) {
  extern __shared__ __align__(128) unsigned source[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) source[i] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(source));
    for (unsigned p = 0; p < pieces; ++p)
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                       out + blockIdx.x * words + p * words / pieces),
                   "r"(at + p * bytes / pieces), "r"(bytes / pieces)
                   : "memory");
    if (wait == read_committed) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (wait == read_committed || wait == read_uncommitted)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (wait == whole_uncommitted) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  // Writes from the end, which the copy reads last.
  for (unsigned i = words - 1 - threadIdx.x; i < words; i -= blockDim.x) source[i] = 2;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace

int main() {
  Buffer<unsigned> out(std::size_t{blocks} * words);
  for (int wait : {nothing, read_uncommitted, read_committed, whole_uncommitted}) {
    store<<<blocks, 256, bytes>>>(out, wait);
    std::size_t overwritten = 0, other = 0;
    for (unsigned each : out.read()) overwritten += each == 2, other += each != 1 && each != 2;
    std::printf("%s: %s overwritten, %zu not written\n", names[wait],
                overwritten ? "some words" : "nothing", other);
  }
}
