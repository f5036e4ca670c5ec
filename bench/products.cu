// arch: compute_80
// Multiply-adds a second of kernels that only multiply: mma.sync on a warp's tile of two A by four
// B, as GEMMs have it, from registers. A line each as workload::report prints it, with
// multiply-adds in place of elements.
//   products [REPETITIONS] [--kernel NAME]
#include <cstdint>

#include "bench/engine/workload.hpp"
#include "examples/example.cuh"

namespace {

constexpr int blocks = 4, threads = 128, rounds = 2000;
constexpr int tile_rows = 2, tile_columns = 4;

// A form of 16 rows and 8 columns whose accumulators are four registers of a type and constraint.
#define FORM(Form, NAME, MULTIPLY_ADDS, RESULT, CONSTRAINT, INSTRUCTION)                           \
  struct Form {                                                                                    \
    static constexpr const char* name = NAME;                                                      \
    static constexpr int multiply_adds = MULTIPLY_ADDS;                                            \
    using Result = RESULT;                                                                         \
    __device__ static void multiply(Result (&d)[4], const uint32_t (&a)[4],                        \
                                    const uint32_t (&b)[2]) {                                      \
      asm volatile(                                                                                \
          "mma.sync.aligned." INSTRUCTION " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
          : "+" CONSTRAINT(d[0]), "+" CONSTRAINT(d[1]), "+" CONSTRAINT(d[2]), "+" CONSTRAINT(d[3]) \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                     \
    }                                                                                              \
  };
FORM(F16ToF32, "f16_to_f32", 16 * 8 * 16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
FORM(Bf16ToF32, "bf16_to_f32", 16 * 8 * 16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
FORM(S8ToS32, "s8_to_s32", 16 * 8 * 32, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")

// Two registers hold its accumulators.
struct F16ToF16 {
  static constexpr const char* name = "f16_to_f16";
  static constexpr int multiply_adds = 16 * 8 * 16;
  using Result = uint32_t;
  __device__ static void multiply(uint32_t (&d)[4], const uint32_t (&a)[4],
                                  const uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
        "{%0,%1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

// Each lane's words are its own, and the same in all tiles.
template <class Form>
__global__ void multiply(typename Form::Result* out, const uint32_t* in) {
  uint32_t a[tile_rows][4], b[tile_columns][2];
  for (int i = 0; i < tile_rows * 4; ++i) a[i / 4][i % 4] = in[i * 32 + threadIdx.x % 32];
  for (int i = 0; i < tile_columns * 2; ++i) b[i / 2][i % 2] = in[(i + 8) * 32 + threadIdx.x % 32];
  typename Form::Result d[tile_rows][tile_columns][4] = {};
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int row = 0; row < tile_rows; ++row)
#pragma unroll
      for (int column = 0; column < tile_columns; ++column)
        Form::multiply(d[row][column], a[row], b[column]);
  const int thread = blockIdx.x * threads + threadIdx.x;
  for (int i = 0; i < tile_rows * tile_columns * 4; ++i)
    out[i * blocks * threads + thread] = d[i / 16][i / 4 % 4][i % 4];
}

// Two numbers of either sign from 2^-6 to 2^-2, with this many bits of fraction. No sum overflows.
uint32_t two_small(uint32_t bits, int fraction, int bias) {
  const auto small = [&](uint32_t b) {
    return (b & (0x8000u | ((1u << fraction) - 1))) | (bias - 6 + (b >> 10 & 3)) << fraction;
  };
  return small(bits >> 16) << 16 | small(bits & 0xffff);
}
uint32_t two_f16(uint32_t bits) { return two_small(bits, 10, 15); }
uint32_t two_bf16(uint32_t bits) { return two_small(bits, 7, 127); }
uint32_t four_s8(uint32_t bits) { return bits; }

template <class Form>
void measure(const workload::Arguments& asked, uint32_t (*word)(uint32_t bits)) {
  std::vector<uint32_t> values(16 * 32);
  uint32_t state = 1;
  for (uint32_t& v : values) {
    state = state * 1664525u + 1013904223u;
    v = word(state ^ state >> 13);
  }
  constexpr std::size_t results = std::size_t{tile_rows} * tile_columns * 4 * blocks * threads;
  uint32_t* const in = device_copy(values);
  typename Form::Result* out;
  CHECK(cudaMalloc(&out, results * sizeof *out));
  constexpr long long count =
      1ll * blocks * threads / 32 * rounds * tile_rows * tile_columns * Form::multiply_adds;
  workload::report(
      Form::name, count, asked, [] {},
      [&] {
        multiply<Form><<<blocks, threads>>>(out, in);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
      },
      [&] {  // all warps did the same
        const auto got = host_copy(out, results);
        for (std::size_t i = 0; i < results; ++i)
          if (got[i] != got[i / (blocks * threads) * (blocks * threads) + i % 32]) return false;
        return true;
      });
}

}  // namespace

int main(int argc, char** argv) {
  const auto asked = workload::parse(argc, argv);
  measure<F16ToF32>(asked, two_f16);
  measure<F16ToF16>(asked, two_f16);
  measure<Bf16ToF32>(asked, two_bf16);
  measure<S8ToS32>(asked, four_s8);
  return 0;
}
