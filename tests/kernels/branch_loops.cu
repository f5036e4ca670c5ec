// alone: tests/cli/programs.sh looks into its file
// Loops that lanes leave at different times by break, continue, goto and return.
#include "tests/kernels/kernel_test.cuh"

__global__ void collatz(int* out) {
  unsigned n = threadIdx.x + 1;
  int steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  out[threadIdx.x] = steps;
}

__global__ void breaks(int* out) {
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 20; ++i) {
    if (i % 4 == t % 4) continue;
    if (i * i > t * 3) break;
    for (int j = 0;; ++j) {
      if (j == i) goto next;
      if (((j + t) & 7) == 7) break;
      sum += j;
    }
    sum += 1000;
  next:
    ++sum;
  }
  out[t] = sum;
}

__global__ void returns(int* out) {
  int t = threadIdx.x;
  for (int i = 0; i < 64; ++i) {
    if (i == t) return;
    out[t] += i;
    if (t >= 40 && i == 40) return;
  }
}

__global__ void do_while(int* out) {
  int t = threadIdx.x, count = 0, v = t;
  do {
    do {
      v = (v * 5 + 3) & 63;
      ++count;
    } while (v & 3);
  } while (v != 0 && count < 50);
  out[t] = count * 100 + v;
}

int main() {
  Buffer<int> a(64), b(64), c(64), d(64);
  collatz<<<1, 64>>>(a);
  breaks<<<1, 64>>>(b);
  returns<<<1, 64>>>(c);
  do_while<<<1, 64>>>(d);
  print("collatz", a.read());
  print("breaks", b.read());
  print("returns", c.read());
  print("do_while", d.read());
}
