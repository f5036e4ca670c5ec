// software-only
// options: --devices 3
// flags: -lcuda
// stderr: multimem\.red\.relaxed\.sys\.global\.add\.u32 at 0x[0-9a-f]+, which is not in a mapped multicast object
// Multicast objects and multimem instructions: one address for memory of three devices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/kernels/multicast_test.cuh"

constexpr int devices = 3;

// --- kernels ---

#define LD_REDUCE(form, reg, out, address)                                \
  asm volatile("multimem.ld_reduce.relaxed.sys.global." form " %0, [%1];" \
               : "=" reg(out)                                             \
               : "l"(address)                                             \
               : "memory")
#define RED(form, reg, value, address)                                                         \
  asm volatile("multimem.red.relaxed.sys.global." form " [%0], %1;" ::"l"(address), reg(value) \
               : "memory")

__global__ void store(char* all) {
  const unsigned i = threadIdx.x;
  asm volatile("multimem.st.weak.global.u32 [%0], %1;" ::"l"(all + 4 * i), "r"(i + 1) : "memory");
  if (i % 2 == 0)
    asm volatile(
        "multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(all + 1024 + 16 * i),
        "f"(1.0f * i), "f"(2.0f * i), "f"(3.0f * i), "f"(4.0f * i)
        : "memory");
}

// Each device has its own values and adds to its own.
__global__ void differ(char* own, int device) {
  const unsigned i = threadIdx.x;
  ((unsigned*)own)[i] += 100 * device * (i % 3);
  ((long long*)(own + 4096))[i] = (device - 1) * (long long)(i + 1) * (1ll << 33);
  ((__half*)(own + 8192))[i] = __float2half(0.1f * (i + 1) * (device + 1));
  ((__nv_bfloat16*)(own + 12288))[i] = __float2bfloat16(0.3f * (i + 1) * (device + 1));
  ((double*)(own + 16384))[i] = 1e-3 * (i + 1) * (device + 1);
}

__global__ void reduce(char* all, long long* out) {
  const unsigned i = threadIdx.x;
  unsigned u;
  long long s;
  double d;
  unsigned h[4];
  unsigned short pair[2];
  int n = 0;
  auto put = [&](long long value) { out[n++ * 32 + i] = value; };
  LD_REDUCE("add.u32", "r", u, all + 4 * i);
  put(u);
  LD_REDUCE("min.u32", "r", u, all + 4 * i);
  put(u);
  LD_REDUCE("max.s32", "r", u, all + 4 * i);
  put(u);
  LD_REDUCE("and.b32", "r", u, all + 4 * i);
  put(u);
  LD_REDUCE("or.b32", "r", u, all + 4 * i);
  put(u);
  LD_REDUCE("xor.b32", "r", u, all + 4 * i);
  put(u);
  LD_REDUCE("add.u64", "l", s, all + 4096 + 8 * i);
  put(s);
  LD_REDUCE("min.s64", "l", s, all + 4096 + 8 * i);
  put(s);
  LD_REDUCE("max.u64", "l", s, all + 4096 + 8 * i);
  put(s);
  LD_REDUCE("add.f64", "d", d, all + 16384 + 8 * i);
  put(__double_as_longlong(d));
  LD_REDUCE("add.f16x2", "r", u, all + 8192 + 4 * (i / 2));
  put(u);
  LD_REDUCE("add.acc::f32.f16x2", "r", u, all + 8192 + 4 * (i / 2));
  put(u);
  LD_REDUCE("max.bf16x2", "r", u, all + 12288 + 4 * (i / 2));
  put(u);
  asm volatile("multimem.ld_reduce.relaxed.sys.global.min.v2.f16 {%0, %1}, [%2];"
               : "=h"(pair[0]), "=h"(pair[1])
               : "l"(all + 8192 + 4 * (i / 2))
               : "memory");
  put(pair[i % 2]);
  asm volatile("multimem.ld_reduce.weak.global.add.acc::f32.v4.bf16x2 {%0, %1, %2, %3}, [%4];"
               : "=r"(h[0]), "=r"(h[1]), "=r"(h[2]), "=r"(h[3])
               : "l"(all + 12288 + 16 * (i / 8))
               : "memory");
  put(h[i % 4]);
}

__global__ void add(char* all) {
  const unsigned i = threadIdx.x;
  RED("add.u32", "r", i, all);
  RED("or.b64", "l", 1ll << i, all + 8);
  RED("add.f32", "f", 0.5f, all + 16);
  RED("max.s64", "l", (long long)i - 5, all + 24);
  if (i == 0)
    asm volatile(
        "multimem.red.relaxed.sys.global.add.v4.f16x2 [%0], {%1, %1, %2, %2};" ::"l"(all + 32),
        "r"(0x3c003800), "r"(0x40003c00)
        : "memory");
}

__global__ void astray(char* all) { RED("add.u32", "r", 1u, all); }

void print_sum(const char* what, const long long* values, int count) {
  unsigned long long hash = 0xcbf29ce484222325;
  for (int i = 0; i < count; ++i) hash = (hash ^ (unsigned long long)values[i]) * 0x100000001b3;
  std::printf("%s: %llx, first %llx, last %llx\n", what, hash, values[0], values[count - 1]);
}

int main() {
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));
  int supported = 0;
  cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0);
  std::printf("supported: %d\n", supported);
  CUmulticastObjectProp p = {};
  p.numDevices = devices, p.size = page;
  size_t granularity = 0;
  std::printf("granularity %d",
              int(cuMulticastGetGranularity(&granularity, &p, CU_MULTICAST_GRANULARITY_MINIMUM)));
  std::printf(" %d\n", int(granularity == page));
  CUmemGenericAllocationHandle object = 0;
  std::printf("create %d\n", int(cuMulticastCreate(&object, &p)));
  p.size = 100;
  CUmemGenericAllocationHandle bad = 0;
  std::printf("of an odd size %d\n", int(cuMulticastCreate(&bad, &p)));
  Memory memory[devices] = {Memory(0), Memory(1), Memory(2)};
  std::printf("bound too early %d\n",
              int(cuMulticastBindMem(object, 0, memory[0].handle, 0, page, 0)));
  for (int d = 0; d < devices; ++d) std::printf("add %d\n", int(cuMulticastAddDevice(object, d)));
  std::printf("one too many %d\n", int(cuMulticastAddDevice(object, 0)));
  std::printf("bind %d", int(cuMulticastBindMem(object, 0, memory[0].handle, 0, page, 0)));
  std::printf(" %d", int(cuMulticastBindMem(object, 0, memory[1].handle, 0, page, 0)));
  std::printf(" %d\n", int(cuMulticastBindAddr(object, 0, (CUdeviceptr)memory[2].at, page, 0)));
  std::printf("bound already %d\n",
              int(cuMulticastBindMem(object, 0, memory[1].handle, 0, page, 0)));
  std::printf("past its end %d\n",
              int(cuMulticastBindMem(object, page, memory[1].handle, 0, page, 0)));

  char* all = mapped(object, page, 0);
  CHECK(cudaSetDevice(0));
  store<<<1, 32>>>(all);
  CHECK(cudaDeviceSynchronize());
  for (Memory& each : memory) {
    unsigned words[32];
    float floats[128];
    CHECK(cudaMemcpy(words, each.at, sizeof words, cudaMemcpyDefault));
    CHECK(cudaMemcpy(floats, each.at + 1024, sizeof floats, cudaMemcpyDefault));
    std::printf("stored: %u %u, %g %g\n", words[0], words[31], floats[9], floats[123]);
  }
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    differ<<<1, 32>>>(memory[d].at, d);
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaSetDevice(1));
  long long* out;
  CHECK(cudaMallocManaged(&out, 15 * 32 * sizeof *out));
  reduce<<<1, 32>>>(all, out);
  CHECK(cudaDeviceSynchronize());
  const char* names[] = {"add.u32",    "min.u32", "max.s32",   "and",
                         "or",         "xor",     "add.u64",   "min.s64",
                         "max.u64",    "add.f64", "add.f16x2", "add.acc::f32.f16x2",
                         "max.bf16x2", "min.f16", "v4.bf16x2"};
  for (int i = 0; i < 15; ++i) print_sum(names[i], out + i * 32, 32);
  // Computed from their definition: of the unsigned words and of the halves.
  int wrong = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned v[] = {i + 1, i + 1 + 100 * (i % 3), i + 1 + 200 * (i % 3)};
    wrong += out[i] != v[0] + v[1] + v[2];
    wrong += out[32 + i] != v[0];
    wrong += out[64 + i] != v[2];
    wrong += out[96 + i] != (v[0] & v[1] & v[2]);
    wrong += out[128 + i] != (v[0] | v[1] | v[2]);
    wrong += out[160 + i] != (v[0] ^ v[1] ^ v[2]);
    wrong += out[192 + i] != 0;
    float exact = 0, stepwise = 0;
    for (int d = 0; d < devices; ++d) {
      const float x = __half2float(__float2half(0.1f * (i + 1) * (d + 1)));
      exact += x;
      stepwise = __half2float(__float2half(stepwise + x));
    }
    const auto half_of = [&](long long word) { return (unsigned short)(word >> 16 * (i % 2)); };
    wrong += half_of(out[320 + i]) != __half_as_ushort(__float2half(stepwise));
    wrong += half_of(out[352 + i]) != __half_as_ushort(__float2half(exact));
  }
  std::printf("wrong: %d\n", wrong);

  for (Memory& each : memory) CHECK(cudaMemset(each.at, 0, 64));
  CHECK(cudaDeviceSynchronize());
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaDeviceSynchronize());
    add<<<4, 32>>>(all);
    CHECK(cudaDeviceSynchronize());
  }
  for (Memory& each : memory) {
    long long words[6];
    CHECK(cudaMemcpy(words, each.at, sizeof words, cudaMemcpyDefault));
    float sum;
    std::memcpy(&sum, &words[2], 4);
    std::printf("red: %lld %llx %g %lld %llx %llx\n", words[0], words[1], sum, words[3], words[4],
                words[5]);
  }
  std::printf("unbind %d\n", int(cuMulticastUnbind(object, 2, 0, page)));
  std::printf("again %d\n", int(cuMulticastUnbind(object, 2, 0, page)));
  astray<<<1, 1>>>(all);
  std::printf("behind it: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
