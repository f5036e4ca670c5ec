// flags: -Xlinker -l:libcufft.so.12
// stderr: cuFFT transforms are computed by
// stderr: cufftXtSetCallback is not supported by the software GPU
// stderr: cufftExecC2C reads 64 bytes at 0x[0-9a-f]+: the allocation there has 32 bytes
// Results of calls, as on an H100: invalid arguments, settings, sizes of work areas, and what is
// refused.
#include "common.cuh"

namespace {

cufftComplex* memory;
cufftDoubleComplex* wide;

void plans() {
  cufftHandle plan = 77;
  IS(CUFFT_INVALID_SIZE, cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  expect(plan == 0, "no plan");
  IS(CUFFT_INVALID_SIZE, cufftPlan1d(&plan, -8, CUFFT_C2C, 1));
  IS(CUFFT_INVALID_SIZE, cufftPlan1d(&plan, 8, CUFFT_C2C, 0));
  IS(CUFFT_INVALID_TYPE, cufftPlan1d(&plan, 8, cufftType(5), 1));
  IS(CUFFT_INVALID_VALUE, cufftPlan1d(nullptr, 8, CUFFT_C2C, 1));
  IS(CUFFT_INVALID_VALUE, cufftCreate(nullptr));
  int n[] = {8, 8, 8, 8}, none[] = {0, 8}, small[] = {4, 4};
  const auto many = [&](int rank, int* sizes, int* in, int in_stride, int in_distance, int* out,
                        int out_distance, int batch) {
    const cufftResult result = cufftPlanMany(&plan, rank, sizes, in, in_stride, in_distance, out, 1,
                                             out_distance, CUFFT_C2C, batch);
    if (result == CUFFT_SUCCESS) GOOD(cufftDestroy(plan));
    return result;
  };
  IS(CUFFT_INVALID_VALUE, many(0, n, nullptr, 1, 8, nullptr, 8, 1));
  IS(CUFFT_INVALID_VALUE, many(4, n, nullptr, 1, 8, nullptr, 8, 1));
  IS(CUFFT_INVALID_VALUE, many(1, nullptr, nullptr, 1, 8, nullptr, 8, 1));
  IS(CUFFT_INVALID_SIZE, many(1, none, nullptr, 1, 8, nullptr, 8, 1));
  IS(CUFFT_INVALID_VALUE, many(1, n, n, 1, 8, nullptr, 8, 1));
  IS(CUFFT_INVALID_VALUE, many(1, n, nullptr, 1, 8, n, 8, 1));
  IS(CUFFT_INVALID_VALUE, many(2, n, n, 0, 64, n, 64, 2));
  IS(CUFFT_INVALID_VALUE, many(2, n, n, -1, 64, n, 64, 2));
  IS(CUFFT_INVALID_VALUE, many(2, n, n, 1, 0, n, 64, 2));
  IS(CUFFT_INVALID_VALUE, many(2, n, n, 1, 64, n, -64, 2));
  GOOD(many(2, n, small, 1, 64, n, 64, 1));
  GOOD(many(2, n, none, 1, 64, n, 64, 2));
  GOOD(many(1, n, nullptr, 0, 0, nullptr, 0, 1));
}

void types() {
  const auto make = [](cudaDataType in, cudaDataType out, cudaDataType computation, long long n) {
    cufftHandle plan;
    std::size_t bytes;
    GOOD(cufftCreate(&plan));
    const cufftResult result = cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 1, in, nullptr, 1, 1,
                                                   out, 3, &bytes, computation);
    GOOD(cufftDestroy(plan));
    return result;
  };
  GOOD(make(CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, 8));
  IS(CUFFT_NOT_SUPPORTED, make(CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, 6));
  IS(CUFFT_NOT_SUPPORTED, make(CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF, 6));
  GOOD(make(CUDA_R_32F, CUDA_C_32F, CUDA_R_32F, 6));
  GOOD(make(CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, 6));
  IS(CUFFT_INVALID_SIZE, make(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, 0));
  IS(CUFFT_INVALID_TYPE, make(CUDA_R_32F, CUDA_R_32F, CUDA_C_32F, 8));
  IS(CUFFT_INVALID_TYPE, make(CUDA_R_64F, CUDA_C_32F, CUDA_C_32F, 8));
  IS(CUFFT_INVALID_TYPE, make(CUDA_C_32F, CUDA_C_32F, CUDA_C_64F, 8));
  IS(CUFFT_INVALID_TYPE, make(CUDA_C_16F, CUDA_C_16F, CUDA_C_32F, 8));
  IS(CUFFT_INVALID_TYPE, make(CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, 8));
}

void handles() {
  cufftHandle plan;
  std::size_t bytes = 0;
  GOOD(cufftCreate(&plan));
  IS(CUFFT_INVALID_PLAN, cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  IS(CUFFT_INVALID_PLAN, cufftXtExec(plan, memory, memory, CUFFT_FORWARD));
  IS(CUFFT_INVALID_PLAN, cufftGetSize(plan, &bytes));
  GOOD(cufftSetWorkArea(plan, memory));
  GOOD(cufftSetStream(plan, nullptr));
  IS(CUFFT_INVALID_VALUE, cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr));
  GOOD(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
  expect(bytes == 0, "no work area for 8 numbers");
  IS(CUFFT_INVALID_PLAN, cufftMakePlan1d(plan, 16, CUFFT_C2C, 1, &bytes));
  IS(CUFFT_INVALID_VALUE, cufftGetSize(plan, nullptr));
  GOOD(cufftSetAutoAllocation(plan, 0));
  GOOD(cufftDestroy(plan));
  IS(CUFFT_INVALID_PLAN, cufftDestroy(plan));
  IS(CUFFT_INVALID_PLAN, cufftSetStream(plan, nullptr));
  IS(CUFFT_INVALID_PLAN, cufftExecC2C(99999, memory, memory, CUFFT_FORWARD));
  GOOD(cufftDestroy(CUFFT_PLAN_NULL));
}

void work_areas() {
  cufftHandle plan;
  std::size_t bytes = 0, same = 0;
  GOOD(cufftCreate(&plan));
  GOOD(cufftSetAutoAllocation(plan, 0));
  GOOD(cufftMakePlan1d(plan, 65536, CUFFT_C2C, 1, &bytes));
  expect(bytes == 65536 * sizeof(cufftComplex), "a work area of the same size");
  GOOD(cufftGetSize(plan, &same));
  expect(same == bytes, "the size again");
  GOOD(cufftEstimate1d(65536, CUFFT_C2C, 1, &same));
  expect(same == bytes, "the size beforehand");
  GOOD(cufftGetSize1d(plan, 100, CUFFT_R2C, 5, &same));
  expect(same == 0, "the size for other transforms");
  IS(CUFFT_NO_WORKSPACE, cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  GOOD(cufftSetWorkArea(plan, wide));
  GOOD(cufftExecC2C(plan, memory, memory, CUFFT_FORWARD));
  GOOD(cufftXtSetWorkAreaPolicy(plan, CUFFT_WORKAREA_MINIMAL, &same));
  GOOD(cufftDestroy(plan));
}

void executions() {
  cufftHandle both, ahead, back;
  GOOD(cufftPlan1d(&both, 8, CUFFT_C2C, 1));
  GOOD(cufftPlan1d(&ahead, 8, CUFFT_R2C, 1));
  GOOD(cufftPlan1d(&back, 8, CUFFT_C2R, 1));
  auto* const reals = reinterpret_cast<float*>(memory);
  IS(CUFFT_INVALID_VALUE, cufftExecC2C(both, memory, memory, 0));
  IS(CUFFT_INVALID_VALUE, cufftExecC2C(both, memory, memory, 2));
  IS(CUFFT_EXEC_FAILED, cufftExecC2C(both, memory, nullptr, CUFFT_FORWARD));
  IS(CUFFT_INVALID_VALUE, cufftExecC2R(ahead, memory, reals));
  IS(CUFFT_INVALID_VALUE, cufftExecR2C(back, reals, memory));
  IS(CUFFT_INVALID_VALUE, cufftXtExec(ahead, memory, memory, CUFFT_INVERSE));
  IS(CUFFT_INVALID_VALUE,
     cufftExecC2C(both, reinterpret_cast<cufftComplex*>(reals + 1), memory, 1));
  IS(CUFFT_INVALID_VALUE, cufftExecR2C(ahead, reals + 1, memory));
  // The plan's type decides, whichever call runs it.
  const On<float> in(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const On<float> out(16), other(16);
  const auto at = [](const On<float>& each) { return reinterpret_cast<cufftComplex*>(each.data); };
  GOOD(cufftExecC2C(both, at(in), at(out), CUFFT_FORWARD));
  GOOD(cufftExecR2C(both, in.data, at(other)));
  expect(out.host() == other.host(), "a transform of complex numbers by cufftExecR2C");
  for (const cufftHandle each : {both, ahead, back}) GOOD(cufftDestroy(each));
}

void settings() {
  int version = 0, major = 0;
  GOOD(cufftGetVersion(&version));
  GOOD(cufftGetProperty(MAJOR_VERSION, &major));
  expect(version == 12000 && major == 12, "the version");
  IS(CUFFT_INVALID_TYPE, cufftGetProperty(libraryPropertyType(9), &major));
  cufftHandle plan;
  long long value = 7;
  std::size_t bytes;
  GOOD(cufftCreate(&plan));
  GOOD(cufftGetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value));
  expect(value == 0, "the property at first");
  GOOD(cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1));
  GOOD(cufftGetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value));
  expect(value == 1, "the property");
  GOOD(cufftResetPlanProperty(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT));
  IS(CUFFT_INVALID_VALUE, cufftSetPlanPropertyInt64(plan, cufftProperty(9), 1));
  IS(CUFFT_NOT_SUPPORTED,
     cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 1));
  int devices[] = {0, 1};
  IS(CUFFT_INVALID_VALUE, cufftXtSetGPUs(plan, 1, devices));
  IS(CUFFT_INVALID_VALUE, cufftXtSetGPUs(plan, 2, nullptr));
  IS(CUFFT_INVALID_DEVICE, cufftXtSetGPUs(plan, 2, devices));
  IS(CUFFT_NOT_IMPLEMENTED, cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_COMPLEX, nullptr));
  GOOD(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
  IS(CUFFT_NOT_SUPPORTED,
     cufftSetPlanPropertyInt64(plan, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1));
  GOOD(cufftDestroy(plan));
}

// Reads past the allocation, which faults as in a kernel.
void past_the_end() {
  cufftHandle plan;
  const On<cufftComplex> few(4);
  GOOD(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  GOOD(cufftExecC2C(plan, few.data, memory, CUFFT_FORWARD));
  expect(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "memory past an allocation");
}

}  // namespace

int main() {
  cudaMalloc(&memory, 65536 * sizeof(cufftComplex));
  cudaMalloc(&wide, 65536 * sizeof(cufftComplex));
  plans();
  types();
  handles();
  work_areas();
  executions();
  settings();
  past_the_end();
  return finish();
}
