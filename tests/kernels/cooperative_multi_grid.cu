// software-only
// options: --devices 2
// flags: -lcuda
// What multi_grid groups of CUDA 12 call, which CUDA 13's headers no longer have: ranks, sizes and
// barriers of the grids on two devices. The ranks, sizes and codes are two H200s'.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

const char* const text = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle);

.visible .entry valid(.param .u64 counter, .param .u64 out)
{
  .reg .u64 %h, %o; .reg .u32 %v; .reg .pred %p;
  { .param .b32 s; .param .b64 r; st.param.b32 [s], 2; call.uni (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [r]; }
  setp.ne.u64 %p, %h, 0;
  selp.u32 %v, 1, 0, %p;
  ld.param.u64 %o, [out];
  st.global.u32 [%o], %v;
  ret;
}

.visible .entry meet(.param .u64 counter, .param .u64 out)
{
  .local .u32 n<4>;
  .reg .u64 %h, %c, %o, %n<4>; .reg .u32 %v<4>, %round, %want, %sum, %tid; .reg .pred %p;
  ld.param.u64 %c, [counter];
  ld.param.u64 %o, [out];
  mov.u64 %n0, n0; cvta.local.u64 %n0, %n0;
  mov.u64 %n1, n1; cvta.local.u64 %n1, %n1;
  mov.u64 %n2, n2; cvta.local.u64 %n2, %n2;
  mov.u64 %n3, n3; cvta.local.u64 %n3, %n3;
  { .param .b32 s; .param .b64 r; st.param.b32 [s], 2; call.uni (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [r]; }
  { .param .b64 t; .param .b64 g; .param .b64 h; .param .b32 r;
    st.param.b64 [t], %n0; st.param.b64 [g], %n1; st.param.b64 [h], %h; call.uni (r), cudaCGGetSize, (t, g, h); }
  { .param .b64 t; .param .b64 g; .param .b64 h; .param .b32 r;
    st.param.b64 [t], %n2; st.param.b64 [g], %n3; st.param.b64 [h], %h; call.uni (r), cudaCGGetRank, (t, g, h); }
  ld.local.u32 %v0, [n0]; ld.local.u32 %v1, [n1]; ld.local.u32 %v2, [n2]; ld.local.u32 %v3, [n3];
  mov.u32 %want, 0;
  mov.u32 %round, 0;
AGAIN:
  atom.global.sys.add.u32 %sum, [%c], 1;
  add.u32 %want, %want, %v0;
  { .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %h; st.param.b32 [f], 0; call.uni (r), cudaCGSynchronize, (h, f); }
  ld.volatile.global.u32 %sum, [%c];
  setp.ne.u32 %p, %sum, %want;
  @%p st.global.u32 [%o+16], %sum;
  { .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %h; st.param.b32 [f], 0; call.uni (r), cudaCGSynchronize, (h, f); }
  add.u32 %round, %round, 1;
  setp.lt.u32 %p, %round, 3;
  @%p bra AGAIN;
  add.u32 %sum, %v2, 1;
  div.u32 %tid, %v0, %v1;
  rem.u32 %sum, %sum, %tid;
  setp.ne.u32 %p, %sum, 0;  // the last thread of each grid tells
  @%p ret;
  st.global.v4.u32 [%o], {%v0, %v1, %v2, %v3};
  ret;
}
)";

constexpr int devices = 2;

int main() {
  unsigned* counter;
  CHECK(cudaHostAlloc(&counter, sizeof *counter, cudaHostAllocPortable));
  *counter = 0;
  unsigned* out[devices];
  CUmodule modules[devices];
  CUDA_LAUNCH_PARAMS launches[devices] = {};
  void* arguments[devices][2];
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaHostAlloc(&out[d], 5 * sizeof(unsigned), cudaHostAllocPortable));
    for (int i = 0; i < 5; ++i) out[d][i] = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::printf("load: %d\n", cuModuleLoadData(&modules[d], text));
    cuModuleGetFunction(&launches[d].function, modules[d], "meet");
    arguments[d][0] = &counter, arguments[d][1] = &out[d];
    launches[d].gridDimX = 3, launches[d].gridDimY = 2, launches[d].gridDimZ = 1;
    launches[d].blockDimX = 16, launches[d].blockDimY = 2, launches[d].blockDimZ = 2;
    launches[d].hStream = stream;
    launches[d].kernelParams = arguments[d];
  }
  std::printf("launch: %d\n", cuLaunchCooperativeKernelMultiDevice(launches, devices, 0));
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaDeviceSynchronize());
    std::printf("size %u, grids %u, rank %u in grid %u, wrong sum %u\n", out[d][0], out[d][1],
                out[d][2], out[d][3], out[d][4]);
  }
  CUfunction valid;
  cuModuleGetFunction(&valid, modules[1], "valid");
  cuLaunchKernel(valid, 1, 1, 1, 1, 1, 1, 0, launches[1].hStream, arguments[1], nullptr);
  CHECK(cudaDeviceSynchronize());
  std::printf("launched alone, valid: %u\n", out[1][0]);
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDeviceAttr(96), 0));
  std::printf("supported: %d\n", supported);
}
