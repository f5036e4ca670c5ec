// software-only
// options: --driver 13.4
// flags: -lcuda
// What cuda.tile compiles: the function says `.language 7`, its launch has blocks of one thread,
// and the blocks that run are of .reqntid. A section keeps the source, with any characters.
#include <cuda.h>

#include <cstdio>

const char* const text = R"(.version 9.4
.target sm_90
.address_size 64
.visible .entry count(.param .u64 out) .language 7 .reqntid 64, 2, 1
{
  .reg .u64 %o; .reg .u32 %n;
  ld.param.u64 %o, [out];
  atom.global.add.u32 %n, [%o], 1;
  ret;
}
.visible .entry plain(.param .u64 out) .reqntid 64, 2, 1
{
  ret;
}
.nv_intermediate_source_section {
  module @a { entry @count(%x: tile<ptr<f32>>) { print "}{" } }
  .source_end
}
)";

int main() {
  cuInit(0);
  CUcontext context;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  CUmodule module;
  std::printf("load: %d\n", cuModuleLoadData(&module, text));
  CUfunction count, plain;
  cuModuleGetFunction(&count, module, "count");
  cuModuleGetFunction(&plain, module, "plain");
  unsigned *out, threads = 0;
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  void* arguments[] = {&out};
  std::printf("launch: %d\n",
              cuLaunchKernel(count, 3, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  cudaMemcpy(&threads, out, sizeof threads, cudaMemcpyDefault);
  std::printf("threads: %u\n", threads);
  std::printf("other blocks: %d\n",
              cuLaunchKernel(count, 3, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  std::printf("another language: %d\n",
              cuLaunchKernel(plain, 3, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
}
