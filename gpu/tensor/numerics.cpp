// One row for each architecture. sm_90's is measured on an H200 (tests/gpu/tensor_core_truth). The
// others are published, except their least exponent and, after Volta, native_quads, which are
// sm_90's: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021);
// Khattak, Mikaitis (arXiv 2512.07004); "MMA-Sim" (arXiv 2511.10909).
#include "gpu/tensor/numerics.hpp"

namespace inflight::tensor {
namespace {

using Fp8 = Numerics::Fp8;

constexpr Numerics rows[] = {
    {70, 23, 8, Fp8::absent, 0, true, -133},     // Volta
    {75, 24, 16, Fp8::absent, 0, false, -133},   // Turing
    {80, 24, 16, Fp8::absent, 0, false, -133},   // Ampere
    {89, 24, 16, Fp8::native, 13, false, -133},  // Ada
    {90, 25, 32, Fp8::as_f16, 13, false, -133},  // Hopper
    {100, 25, 32, Fp8::native, 25, false, -133}  // Blackwell
};

}  // namespace

const Numerics& numerics_of(int number) {
  const Numerics* found = rows;
  for (const Numerics& row : rows)
    if (row.sm <= number) found = &row;
  return *found;
}

}  // namespace inflight::tensor
