// flags: -lcuda
// Launches from before CUDA 4, which set block, shared memory and parameters one by one.
#include <cuda.h>

#include <cstdio>

const char* const text = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 4 .b8 room[];
.visible .entry fill(.param .u64 out, .param .u32 add, .param .f32 scale) {
  .reg .u32 %r<9>; .reg .u64 %d<5>; .reg .f32 %f<3>;
  ld.param.u64 %d0, [out];
  ld.param.u32 %r0, [add];
  ld.param.f32 %f0, [scale];
  mov.u32 %r1, %tid.x;      mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;    mov.u32 %r4, %ctaid.y;
  mov.u32 %r5, %nctaid.x;
  mad.lo.u32 %r6, %r4, %r5, %r3;
  mad.lo.u32 %r6, %r6, %r2, %r1;
  mul.wide.u32 %d1, %r6, 4;
  add.u64 %d1, %d0, %d1;
  mov.u32 %r7, %dynamic_smem_size;
  add.u32 %r0, %r0, %r7;
  add.u32 %r0, %r0, %r6;
  cvt.rn.f32.u32 %f1, %r0;
  mul.f32 %f1, %f1, %f0;
  st.global.f32 [%d1], %f1;
  ret;
}
)";

#define TELL(call) std::printf("%s: %d\n", #call, int(call))

CUdeviceptr data;

void print(const char* title) {
  float out[24];
  cuMemcpyDtoH(out, data, sizeof out);
  std::printf("%s:", title);
  for (float each : out) std::printf(" %g", each);
  std::puts("");
  cuMemsetD32(data, 0, 24);
}

int main() {
  CUdevice device;
  CUcontext context;
  CUstream stream;
  CUmodule module;
  CUfunction fill;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuStreamCreate(&stream, CU_STREAM_DEFAULT);
  TELL(cuModuleLoadData(&module, text));
  TELL(cuModuleGetFunction(&fill, module, "fill"));
  cuMemAlloc(&data, 24 * 4);
  cuMemsetD32(data, 0, 24);
  TELL(cuFuncSetBlockShape(fill, 4, 1, 1));
  TELL(cuFuncSetSharedSize(fill, 64));
  TELL(cuParamSetSize(fill, 16));
  TELL(cuParamSetv(fill, 0, &data, sizeof data));
  TELL(cuParamSeti(fill, 8, 100));
  TELL(cuParamSetf(fill, 12, 0.5f));
  TELL(cuLaunch(fill));
  print("one block");
  TELL(cuLaunchGrid(fill, 3, 2));
  print("six blocks, as set before");
  TELL(cuParamSeti(fill, 8, 0));
  TELL(cuFuncSetSharedSize(fill, 0));
  TELL(cuFuncSetBlockShape(fill, 2, 1, 1));
  TELL(cuLaunchGridAsync(fill, 2, 2, stream));
  TELL(cuStreamSynchronize(stream));
  print("in a stream");
  TELL(cuFuncSetBlockShape(fill, 0, 1, 1));
  cuMemFree(data);
}
