// Prints a hash of what a GPU computes with products and sums that its assembler may contract. A
// line has the type, the case and the hash of four results for each of 65,536 sets of arguments.
//
//   nvcc -std=c++17 -arch=sm_90 -o contraction_truth contraction_truth.cu
//
// contraction_truth [FILE]: also writes the results of the first 1,024 sets to FILE.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
  std::exit(1);
}

std::FILE* file = nullptr;
constexpr unsigned count = 1 << 16, arguments = 6, results = 4;

__host__ __device__ std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}
// Random bits. In three of four sets the exponent is one of the 16 around 1, so that sums depend on
// a product's lowest bits.
std::uint64_t argument(unsigned set, unsigned n, unsigned width, unsigned exponent_bits) {
  std::uint64_t bits = mixed(arguments * set + n + 1) >> (64 - width);
  if (set % 4 == 0) return bits;
  const unsigned fraction = width - 1 - exponent_bits;
  const std::uint64_t bias = (1u << (exponent_bits - 1)) - 1;
  const std::uint64_t exponent = bias - 8 + (bits >> fraction & 15);
  const std::uint64_t field = ((std::uint64_t{1} << exponent_bits) - 1) << fraction;
  return (bits & ~field) | exponent << fraction;
}

// The cases: PTX with results %0 to %3 and arguments %4 to %9. T and W are the type and its width
// as strings. k, l, m and n are registers. p is true for half of the sets. LAST is the end.
#define MUL(T, D, A, B) "mul." T " " D ", " A ", " B "; "
#define ADD(T, D, A, B) "add." T " " D ", " A ", " B "; "
#define SUB(T, D, A, B) "sub." T " " D ", " A ", " B "; "
#define NEG(T, D, A) "neg." T " " D ", " A "; "
#define CASES(X, T, W)                                                                             \
  X(sum, MUL(T, "m", "%4", "%5") ADD(T, "%0", "m", "%6"))                                          \
  X(minus, MUL(T, "m", "%4", "%5") SUB(T, "%0", "m", "%6"))                                        \
  X(from, MUL(T, "m", "%4", "%5") SUB(T, "%0", "%6", "m"))                                         \
  X(negative_minus, MUL(T, "m", "%4", "%5") NEG(T, "n", "m") SUB(T, "%0", "n", "%6"))              \
  X(two_sums, MUL(T, "m", "%4", "%5") ADD(T, "%0", "m", "%6") SUB(T, "%1", "%7", "m"))             \
  X(used_too, MUL(T, "m", "%4", "%5") ADD(T, "%0", "m", "%6") MUL(T, "%1", "m", "%7"))             \
  X(two_products, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%0", "m", "n"))          \
  X(products_swapped, MUL(T, "n", "%6", "%7") MUL(T, "m", "%4", "%5") SUB(T, "%0", "m", "n"))      \
  X(first_used_twice, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%0", "m", "n")       \
                          ADD(T, "%1", "m", "%8"))                                                 \
  X(second_used_twice, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%0", "m", "n")      \
                           ADD(T, "%1", "n", "%8"))                                                \
  X(twice_each,                                                                                    \
    MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%0", "m", "n") SUB(T, "%1", "m", "n")) \
  X(others_first, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%1", "n", "%8")          \
                      ADD(T, "%2", "m", "%9") ADD(T, "%0", "m", "n"))                              \
  X(others_last, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%0", "m", "n")            \
                     ADD(T, "%1", "n", "%8") ADD(T, "%2", "m", "%9"))                              \
  X(three_and_two, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") ADD(T, "%1", "m", "%8")         \
                       ADD(T, "%2", "m", "%9") ADD(T, "%0", "m", "n") ADD(T, "%3", "n", "%4"))     \
  X(ring, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") MUL(T, "l", "%8", "%9")                  \
              ADD(T, "%0", "m", "n") ADD(T, "%1", "n", "l") ADD(T, "%2", "l", "m"))                \
  X(chain, MUL(T, "m", "%4", "%5") MUL(T, "n", "%6", "%7") MUL(T, "l", "%8", "%9")                 \
               ADD(T, "k", "m", "n") ADD(T, "%0", "k", "l"))                                       \
  X(complex_product, MUL(T, "m", "%4", "%6") MUL(T, "n", "%5", "%7") SUB(T, "%0", "m", "n")        \
                         MUL(T, "l", "%4", "%7") MUL(T, "k", "%5", "%6") ADD(T, "%1", "l", "k"))   \
  X(with_itself, MUL(T, "m", "%4", "%5") ADD(T, "%0", "m", "m") ADD(T, "%1", "m", "%6"))           \
  X(product_of_product, MUL(T, "m", "%4", "%4") MUL(T, "n", "m", "%5") SUB(T, "%0", "n", "m"))     \
  X(rounded_product, "mul.rn." T " m, %4, %5; " ADD(T, "%0", "m", "%6"))                     \
  X(rounded_sum, MUL(T, "m", "%4", "%5") "add.rn." T " %0, m, %6; ")                         \
  X(guarded_sum, MUL(T, "m", "%4", "%5") "@p add." T " %0, m, %6; ")                               \
  X(guarded_product, "mov.b" W " m, %6; @p mul." T " m, %4, %5; " ADD(T, "%0", "m", "%7"))         \
  X(after_branch, MUL(T, "m", "%4", "%5") "@p bra LAST; " ADD(T, "%0", "m", "%6"))                 \
  X(beyond_branch,                                                                                 \
    MUL(T, "m", "%4", "%5") "@p bra DONE; mov.b" W " %1, %8; DONE: " ADD(T, "%0", "m", "%6"))      \
  X(within_branch, "@p bra LAST; " MUL(T, "m", "%4", "%5") ADD(T, "%0", "m", "%6"))                \
  X(beyond_fence, MUL(T, "m", "%4", "%5") "membar.cta; " ADD(T, "%0", "m", "%6"))                  \
  X(copied, MUL(T, "m", "%4", "%5") "mov.b" W " n, m; " ADD(T, "%0", "n", "%6"))                   \
  X(beside_a_use_by_bits, MUL(T, "m", "%4", "%5") ADD(T, "%0", "m", "%6") "xor.b" W " %1, m, 1; ")

#define KERNEL(NAME, R, K, W, CASE, ...)                                                       \
  __global__ void NAME##_##CASE(const R* in, R* out) {                                         \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
    const R* const a = in + arguments * i;                                                     \
    R r[results] = {};                                                                         \
    asm volatile("{.reg .b" W " k, l, m, n; .reg .pred p; setp.ne.u32 p, %10, 0; " __VA_ARGS__ \
                 "LAST: }"                                                                     \
                 : "+" K(r[0]), "+" K(r[1]), "+" K(r[2]), "+" K(r[3])                          \
                 : K(a[0]), K(a[1]), K(a[2]), K(a[3]), K(a[4]), K(a[5]), "r"(i & 1));          \
    for (unsigned k = 0; k < results; ++k) out[results * i + k] = r[k];                        \
  }

using Half = std::uint16_t;
using Pair = std::uint32_t;
#define F32(CASE, ...) KERNEL(f32, float, "f", "32", CASE, __VA_ARGS__)
#define F32_FTZ(CASE, ...) KERNEL(f32_ftz, float, "f", "32", CASE, __VA_ARGS__)
#define F64(CASE, ...) KERNEL(f64, double, "d", "64", CASE, __VA_ARGS__)
#define F16(CASE, ...) KERNEL(f16, Half, "h", "16", CASE, __VA_ARGS__)
#define F16X2(CASE, ...) KERNEL(f16x2, Pair, "r", "32", CASE, __VA_ARGS__)
#define BF16(CASE, ...) KERNEL(bf16, Half, "h", "16", CASE, __VA_ARGS__)
#define BF16X2(CASE, ...) KERNEL(bf16x2, Pair, "r", "32", CASE, __VA_ARGS__)
CASES(F32, "f32", "32")
CASES(F32_FTZ, "ftz.f32", "32")
CASES(F64, "f64", "64")
CASES(F16, "f16", "16")
CASES(F16X2, "f16x2", "32")
CASES(BF16, "bf16", "16")
CASES(BF16X2, "bf16x2", "32")

// R is made of parts, numbers of `width` bits.
template <class R>
class Device {
 public:
  Device(const char* type, unsigned width, unsigned exponent_bits) : type_(type) {
    std::vector<R> in(arguments * count);
    for (unsigned i = 0; i < count; ++i)
      for (unsigned n = 0; n < arguments; ++n) {
        std::uint64_t bits = 0;
        for (unsigned at = 0; at < 8 * sizeof(R); at += width)
          bits |= argument(i, n + 100 * at, width, exponent_bits) << at;
        std::memcpy(&in[arguments * i + n], &bits, sizeof(R));
      }
    require(cudaMalloc(&in_, in.size() * sizeof(R)), "cudaMalloc");
    require(cudaMalloc(&out_, results * count * sizeof(R)), "cudaMalloc");
    require(cudaMemcpy(in_, in.data(), in.size() * sizeof(R), cudaMemcpyDefault), "cudaMemcpy");
  }
  void print(const char* name, void (*kernel)(const R*, R*)) {
    kernel<<<count / 128, 128>>>(in_, out_);
    std::vector<unsigned char> out(results * count * sizeof(R));
    require(cudaMemcpy(out.data(), out_, out.size(), cudaMemcpyDefault), name);
    if (file) std::fwrite(out.data(), sizeof(R), results * 1024, file);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char byte : out) hash = (hash ^ byte) * 0x100000001b3;
    std::printf("%s %s %016llx\n", type_, name, static_cast<unsigned long long>(hash));
  }

 private:
  const char* type_;
  R *in_ = nullptr, *out_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) file = std::fopen(argv[1], "wb");
  Device<float> f32("f32", 32, 8), f32_ftz("f32.ftz", 32, 8);
  Device<double> f64("f64", 64, 11);
  Device<Half> f16("f16", 16, 5), bf16("bf16", 16, 8);
  Device<Pair> f16x2("f16x2", 16, 5), bf16x2("bf16x2", 16, 8);
#define PRINT_F32(CASE, ...) f32.print(#CASE, f32_##CASE);
#define PRINT_F32_FTZ(CASE, ...) f32_ftz.print(#CASE, f32_ftz_##CASE);
#define PRINT_F64(CASE, ...) f64.print(#CASE, f64_##CASE);
#define PRINT_F16(CASE, ...) f16.print(#CASE, f16_##CASE);
#define PRINT_F16X2(CASE, ...) f16x2.print(#CASE, f16x2_##CASE);
#define PRINT_BF16(CASE, ...) bf16.print(#CASE, bf16_##CASE);
#define PRINT_BF16X2(CASE, ...) bf16x2.print(#CASE, bf16x2_##CASE);
  CASES(PRINT_F32, , )
  CASES(PRINT_F32_FTZ, , )
  CASES(PRINT_F64, , )
  CASES(PRINT_F16, , )
  CASES(PRINT_F16X2, , )
  CASES(PRINT_BF16, , )
  CASES(PRINT_BF16X2, , )
  if (file) std::fclose(file);
}
