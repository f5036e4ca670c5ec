// Loads and stores of every width, vectors, cache operators, volatile, relaxed and acquire forms.
#include "tests/kernels/kernel_test.cuh"

using u64 = unsigned long long;

__global__ void widths(u64* out, const unsigned char* in) {
  int t = threadIdx.x;
  u64 sum = in[t];
  sum = sum * 31 + reinterpret_cast<const signed char*>(in)[t + 1];
  sum = sum * 31 + reinterpret_cast<const unsigned short*>(in)[t];
  sum = sum * 31 + reinterpret_cast<const short*>(in)[t + 3];
  sum = sum * 31 + reinterpret_cast<const unsigned*>(in)[t];
  sum = sum * 31 + reinterpret_cast<const u64*>(in)[t % 32];
  uint2 two = reinterpret_cast<const uint2*>(in)[t % 32];
  uint4 four = reinterpret_cast<const uint4*>(in)[t % 16];
  ushort4 shorts = reinterpret_cast<const ushort4*>(in)[t % 32];
  uchar4 bytes = reinterpret_cast<const uchar4*>(in)[t % 64];
  ulonglong2 longs = reinterpret_cast<const ulonglong2*>(in)[t % 16];
  double2 doubles = reinterpret_cast<const double2*>(in)[t % 16];
  sum = sum * 31 + two.x + 3 * two.y + 5 * four.x + 7 * four.w + 11 * shorts.y + 13 * shorts.w;
  sum = sum * 31 + bytes.x + 3 * bytes.w + 5 * longs.x + 7 * longs.y +
        __double_as_longlong(doubles.y);
  out[t] = sum;
}

__global__ void operators(unsigned* out, unsigned* data) {
  int t = threadIdx.x;
  unsigned v, w;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(data + t));
  asm volatile("ld.global.cg.u32 %0, [%1+4];" : "=r"(w) : "l"(data + t));
  v += w * 3;
  asm volatile("ld.global.cv.u32 %0, [%1+8];" : "=r"(w) : "l"(data + t));
  v += w * 5;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(w) : "l"(data + 64 - t));
  v += w * 7;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(w) : "l"(data + 32));
  v += w * 11;
  asm volatile("ld.global.L1::no_allocate.L2::128B.u32 %0, [%1];" : "=r"(w) : "l"(data + (t ^ 3)));
  v += w * 13;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(data + t));
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(out + t), "r"(v) : "memory");
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(out + 64 + t), "r"(v ^ w) : "memory");
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %1};" ::"l"(out + 128 + 4 * t), "r"(v), "r"(w),
               "r"(t)
               : "memory");
}

__global__ void narrow_stores(unsigned char* out) {
  int t = threadIdx.x;
  unsigned v = t * 0x01030507u + 99;
  out[t] = v;
  reinterpret_cast<unsigned short*>(out + 64)[t] = v >> 3;
  reinterpret_cast<uchar4*>(out + 192)[t] = make_uchar4(v, v >> 8, v >> 16, v >> 24);
  reinterpret_cast<ushort2*>(out + 448)[t] = make_ushort2(v, v >> 13);
  reinterpret_cast<ulonglong2*>(out + 704)[t] = make_ulonglong2(v * 77ull << 20, v);
}

int main() {
  std::vector<unsigned> in(128);
  Random random(15);
  for (unsigned& v : in) v = random.next32();
  Buffer<unsigned> data(in), b(384);
  Buffer<u64> a(64);
  Buffer<unsigned char> c(1728);
  widths<<<1, 64>>>(a, reinterpret_cast<const unsigned char*>(data.device));
  operators<<<1, 64>>>(b, data);
  narrow_stores<<<1, 64>>>(c);
  print("widths", a.read(), 4);
  print_checksum("operators", b.read());
  print_checksum("narrow_stores", c.read());
}
