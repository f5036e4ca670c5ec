// Nested ifs with conditions that differ between lanes: each lane takes its own path, and all
// reconverge after it.
#include "tests/kernels/kernel_test.cuh"

__global__ void nested(int* out, const int* in) {
  int i = threadIdx.x, v = in[i], r = 0;
  if (v & 1) {
    r += 1;
    if (v & 2) {
      r += 10;
      if (v & 4) r += 100;
      else r += 200;
    } else {
      r += 20;
      if (v % 3 == 0) r += 1000;
    }
    r += 5;
  } else if (v & 8) {
    r = -1;
    for (int k = 0; k < (v >> 4); ++k)
      if ((k ^ v) & 1) r -= k;
      else r -= 2 * k;
  } else {
    r = v ? __clz(v) : 77;
  }
  out[i] = r * 2 + __popc(__activemask() == 0);
}

// All lanes have reconverged: a ballot of every lane counts the whole warp.
__global__ void meet(unsigned* out) {
  int lane = threadIdx.x;
  unsigned parts = 0;
  if (lane < 16) {
    if (lane < 5) parts = __ballot_sync(0x1f, lane & 1);
    else parts = __ballot_sync(0xffe0, lane & 1);
  } else {
    parts = __ballot_sync(0xffff0000, lane % 3 == 0);
  }
  __syncwarp();
  unsigned all = __ballot_sync(0xffffffff, parts & 1u << (lane & 31));
  out[lane] = parts ^ all;
}

int main() {
  std::vector<int> in(64);
  Random random(1);
  for (int& v : in) v = random.next32() & 255;
  Buffer<int> source(in), out(64);
  nested<<<1, 64>>>(out, source);
  print("nested", out.read());
  Buffer<unsigned> masks(32);
  meet<<<1, 32>>>(masks);
  print("meet", masks.read(), 8);
}
