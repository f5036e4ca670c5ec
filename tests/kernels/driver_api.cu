// flags: -lcuda
// The driver API alone: contexts, modules from PTX text, launches, memory, streams, errors.
#include "tests/kernels/kernel_test.cuh"

#include <cuda.h>

const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 scale = 3;
.visible .entry fill(.param .u64 out, .param .u32 count, .param .u32 add) {
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [count];
  ld.param.u32 %r2, [add];
  mov.u32 %r3, %tid.x;
  mov.u32 %r7, %ctaid.x;
  mad.lo.s32 %r4, %r7, 32, %r3;
  setp.ge.u32 %p1, %r4, %r1;
  @%p1 bra done;
  ld.global.u32 %r5, [scale];
  mad.lo.s32 %r6, %r4, %r5, %r2;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
done:
  ret;
}
)";

#define DRIVER(call)                                                        \
  do {                                                                      \
    const char* error_name = nullptr;                                       \
    CUresult result = (call);                                               \
    cuGetErrorName(result, &error_name);                                    \
    if (result != CUDA_SUCCESS) std::printf("%s: %s\n", #call, error_name); \
  } while (0)
#define SAY_DRIVER(call)                        \
  do {                                          \
    const char* error_name = nullptr;           \
    cuGetErrorName((call), &error_name);        \
    std::printf("%s: %s\n", #call, error_name); \
  } while (0)

int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr data, scale;
  CUstream stream;
  SAY_DRIVER(cuDeviceGet(&device, 0));
  SAY_DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  char name[64];
  DRIVER(cuDeviceGetName(name, sizeof name, device));
  int major = 0;
  DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  std::printf("%s, %d\n", name, major);
  SAY_DRIVER(cuMemAlloc(&data, 64));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  DRIVER(cuModuleLoadDataEx(&module, text, 2, options, values));
  std::fputs(log, stderr);
  DRIVER(cuModuleGetFunction(&function, module, "fill"));
  SAY_DRIVER(cuModuleGetFunction(&function, module, "absent"));
  std::size_t size = 0;
  DRIVER(cuModuleGetGlobal(&scale, &size, module, "scale"));
  std::printf("scale has %zu bytes\n", size);
  DRIVER(cuMemAlloc(&data, 400));
  DRIVER(cuMemsetD32(data, 7, 100));
  DRIVER(cuCtxSynchronize());  // a non-blocking stream does not wait for the default one
  DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  DRIVER(cuModuleGetFunction(&function, module, "fill"));
  int count = 70, add = 5, factor = 11;
  void* arguments[] = {&data, &count, &add};
  DRIVER(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
  DRIVER(cuStreamSynchronize(stream));
  std::vector<int> out(100);
  DRIVER(cuMemcpyDtoH(out.data(), data, 400));
  print("fill", out);
  DRIVER(cuMemcpyHtoD(scale, &factor, 4));
  struct {
    CUdeviceptr out;
    int count, add;
  } packed{data, 100, -1};
  std::size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  DRIVER(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, stream, nullptr, extra));
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemcpyDtoH(out.data(), data, 400));
  print("packed", out);
  SAY_DRIVER(cuLaunchKernel(function, 4, 1, 1, 2000, 1, 1, 0, stream, arguments, nullptr));
  CUdeviceptr base;
  DRIVER(cuMemGetAddressRange(&base, &size, data + 40));
  std::printf("range: %d, %zu\n", base == data, size);
  DRIVER(cuMemFree(data));
  DRIVER(cuStreamDestroy(stream));
  DRIVER(cuDevicePrimaryCtxRelease(device));
}
