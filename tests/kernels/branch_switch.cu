// A dense switch (a jump table), a sparse one and one that falls through.
#include "tests/kernels/kernel_test.cuh"

__global__ void dense(int* out, const int* in) {
  int t = threadIdx.x, r = 1;
  for (int i = 0; i < 4; ++i) {
    switch (in[(t + i) & 127]) {
      case 0: r = r * 3 + 1; break;
      case 1: r = r - 7; break;
      case 2: r = r ^ 0x55; break;
      case 3: r = r << 1; break;
      case 4: r = r / 3; break;
      case 5: r = -r; break;
      case 6: r = r * r & 0xffff; break;
      case 7: r = r + t; break;
      case 8: r = __brev(r) >> 8; break;
      case 9: r = r % 17; break;
      default: r = 5;
    }
  }
  out[t] = r;
}

__global__ void sparse(int* out, const int* in) {
  int t = threadIdx.x;
  switch (in[t] * in[t] * 37) {
    case 0: out[t] = 1; break;
    case 37: out[t] = 2; break;
    case 37 * 16: out[t] = 3; break;
    case 37 * 81: out[t] = 4; break;
    default: out[t] = in[t];
  }
}

__global__ void falls(int* out, const int* in) {
  int t = threadIdx.x, r = 0;
  switch (in[t]) {
    case 9: r += 512;
    case 7: r += 128;
    case 5: r += 32; break;
    case 4: r += 16;
    case 2: r += 4;
    case 1: r += 2;
    default: r += 1;
  }
  out[t] = r;
}

int main() {
  std::vector<int> in(128);
  Random random(2);
  for (int& v : in) v = random.next32() % 12;
  Buffer<int> source(in), a(128), b(128), c(128);
  dense<<<1, 128>>>(a, source);
  sparse<<<1, 128>>>(b, source);
  falls<<<1, 128>>>(c, source);
  print("dense", a.read());
  print("sparse", b.read());
  print("falls", c.read());
}
