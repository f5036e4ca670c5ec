// arch: compute_90
// Prints a GPU's results for every form of every arithmetic instruction. One line per form: its
// name, a hash of 4096 results, and the first few results (of special values). Approximate forms
// come last, with the greatest error and the results of special values.
//
//   nvcc -arch=sm_90 -cudart shared -o arithmetic_truth arithmetic_truth.cu
//   ./arithmetic_truth          all forms
//   ./arithmetic_truth NAME     every operand and result of the forms whose name begins so
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "arithmetic/approximate_forms.cuh"
#include "arithmetic/bits_forms.cuh"
#include "arithmetic/compare_forms.cuh"
#include "arithmetic/convert_forms.cuh"
#include "arithmetic/half_forms.cuh"
#include "arithmetic/inputs.hpp"
#include "arithmetic/integer_forms.cuh"
#include "arithmetic/real_forms.cuh"

namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

struct Run {
  std::vector<Cell> in[3], out;
  cudaError_t status = cudaSuccess;
};

class Device {
 public:
  Device() {
    for (Cell*& p : cells_) require(cudaMalloc(&p, samples * sizeof(Cell)), "cudaMalloc");
  }
  Run run(const Form& form) {
    Run r;
    for (int i = 0; i < 3; ++i) {
      r.in[i] = cells(form.kinds, i);
      require(cudaMemcpy(cells_[i], r.in[i].data(), samples * sizeof(Cell), cudaMemcpyDefault),
              "cudaMemcpy");
    }
    form.kernel<<<samples / 128, 128>>>(cells_[0], cells_[1], cells_[2], cells_[3]);
    r.status = cudaGetLastError();
    r.out.resize(samples);
    if (r.status == cudaSuccess)
      require(cudaMemcpy(r.out.data(), cells_[3], samples * sizeof(Cell), cudaMemcpyDefault),
              form.name);
    return r;
  }

 private:
  Cell* cells_[4] = {};
};

Cell hash(const std::vector<Cell>& values) {
  Cell h = 0xcbf29ce484222325;
  for (Cell v : values)
    for (int i = 0; i < 64; i += 8) h = (h ^ (v >> i & 0xff)) * 0x100000001b3;
  return h;
}

double half_value(Cell bits, int exponent_bits, int fraction_bits) {
  const int e = static_cast<int>(bits >> fraction_bits & ((1 << exponent_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const Cell fraction = bits & ((1ull << fraction_bits) - 1);
  const double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
  if (e == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  const double significand =
      static_cast<double>(fraction) + (e ? std::ldexp(1.0, fraction_bits) : 0);
  return sign * std::ldexp(significand, (e ? e : 1) - bias - fraction_bits);
}
double value(char kind, Cell bits) {
  if (kind == 'h') return half_value(bits, 5, 10);
  if (kind == 'b') return half_value(bits, 8, 7);
  if (kind == 'd') {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  return half_value(bits, 8, 23);
}
// The distance between neighbours at `x` in the format, without subnormals.
double ulp(char kind, double x) {
  const int fraction = kind == 'h' ? 10 : kind == 'b' ? 7 : kind == 'd' ? 52 : 23;
  const int least = kind == 'h' ? -14 : kind == 'd' ? -1022 : -126;
  const int exponent = x == 0 ? least : std::ilogb(x);
  return std::ldexp(1.0, (exponent < least ? least : exponent) - fraction);
}

bool is_normal(char kind, double x) {
  const double least = kind == 'h' ? 0x1p-14 : kind == 'd' ? 0x1p-1022 : 0x1p-126;
  return std::isfinite(x) && std::fabs(x) >= least;
}
void print_approximate(const Form& form, const Run& r) {
  double ulps = 0, absolute = 0, relative = 0;
  for (int i = 0; i < samples; ++i) {
    const double a = value(form.kinds[0], r.in[0][i]);
    const double b = form.kinds[1] ? value(form.kinds[1], r.in[1][i]) : 1;
    if (!is_normal(form.kinds[0], a) || !is_normal(form.kinds[0], b)) continue;
    if (std::fabs(b) > 0x1p126) continue;
    const double expected = form.reference(a, b), got = value(form.result, r.out[i]);
    if (!is_normal(form.result, expected) || !std::isfinite(got)) continue;
    const double error = std::fabs(got - expected);
    ulps = std::fmax(ulps, error / ulp(form.result, expected));
    relative = std::fmax(relative, error / std::fabs(expected));
    absolute = std::fmax(absolute, error);
  }
  std::printf("%-28s ulp %.3g relative 2^%.2f absolute 2^%.2f :", form.name, ulps,
              std::log2(relative), std::log2(absolute));
}
void print_all(const Form& form, const Run& r) {
  for (int i = 0; i < samples; ++i)
    std::printf("%s %llx %llx %llx = %llx\n", form.name, r.in[0][i], r.in[1][i], r.in[2][i],
                r.out[i]);
}
void print(const Form& form, const Run& r) {
  if (form.reference)
    print_approximate(form, r);
  else
    std::printf("%-28s %016llx :", form.name, hash(r.out));
  // For two operands, combines every special value of one with a few of the other.
  const std::size_t step = form.kinds[1] ? 11 : 1;
  for (int i = 0; i < shown; ++i) std::printf(" %llx", r.out[i * step]);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Device device;
  bool refused = false;
  for (const bool approximate : {false, true}) {
    if (argc < 2) std::printf("# %s\n", approximate ? "approximate" : "exact");
    for (const Form* f = Registration::first(); f; f = f->next) {
      if ((f->reference != nullptr) != approximate) continue;
      if (argc > 1 && std::strncmp(argv[1], f->name, std::strlen(argv[1])) != 0) continue;
      const Run r = device.run(*f);
      if (r.status != cudaSuccess) {
        std::printf("%-28s refused: %s\n", f->name, cudaGetErrorString(r.status));
        refused = true;
        continue;
      }
      argc > 1 ? print_all(*f, r) : print(*f, r);
    }
  }
  return refused;
}
