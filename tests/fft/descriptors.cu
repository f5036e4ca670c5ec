// flags: -Xlinker -l:libcufft.so.12
// options: --devices 2
// stderr: cuFFT transforms are computed by
// Plans for two GPUs: memory that is spread over them, copies, and transforms there and back.
#include <algorithm>

#include "common.cuh"

namespace {

using Numbers = std::vector<Z>;

double distance(const Numbers& a, const Numbers& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

void check(int rank, const int (&n)[3], int batch) {
  const int one = n[0] * n[1] * n[2];
  Numbers in, wanted;
  for (int b = 0; b < batch; ++b) {
    Numbers each(one);
    for (int i = 0; i < one; ++i) each[i] = {sample(i + 100 * b), sample(3 * i + b)};
    const Numbers result = transform(each, n, CUFFT_FORWARD);
    in.insert(in.end(), each.begin(), each.end());
    wanted.insert(wanted.end(), result.begin(), result.end());
  }
  cufftHandle plan;
  int devices[] = {0, 1}, sizes[3] = {n[3 - rank], n[(4 - rank) % 3], n[2]};
  std::size_t work[2] = {7, 7};
  void* areas[2] = {};
  GOOD(cufftCreate(&plan));
  GOOD(cufftXtSetGPUs(plan, 2, devices));
  GOOD(cufftMakePlanMany(plan, rank, sizes, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2Z, batch, work));
  expect(work[0] == in.size() * sizeof(Z) / 2 && work[1] == work[0], "the size of each work area");
  GOOD(cufftXtSetWorkArea(plan, areas));
  cudaLibXtDesc *memory, *other;
  GOOD(cufftXtMalloc(plan, &memory, CUFFT_XT_FORMAT_INPLACE));
  GOOD(cufftXtMalloc(plan, &other, CUFFT_XT_FORMAT_INPLACE));
  const cudaXtDesc& pieces = *memory->descriptor;
  expect(pieces.nGPUs == 2 && pieces.GPUs[1] == 1 &&
             pieces.size[0] + pieces.size[1] == in.size() * sizeof(Z),
         "memory on both GPUs");
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, pieces.data[1]);
  expect(attributes.device == 1, "memory on the second GPU");

  Numbers out(in.size());
  GOOD(cufftXtMemcpy(plan, memory, in.data(), CUFFT_COPY_HOST_TO_DEVICE));
  GOOD(cufftXtExecDescriptorZ2Z(plan, memory, memory, CUFFT_FORWARD));
  expect(memory->subFormat ==
             (batch == 1 ? CUFFT_XT_FORMAT_INPLACE_SHUFFLED : CUFFT_XT_FORMAT_INPLACE),
         "the format after a transform");
  GOOD(cufftXtMemcpy(plan, out.data(), memory, CUFFT_COPY_DEVICE_TO_HOST));
  expect(distance(out, wanted) < 1e-11 * one, "a transform on two GPUs");
  GOOD(cufftXtMemcpy(plan, other, memory, CUFFT_COPY_DEVICE_TO_DEVICE));
  expect(other->subFormat == CUFFT_XT_FORMAT_INPLACE, "the format of a copy");
  GOOD(cufftXtExecDescriptor(plan, memory, memory, CUFFT_INVERSE));
  GOOD(cufftXtMemcpy(plan, out.data(), memory, CUFFT_COPY_DEVICE_TO_HOST));
  for (Z& each : out) each /= one;
  expect(distance(out, in) < 1e-11, "the inverse on two GPUs");
  GOOD(cufftXtMemcpy(plan, out.data(), other, CUFFT_COPY_DEVICE_TO_HOST));
  expect(distance(out, wanted) < 1e-11 * one, "a copy from GPUs to GPUs");

  IS(CUFFT_INVALID_PLAN, cufftXtExec(plan, pieces.data[0], pieces.data[0], CUFFT_FORWARD));
  IS(CUFFT_INVALID_VALUE, cufftXtExecDescriptorZ2Z(plan, nullptr, memory, CUFFT_FORWARD));
  GOOD(cufftXtFree(memory));
  IS(CUFFT_INVALID_VALUE, cufftXtFree(memory));
  GOOD(cufftXtFree(other));
  GOOD(cufftXtFree(nullptr));
  GOOD(cufftDestroy(plan));
}

}  // namespace

int main() {
  check(1, {1, 1, 64}, 1);
  check(1, {1, 1, 20}, 3);
  check(2, {1, 9, 8}, 1);
  check(3, {4, 6, 5}, 1);
  return finish();
}
