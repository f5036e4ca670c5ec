// Every integer atomic on global and shared memory, of 32 and 64 bits, with results that do not
// depend on the order of the threads.
#include "tests/kernels/kernel_test.cuh"

__global__ void global32(int* v, unsigned* u) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&v[0], t);
  atomicSub(&v[1], t * 2);
  atomicMin(&v[2], t - 500);
  atomicMax(&v[3], t * 3 - 100);
  atomicAnd(&v[4], ~(1 << (t % 20)));
  atomicOr(&v[5], 1 << (t % 23));
  atomicXor(&v[6], t * 0x9e3779b9);
  atomicMin(&u[0], 0xfffffff0u - t);
  atomicMax(&u[1], 0x80000000u + t);
  atomicInc(&u[2], 99);
  atomicDec(&u[3], 77);
  atomicExch(&u[4], 12345);
  if (atomicCAS(&u[5], 0, 1) == 0) atomicAdd(&u[6], 1);
  atomicAdd(&u[7], 0xffffffffu);
}

__global__ void global64(unsigned long long* v, long long* s) {
  unsigned long long t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&v[0], t << 30);
  atomicMin(&v[1], t + (1ull << 40));
  atomicMax(&v[2], t << 35);
  atomicAnd(&v[3], ~(1ull << (t % 50)));
  atomicOr(&v[4], 1ull << (t % 61));
  atomicXor(&v[5], t * 0x9e3779b97f4a7c15ull);
  atomicMin(&s[0], -(long long)t << 33);
  atomicMax(&s[1], (long long)(t << 33) - 7);
  atomicExch(&v[6], 1ull << 63);
  unsigned long long old = v[7], seen;
  do {
    seen = old;
    old = atomicCAS(&v[7], seen, seen + (t ^ 5));
  } while (old != seen);
}

__global__ void shared(int* out, unsigned long long* wide) {
  __shared__ int bins[16];
  __shared__ unsigned long long sum;
  int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&bins[t * t % 16], t);
  atomicAdd(&sum, (unsigned long long)t * t * t);
  __syncthreads();
  if (t < 16) out[t] = bins[t];
  if (t == 0) *wide = sum;
}

// Each atomic returns one number of a permutation of the tickets.
__global__ void tickets(int* counter, int* seen) {
  int mine = atomicAdd(counter, 1);
  atomicAdd(&seen[mine], 1);
  unsigned wrapped = atomicInc((unsigned*)counter + 1, 31);
  atomicAdd(&seen[256 + wrapped], 1);
}

int main() {
  Buffer<int> v(std::vector<int>{0, 0, 0, 0, -1, 0, 0}), out(16), counter(2), seen(288);
  Buffer<unsigned> u(std::vector<unsigned>{~0u, 0, 0, 50, 0, 0, 0, 1000});
  Buffer<unsigned long long> w(std::vector<unsigned long long>{0, ~0ull, 0, ~0ull, 0, 0, 0, 3}),
      sum(1);
  Buffer<long long> s(2);
  global32<<<5, 160>>>(v, u);
  global64<<<5, 160>>>(w, s);
  shared<<<1, 512>>>(out, sum);
  tickets<<<2, 128>>>(counter, seen);
  print("int", v.read());
  print("unsigned", u.read());
  print("64 bits", w.read(), 4);
  print("signed 64 bits", s.read());
  print("shared", out.read());
  print("shared 64 bits", sum.read());
  print("tickets", seen.read(), 32);
}
