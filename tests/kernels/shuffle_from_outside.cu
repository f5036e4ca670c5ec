// The value that a shuffle reads from a lane outside its mask. PTX leaves it undefined, but
// programs rely on the behaviour of GPUs.
#include "tests/kernels/kernel_test.cuh"

__device__ int by_form(int form, unsigned mask, int value) {
  switch (form) {
    case 0:
      return __shfl_down_sync(mask, value, 8);
    case 1:
      return __shfl_up_sync(mask, value, 8);
    case 2:
      return __shfl_xor_sync(mask, value, 16);
    default:
      return __shfl_sync(mask, value, (threadIdx.x + 16) % 32);
  }
}

// Half of the warp shuffles: the others have exited, wait after the branch, or shuffle themselves.
__global__ void half(int* out, int form, int others, unsigned first, unsigned second) {
  const unsigned lane = threadIdx.x, own = 1u << lane;
  const int value = 100 + lane;
  out[lane] = -1;
  if (others == 0 && !(own & first)) return;
  if (own & first) {
    out[lane] = by_form(form, first, value);
  } else if (others == 2) {
    out[lane] = by_form(form, second, value + 100);
  }
}

// As in reductions: two warps of a block, of which the second has fewer lanes.
__global__ void __launch_bounds__(48) short_warp(int* out, int form) {
  const unsigned mask = threadIdx.x < 32 ? 0xffffffff : 0xffff;
  out[threadIdx.x] = by_form(form, mask, 100 + threadIdx.x);
}

int main() {
  int* out;
  CHECK(cudaMallocManaged(&out, 64 * sizeof(int)));
  const char* forms[] = {"down 8", "up 8", "xor 16", "lane + 16"};
  const char* others[] = {"ended", "wait", "shuffle"};
  const unsigned masks[][2] = {{0xffff, 0xffff0000}, {0x00ff00ff, 0xff00ff00}};
  for (int m = 0; m < 2; ++m) {
    for (int o = 0; o < 3; ++o) {
      for (int f = 0; f < 4; ++f) {
        half<<<1, 32>>>(out, f, o, masks[m][0], masks[m][1]);
        CHECK(cudaDeviceSynchronize());
        std::printf("%08x, others %s, %s:", masks[m][0], others[o], forms[f]);
        for (int i = 0; i < 32; ++i) std::printf(" %d", out[i]);
        std::printf("\n");
      }
    }
  }
  for (int f = 0; f < 4; ++f) {
    short_warp<<<1, 48>>>(out, f);
    CHECK(cudaDeviceSynchronize());
    std::printf("short warp, %s:", forms[f]);
    for (int i = 32; i < 48; ++i) std::printf(" %d", out[i]);
    std::printf("\n");
  }
}
