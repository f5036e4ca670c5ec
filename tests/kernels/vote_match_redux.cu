// Votes, matches, redux and the mask of active lanes.
#include "tests/kernels/kernel_test.cuh"

__global__ void votes(unsigned* out, const int* in) {
  int lane = threadIdx.x, v = in[lane];
  const unsigned all = 0xffffffff;
  *(out += lane) = __ballot_sync(all, v & 1);
  *(out += 32) = __all_sync(all, v >= 0);
  *(out += 32) = __all_sync(all, v > 3);
  *(out += 32) = __any_sync(all, v == in[7]);
  *(out += 32) = __any_sync(all, v > 100);
  int same = 0;
  asm volatile(
      "{.reg .pred p, q; setp.gt.s32 p, %1, 3; vote.sync.uni.pred q, p, 0xffffffff; selp.s32 %0, "
      "1, 0, q;}"
      : "=r"(same)
      : "r"(v));
  *(out += 32) = same;
}

__global__ void matches(unsigned* out, const int* in) {
  int lane = threadIdx.x, v = in[lane], same;
  *(out += lane) = __match_any_sync(0xffffffff, v);
  *(out += 32) = __match_any_sync(0xffffffff, (unsigned long long)(v & 3) << 40);
  *(out += 32) = __match_all_sync(0xffffffff, v, &same) + same;
  *(out += 32) = __match_all_sync(0xffffffff, v >> 8, &same) + same;
  out += 32;
  if (lane % 3) *out = __match_any_sync(0xb6db6db6, v & 1);
}

__global__ void reductions(unsigned* out, const int* in) {
  int lane = threadIdx.x, v = in[lane] - 5;
  const unsigned all = 0xffffffff;
  *(out += lane) = __reduce_add_sync(all, unsigned(v));
  *(out += 32) = __reduce_min_sync(all, v);
  *(out += 32) = __reduce_max_sync(all, v);
  *(out += 32) = __reduce_min_sync(all, unsigned(v));
  *(out += 32) = __reduce_max_sync(all, unsigned(v));
  *(out += 32) = __reduce_and_sync(all, unsigned(v) | 0x40);
  *(out += 32) = __reduce_or_sync(all, unsigned(v) & 0xff);
  *(out += 32) = __reduce_xor_sync(all, unsigned(v));
  out += 32;
  if (lane >= 9) *out = __reduce_add_sync(0xfffffe00, v);
  else *out = __reduce_max_sync(0x1ff, v);
}

__global__ void whole_warp_mask(unsigned* out) { out[threadIdx.x] = __activemask(); }

int main() {
  std::vector<int> in(32);
  Random random(3);
  for (int& v : in) v = random.next32() % 11;
  Buffer<int> source(in);
  Buffer<unsigned> a(32 * 6), b(32 * 5), c(32 * 9), d(48);
  votes<<<1, 32>>>(a, source);
  matches<<<1, 32>>>(b, source);
  reductions<<<1, 32>>>(c, source);
  whole_warp_mask<<<1, 48>>>(d);
  print("in", in);
  print("votes", a.read());
  print("matches", b.read());
  print("reductions", c.read());
  print("active", d.read());
}
