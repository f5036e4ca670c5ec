// Arrays in local memory with run-time indices, addresses of locals, unions.
#include "tests/kernels/kernel_test.cuh"

__global__ void histogram(int* out, const unsigned* in) {
  int bins[16];
  for (int& b : bins) b = 0;
  for (int i = 0; i < 64; ++i) ++bins[in[(threadIdx.x * 13 + i) % 256] & 15];
  int best = 0;
  for (int i = 1; i < 16; ++i)
    if (bins[i] > bins[best]) best = i;
  out[threadIdx.x] = best * 100 + bins[best];
}

union Word {
  float f;
  unsigned u;
  unsigned char b[4];
};

__global__ void bytes(unsigned* out) {
  Word w[4];
  for (int i = 0; i < 4; ++i) w[i].f = threadIdx.x * 1.5f + i;
  unsigned sum = 0;
  for (int i = 0; i < 16; ++i)
    sum = sum * 31 + w[(i + threadIdx.x) / 4 % 4].b[(i * 3 + threadIdx.x) % 4];
  out[threadIdx.x] = sum;
}

__device__ __noinline__ void bump(int* where, int by) { *where += by; }

__global__ void addresses(int* out) {
  int values[5] = {1, 2, 3, 4, 5};
  for (int i = 0; i < 10; ++i) bump(&values[(threadIdx.x + i) % 5], i);
  int* p = values + threadIdx.x % 5;
  out[threadIdx.x] = *p * 1000 + values[4] * 10 + (p >= values);
}

struct Wide {
  long long a;
  short b;
  char c;
  double d;
};

__global__ void structs(double* out) {
  Wide w[6];
  for (int i = 0; i < 6; ++i) w[i] = {i * 10000000000ll, short(-i), char(i + 1), i / 4.0};
  Wide v = w[threadIdx.x % 6];
  out[threadIdx.x] = v.a + v.b + v.c + v.d;
}

int main() {
  std::vector<unsigned> in(256);
  Random random(10);
  for (unsigned& v : in) v = random.next32();
  Buffer<unsigned> source(in), b(64);
  Buffer<int> a(64), c(64);
  Buffer<double> d(32);
  histogram<<<1, 64>>>(a, source);
  bytes<<<1, 64>>>(b);
  addresses<<<1, 64>>>(c);
  structs<<<1, 32>>>(d);
  print("histogram", a.read());
  print("bytes", b.read(), 8);
  print("addresses", c.read());
  print("structs", d.read(), 8);
}
