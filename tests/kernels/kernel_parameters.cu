// Structs by value, arrays inside them, many parameters, alignment between them, up to 32,764
// bytes.
#include "tests/kernels/kernel_test.cuh"

struct Mixed {
  char a;
  double b;
  short c[3];
  int d;
  long long e;
};
struct Large {
  int v[1000];
};
struct __align__(16) Aligned {
  float x, y, z, w;
};
struct Huge {
  unsigned v[8000];
};

__global__ void mixed(double* out, char first, Mixed m, short second, Aligned f, bool flag,
                      const Mixed* p) {
  out[threadIdx.x] =
      m.a + m.b + m.c[threadIdx.x % 3] + m.d + m.e + first + second + f.x * f.w + flag + p->d;
}
__global__ void large(int* out, Large l, int at) {
  out[threadIdx.x] = l.v[(threadIdx.x * 37 + at) % 1000];
}
__global__ void huge(unsigned* out, const __grid_constant__ Huge h) {
  const unsigned* p = &h.v[threadIdx.x];
  unsigned sum = 0;
  for (int i = 0; i + 64 <= 8000; i += 64) sum += p[i] * (i + 1);
  out[threadIdx.x] = sum;
}
__global__ void many(int* out, int a, int b, int c, int d, long long e, int f, char g, char h,
                     char i, float j, double k, unsigned char l, short m, int n) {
  *out = a + 2 * b + 3 * c + 4 * d + int(e) * 5 + 6 * f + 7 * g + 8 * h + 9 * i + int(10 * j) +
         int(11 * k) + 12 * l + 13 * m + 14 * n;
}
// A kernel that changes a parameter changes only its own copy.
__global__ void changed(int* out, Large l) {
  l.v[threadIdx.x] = -5;
  int sum = 0;
  for (int i = 0; i < 40; ++i) sum += l.v[i];
  out[threadIdx.x] = sum;
}

int main() {
  Mixed m{1, 2.5, {3, 4, 5}, 6, 7};
  Large l;
  for (int i = 0; i < 1000; ++i) l.v[i] = i * 3;
  static Huge h;
  for (unsigned i = 0; i < 8000; ++i) h.v[i] = i * 2654435761u;
  Buffer<Mixed> pm(std::vector<Mixed>{m});
  Buffer<double> a(6);
  Buffer<int> b(32), c(1), d(32);
  Buffer<unsigned> e(64);
  mixed<<<1, 6>>>(a, 10, m, 20, Aligned{2, 0, 0, 8}, true, pm);
  large<<<1, 32>>>(b, l, 5);
  many<<<1, 1>>>(c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1.5f, 2.5, 250, -3, 14);
  changed<<<1, 32>>>(d, l);
  huge<<<1, 64>>>(e, h);
  print("mixed", a.read());
  print("large", b.read());
  print("many", c.read());
  print("changed", d.read());
  print("huge", e.read(), 8);
}
