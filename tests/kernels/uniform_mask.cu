// A member mask that is equal in all executing lanes and lacks some of them: the lanes that it
// lacks still take part. (For one that differs between lanes see fault_not_a_member.)
#include "tests/kernels/kernel_test.cuh"

constexpr int forms = 8;

__device__ unsigned collective(int form, unsigned mask) {
  int same = 0;
  switch (form) {
    case 0: __match_all_sync(mask, 0u, &same); return same;
    case 1: return __match_any_sync(mask, 0u);
    case 2: return __ballot_sync(mask, 1);
    case 3: return __shfl_sync(mask, threadIdx.x, 0);
    case 4: return __reduce_add_sync(mask, 1u);
    case 5: __syncwarp(mask); return 1;
    case 6: return __all_sync(mask, 1);
    default: __match_all_sync(mask, threadIdx.x ? 1u : 0u, &same); return same;
  }
}

__global__ void leave_out(int form, unsigned* out, int n) {
  unsigned r = 0;
  for (int i = 1; i < n; ++i) r += collective(form, (1u << i) - 1);
  out[threadIdx.x] = r;
}

// Only half of the warp, with a mask that lacks its lane 3.
__global__ void half(int form, unsigned* out, unsigned mask) {
  if (threadIdx.x < 16) out[threadIdx.x] = collective(form, mask);
}

void show(int form, const char* name, Buffer<unsigned>& out) {
  SAY(cudaDeviceSynchronize());
  out.read();
  std::printf("%s, form %d: lane 0 %u, lane 1 %u, lane 3 %u, lane 31 %u\n", name, form, out.host[0],
              out.host[1], out.host[3], out.host[31]);
}

int main() {
  for (int form = 0; form < forms; ++form) {
    Buffer<unsigned> out(32), of_half(32);
    leave_out<<<1, 32>>>(form, out, 32);
    show(form, "prefixes", out);
    half<<<1, 32>>>(form, of_half, 0xfff7);
    show(form, "half", of_half);
  }
}
