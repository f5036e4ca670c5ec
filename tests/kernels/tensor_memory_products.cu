// tcgen05.mma of every kind without scales: each swizzle, both majors, A in shared and in tensor
// memory, M of 32 to 128, with .ws, a mask of lanes, a scaled accumulator, and accumulation over
// steps of k. Values are small integers, so the host's sums are exact.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// async: late early shuffled:1
// software-only
#include <cmath>

#include "kernel_test.cuh"
#include "part/tcgen05.cuh"

enum Kind { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8 };
constexpr const char* names[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2",
                                 "e2m3", "e3m2", "e2m1", "u8",   "s8"};

struct Case {
  const char* what;
  Kind a = f16, b = f16;
  int d = 1;  // 0: f16, 1: f32, 2: s32
  int m = 128, n = 64, steps = 4;
  int swizzle_a = 128, swizzle_b = 128;
  bool mn_a = false, mn_b = false, a_in_tensor_memory = false, ws = false;
  bool negates_a = false, accumulates = true;
  int scale_d = 0;
  unsigned mask = 0;  // lanes left out, of the first 32
};

struct Plan {
  int kind;  // 0 f16, 1 tf32, 2 f8f6f4, 3 i8
  bool a_in_tensor_memory, ws, accumulates, scaled, masked;
  unsigned mask;
  std::uint32_t descriptor;
  int steps, columns, a_bytes, b_bytes;
  std::uint64_t a[8], b[8];
};

#define MMA(FORM, A, A_OPERAND, REST)                                                  \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma" FORM " [%0], " A \
               ", %2, %3, " REST "p;\n}" ::"r"(d),                                     \
               A_OPERAND, "l"(b), "r"(descriptor), "r"(accumulates)                    \
               : "memory")
#define BOTH(FORM)                                                                 \
  if (in_tensor_memory) MMA(FORM, "[%1]", "r"(static_cast<std::uint32_t>(a)), ""); \
  else MMA(FORM, "%1", "l"(a), "")

__device__ void multiply(const Plan& p, std::uint32_t d, std::uint64_t a, std::uint64_t b,
                         int accumulates) {
  const std::uint32_t descriptor = p.descriptor;
  const bool in_tensor_memory = p.a_in_tensor_memory;
  if (p.masked) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%5, %6, %6, %6}, p;\n}" ::"r"(d),
        "l"(a), "l"(b), "r"(descriptor), "r"(accumulates), "r"(p.mask), "r"(0)
        : "memory");
    return;
  }
  if (p.scaled) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p, 2;\n}" ::"r"(d),
        "l"(a), "l"(b), "r"(descriptor), "r"(accumulates)
        : "memory");
    return;
  }
  switch (p.kind + (p.ws ? 4 : 0)) {
    case 0: BOTH(".cta_group::1.kind::f16"); break;
    case 1: BOTH(".cta_group::1.kind::tf32"); break;
    case 2: BOTH(".cta_group::1.kind::f8f6f4"); break;
    case 3: BOTH(".cta_group::1.kind::i8"); break;
    case 4: BOTH(".ws.cta_group::1.kind::f16"); break;
    case 5: BOTH(".ws.cta_group::1.kind::tf32"); break;
    case 6: BOTH(".ws.cta_group::1.kind::f8f6f4.collector::b0::fill"); break;
    case 7: BOTH(".ws.cta_group::1.kind::i8"); break;
  }
}

__global__ void product(Plan p, const unsigned char* a, const unsigned char* b,
                        const std::uint32_t* start, std::uint32_t* result) {
  extern __shared__ __align__(1024) unsigned char raw[];
  unsigned char* const of_b = raw + (p.a_bytes + 1023) / 1024 * 1024;
  auto* const bar = reinterpret_cast<std::uint64_t*>(of_b + (p.b_bytes + 1023) / 1024 * 1024);
  auto* const address = reinterpret_cast<std::uint32_t*>(bar + 1);
  const int t = threadIdx.x;
  if (!p.a_in_tensor_memory)
    for (int i = t; i < p.a_bytes; i += 128) raw[i] = a[i];
  for (int i = t; i < p.b_bytes; i += 128) of_b[i] = b[i];
  if (t < 32) alloc(address, 512);
  if (t == 0) init(bar, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const std::uint32_t d = *address, of_a = d + 256, lanes = (t & ~31u) << 16;
  for (int i = 0; i < p.columns; ++i) store_column(d + lanes + i, start[i * 128 + t]);
  if (p.a_in_tensor_memory)
    for (int i = 0; i < p.steps * 8; ++i)
      store_column(of_a + lanes + i, reinterpret_cast<const std::uint32_t*>(a)[i * 128 + t]);
  wait_stores();
  fence_before();
  __syncthreads();
  fence_after();
  if (t == 0) {
    for (int i = 0; i < p.steps; ++i)
      multiply(p, d, p.a_in_tensor_memory ? of_a + 8 * i : p.a[i] + (shared_address(raw) >> 4),
               p.b[i] + (shared_address(of_b) >> 4), p.accumulates || i > 0);
    commit(bar);
  }
  wait(bar, 0);
  fence_after();
  for (int i = 0; i < p.columns; ++i) result[i * 128 + t] = load_column(d + lanes + i);
  wait_loads();
  __syncthreads();
  if (t < 32) dealloc(d, 512);
}

// --- the host ---

unsigned random_state;
int below(int n) {
  random_state = random_state * 1664525u + 1013904223u;
  return static_cast<int>((random_state >> 8) % static_cast<unsigned>(n));
}

bool is_integer(Kind k) { return k >= u8; }
int element_bytes(Kind k) { return k == tf32 ? 4 : k <= bf16 ? 2 : 1; }
int number_of(Kind k) {
  constexpr int numbers[] = {0, 1, 2, 0, 1, 3, 4, 5, 0, 1};
  return numbers[k];
}
// The bits of a number, which the format must have exactly.
std::uint32_t bits_of(Kind k, double value) {
  if (is_integer(k)) return static_cast<std::uint32_t>(static_cast<int>(value)) & 0xff;
  struct Format {
    int exponent, fraction;
  };
  constexpr Format formats[] = {{5, 10}, {8, 7}, {8, 23}, {4, 3}, {5, 2}, {2, 3}, {3, 2}, {2, 1}};
  const Format f = formats[k];
  const int bias = (1 << (f.exponent - 1)) - 1;
  const std::uint32_t sign = std::signbit(value) ? 1u << (f.exponent + f.fraction) : 0;
  if (value == 0) return sign;
  int exponent = std::ilogb(std::fabs(value));
  if (exponent < 1 - bias) exponent = 1 - bias;
  const auto significand =
      static_cast<std::uint32_t>(std::ldexp(std::fabs(value), f.fraction - exponent));
  const std::uint32_t one = 1u << f.fraction;
  return sign | (significand < one ? significand
                                   : (static_cast<std::uint32_t>(exponent + bias) << f.fraction) +
                                         significand - one);
}
double any_value(Kind k) {
  if (k == u8) return below(256);
  if (k == s8) return below(256) - 128;
  if (k == e2m1) {
    constexpr double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return values[below(8)] * (below(2) ? 1 : -1);
  }
  if (k == e2m3) {
    const int exponent = below(4), fraction = below(8);
    const double size = exponent ? std::ldexp(8 + fraction, exponent - 4) : fraction / 8.0;
    return below(2) ? -size : size;
  }
  return below(9) - 4;
}

void run(const Case& c) {
  const int step = 32 / element_bytes(c.a), k = step * c.steps;
  const bool ints = is_integer(c.a);
  const Layout of_a{c.swizzle_a, c.mn_a, c.m, k, element_bytes(c.a)};
  const Layout of_b{c.swizzle_b, c.mn_b, c.n, k, element_bytes(c.b)};
  std::vector<double> a(c.m * k), b(c.n * k);
  for (double& v : a) v = any_value(c.a);
  for (double& v : b) v = any_value(c.b);
  // Elements of 4 and 6 bits are packed at the start of 16 bytes.
  const auto put = [&](std::vector<unsigned char>& to, Kind kind, const Layout& of, int line,
                       int at, double value) {
    const std::uint32_t bits = bits_of(kind, value);
    const int packed = kind == e2m1 ? 4 : kind == e2m3 || kind == e3m2 ? 6 : 0;
    if (!packed) {
      for (int i = 0; i < of.element; ++i) to[of.place(line, at) + i] = bits >> 8 * i;
      return;
    }
    const int chunk = of.place(line, at / 16 * 16), bit = at % 16 * packed;
    for (int i = 0; i < packed; ++i)
      if (bits >> i & 1) to[chunk + (bit + i) / 8] |= 1 << (bit + i) % 8;
  };
  std::vector<unsigned char> image_a(c.a_in_tensor_memory ? c.steps * 8 * 128 * 4 : of_a.bytes()),
      image_b(of_b.bytes());
  // Where a block has row m: M of 64 lies in the first 16 lanes of every 32, except with .ws.
  const auto lane_of = [&](int row) { return c.m == 64 && !c.ws ? row % 16 + row / 16 * 32 : row; };
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < k; ++j) {
      if (!c.a_in_tensor_memory) {
        put(image_a, c.a, of_a, i, j, a[i * k + j]);
        continue;
      }
      std::uint32_t bits = bits_of(c.a, a[i * k + j]);
      if (c.a == e2m1) bits <<= 2;
      const int byte = j * of_a.element;
      for (int l = 0; l < of_a.element; ++l)
        image_a[(byte / 4 * 128 + lane_of(i)) * 4 + byte % 4 + l] = bits >> 8 * l;
    }
  for (int i = 0; i < c.n; ++i)
    for (int j = 0; j < k; ++j) put(image_b, c.b, of_b, i, j, b[i * k + j]);

  const int parts = c.ws ? 128 / c.m : 1, columns = c.n / parts;
  const auto bits_of_d = [&](double value) {
    if (c.d == 2) return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    return bits_of(c.d == 1 ? tf32 : f16, value);
  };
  std::vector<std::uint32_t> start(columns * 128, 0xffffffff), wanted;
  std::vector<double> initial(c.m * c.n);
  const auto place = [&](int m, int n) {
    return n % columns * 128 + lane_of(m) + n / columns * (128 / parts);
  };
  for (int m = 0; m < c.m; ++m)
    for (int n = 0; n < c.n; ++n) {
      initial[m * c.n + n] = (below(64) - 32) * (c.scale_d ? 4 : 1);
      const std::uint32_t bits = bits_of_d(initial[m * c.n + n]);
      start[place(m, n)] = c.d == 0 ? bits | 0xabcd0000 : bits;
    }
  wanted = start;
  for (int m = 0; m < c.m; ++m)
    for (int n = 0; n < c.n; ++n) {
      double sum = c.accumulates ? initial[m * c.n + n] : 0;
      for (int s = 0; s < c.steps; ++s) {
        if (c.scale_d && (s || c.accumulates)) sum = std::ldexp(sum, -c.scale_d);
        for (int j = s * step; j < (s + 1) * step; ++j)
          sum += (c.negates_a ? -1 : 1) * a[m * k + j] * b[n * k + j];
      }
      const int at = place(m, n), lane = at % 128;
      if (lane < 32 && c.mask >> lane & 1) continue;
      wanted[at] = c.d == 0 ? bits_of_d(sum) | 0xabcd0000 : bits_of_d(sum == 0 ? 0 : sum);
    }

  Plan p{};
  p.kind = ints ? 3 : c.a == tf32 ? 1 : c.a <= bf16 ? 0 : 2;
  p.a_in_tensor_memory = c.a_in_tensor_memory, p.ws = c.ws, p.accumulates = c.accumulates;
  p.masked = c.mask != 0, p.mask = c.mask, p.scaled = c.scale_d != 0;
  p.descriptor = c.d << 4 | number_of(c.a) << 7 | number_of(c.b) << 10 | c.negates_a << 13 |
                 c.mn_a << 15 | c.mn_b << 16 | c.n / 8 << 17 | c.m / 16 << 24;
  p.steps = c.steps, p.columns = columns;
  p.a_bytes = c.a_in_tensor_memory ? 0 : of_a.bytes(), p.b_bytes = of_b.bytes();
  for (int s = 0; s < c.steps; ++s)
    p.a[s] = of_a.descriptor(s * step), p.b[s] = of_b.descriptor(s * step);
  Buffer<unsigned char> device_a(image_a), device_b(image_b);
  Buffer<std::uint32_t> device_start(start), result(start.size());
  const int shared = (p.a_bytes + 1023) / 1024 * 1024 + (p.b_bytes + 1023) / 1024 * 1024 + 64;
  CHECK(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  product<<<1, 128, shared>>>(p, device_a, device_b, device_start, result);
  const auto& got = result.read();
  int wrong = 0, first = -1;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != wanted[i] && wrong++ == 0) first = static_cast<int>(i);
  std::printf("%s (%s x %s, m%dn%d): ", c.what, names[c.a], names[c.b], c.m, c.n);
  if (wrong)
    std::printf("%d of %zu differ; lane %d, column %d is %08x, not %08x\n", wrong, got.size(),
                first % 128, first / 128, got[first], wanted[first]);
  else std::printf("right\n");
}

int main() {
  random_state = 1;
  for (const int swizzle : {0, 32, 64, 128}) {
    run({.what = "swizzle", .swizzle_a = swizzle, .swizzle_b = swizzle});
    run({.what = "MN-major",
         .a = bf16,
         .b = bf16,
         .swizzle_a = swizzle,
         .swizzle_b = swizzle,
         .mn_a = true,
         .mn_b = true});
    run({.what = "MN-major",
         .a = e4m3,
         .b = e5m2,
         .n = 128,
         .steps = 2,
         .swizzle_a = swizzle,
         .swizzle_b = swizzle,
         .mn_a = true,
         .mn_b = true});
    run({.what = "B MN-major",
         .a = s8,
         .b = u8,
         .d = 2,
         .n = 128,
         .steps = 2,
         .swizzle_a = 128,
         .swizzle_b = swizzle,
         .mn_b = true});
  }
  run({.what = "K-major", .a = tf32, .b = tf32});
  run({.what = "MN-major",
       .a = tf32,
       .b = tf32,
       .swizzle_a = 1,
       .swizzle_b = 1,
       .mn_a = true,
       .mn_b = true});
  for (const int m : {64, 128})
    for (const int n : {8, 16, 72, 256}) {
      run({.what = "shape", .m = m, .n = n});
      run({.what = "f16 results", .d = 0, .m = m, .n = n, .steps = 1});
    }
  for (const Kind a : {e4m3, e5m2, e2m3, e3m2, e2m1})
    for (const Kind b : {e4m3, e2m1, e2m3}) {
      run({.what = "mixed", .a = a, .b = b});
      run({.what = "A in tensor memory", .a = a, .b = b, .a_in_tensor_memory = true});
    }
  for (const Kind a : {f16, bf16, tf32}) {
    run({.what = "A in tensor memory", .a = a, .b = a, .a_in_tensor_memory = true});
    run({.what = "A in tensor memory", .a = a, .b = a, .m = 64, .a_in_tensor_memory = true});
  }
  for (const Kind a : {u8, s8})
    for (const Kind b : {u8, s8}) run({.what = "integers", .a = a, .b = b, .d = 2, .m = 64});
  for (const int m : {32, 64, 128}) {
    run({.what = "ws", .m = m, .n = 128, .ws = true});
    run({.what = "ws", .a = e4m3, .b = e4m3, .m = m, .n = 64, .ws = true});
    run({.what = "ws", .a = s8, .b = s8, .d = 2, .m = m, .n = 256, .ws = true});
    run({.what = "ws, A in tensor memory", .m = m, .a_in_tensor_memory = true, .ws = true});
  }
  run({.what = "negated A", .negates_a = true});
  run({.what = "no accumulator", .accumulates = false});
  run({.what = "scaled accumulator", .steps = 1, .scale_d = 2});
  run({.what = "lanes left out", .mask = 0x80000005});
}
