// Prints a hash of a GPU's results of each approximate function over ranges of arguments. A line
// has the instruction, the first argument's bits, the step to the next one, the number of
// arguments, and the hash. Arguments and results of f64 are high words.
//
//   nvcc -std=c++17 -arch=sm_90 -o multifunction_truth multifunction_truth.cu
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Word = std::uint32_t;

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
  std::exit(1);
}

// out[i] is the result of the argument first + i step.
using Kernel = void (*)(Word first, Word step, Word* out);

#define KERNEL(NAME, CODE)                                 \
  __global__ void NAME(Word first, Word step, Word* out) { \
    const Word i = blockIdx.x * blockDim.x + threadIdx.x;  \
    Word result;                                           \
    asm(CODE : "=r"(result) : "r"(first + i * step));      \
    out[i] = result;                                       \
  }
#define SINGLE(NAME, OP) KERNEL(NAME, "{.reg .f32 x; mov.b32 x, %1; " OP " x, x; mov.b32 %0, x;}")
#define DOUBLE(NAME, OP)                                              \
  KERNEL(NAME, "{.reg .f64 x; .reg .b32 low; mov.b64 x, {0, %1}; " OP \
               " x, x; "                                              \
               "mov.b64 {low, %0}, x;}")
#define HALF(NAME, OP) \
  KERNEL(NAME, "{.reg .b16 x; cvt.u16.u32 x, %1; " OP " x, x; cvt.u32.u16 %0, x;}")

SINGLE(rcp, "rcp.approx.ftz.f32")
SINGLE(rsqrt_, "rsqrt.approx.ftz.f32")
SINGLE(sqrt_, "sqrt.approx.ftz.f32")
SINGLE(ex2, "ex2.approx.ftz.f32")
SINGLE(lg2, "lg2.approx.ftz.f32")
SINGLE(sin_, "sin.approx.ftz.f32")
SINGLE(cos_, "cos.approx.ftz.f32")
SINGLE(tanh_, "tanh.approx.f32")
DOUBLE(rcp_double, "rcp.approx.ftz.f64")
DOUBLE(rsqrt_double, "rsqrt.approx.ftz.f64")
HALF(ex2_f16, "ex2.approx.f16")
HALF(ex2_bf16, "ex2.approx.ftz.bf16")
HALF(tanh_f16, "tanh.approx.f16")
HALF(tanh_bf16, "tanh.approx.bf16")

constexpr Word piece = 1 << 20;  // results computed at a time

class Device {
 public:
  Device() { require(cudaMalloc(&out_, piece * sizeof(Word)), "cudaMalloc"); }
  void print(const char* name, Kernel kernel, Word first, Word step, Word count) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (Word done = 0; done < count; done += piece) {
      std::vector<Word> results(count < piece ? count : piece);
      const Word blocks = static_cast<Word>(results.size()) / 256;
      kernel<<<blocks, 256>>>(first + done * step, step, out_);
      require(cudaMemcpy(results.data(), out_, results.size() * sizeof(Word), cudaMemcpyDefault),
              name);
      for (const Word result : results) hash = (hash ^ result) * 0x100000001b3;
    }
    std::printf("%s %08x %u %u : %016llx\n", name, first, step, count,
                static_cast<unsigned long long>(hash));
  }

 private:
  Word* out_ = nullptr;
};

constexpr Word octave = 1 << 23;  // the numbers of one exponent
// Every number of one exponent if it is in [low, high], else each 16th.
void print_exponent(Device& device, const char* name, Kernel kernel, Word first, Word low,
                    Word high) {
  const bool every = first >= low && first <= high;
  device.print(name, kernel, first, every ? 1 : 16, every ? octave : octave / 16);
}

}  // namespace

int main() {
  constexpr Word half = 0x3f000000, one = 0x3f800000, two = 0x40000000, four = 0x40800000;
  Device device;
  device.print("rcp.approx.ftz.f32", rcp, one, 1, octave);
  device.print("rsqrt.approx.ftz.f32", rsqrt_, one, 1, 2 * octave);
  device.print("sqrt.approx.ftz.f32", sqrt_, one, 1, 2 * octave);
  device.print("ex2.approx.ftz.f32", ex2, 0x3c800000, 8, octave);
  for (const Word first : {half, one, 0x42800000u, 0xbf800000u})
    device.print("ex2.approx.ftz.f32", ex2, first, 1, octave);
  for (const Word first : {half, one}) device.print("lg2.approx.ftz.f32", lg2, first, 1, octave);
  device.print("lg2.approx.ftz.f32", lg2, four, 4, octave);
  const Word angles[] = {0x3a800000, 0x3d800000, 0x3e800000, half,       one,       two,
                         four,       0x41000000, 0x44800000, 0x49800000, 0x4b800000};
  for (const Word angle : angles)
    print_exponent(device, "sin.approx.ftz.f32", sin_, angle, half, four);
  for (const Word angle : angles)
    print_exponent(device, "cos.approx.ftz.f32", cos_, angle, half, four);
  for (Word first = 0x38800000; first <= 0x41000000; first += octave)
    print_exponent(device, "tanh.approx.f32", tanh_, first, 0x3e800000, two);
  device.print("rcp.approx.ftz.f64", rcp_double, 0x3ff00000, 1, 1 << 20);
  device.print("rcp.approx.ftz.f64", rcp_double, 0x40000000, 1, 1 << 20);
  device.print("rsqrt.approx.ftz.f64", rsqrt_double, 0x3ff00000, 1, 1 << 21);
  device.print("ex2.approx.f16", ex2_f16, 0, 1, 1 << 16);
  device.print("ex2.approx.ftz.bf16", ex2_bf16, 0, 1, 1 << 16);
  device.print("tanh.approx.f16", tanh_f16, 0, 1, 1 << 16);
  device.print("tanh.approx.bf16", tanh_bf16, 0, 1, 1 << 16);
}
