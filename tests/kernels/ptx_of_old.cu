// flags: -lcuda
// stderr: PTX before version 1.4 is not accepted by current drivers
// stderr: `sin.f32` needs a precision
// PTX from before sm_20: forms that a driver accepts, `mad.f32` without rounding, subnormals.
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/kernels/kernel_test.cuh"

namespace {

struct Head {
  const char* name;
  const char* text;
};
constexpr Head heads[] = {
    {"1.3 sm_10", ".version 1.3\n.target sm_10\n"}, {"1.3 sm_13", ".version 1.3\n.target sm_13\n"},
    {"1.4 sm_10", ".version 1.4\n.target sm_10\n"}, {"1.4 sm_13", ".version 1.4\n.target sm_13\n"},
    {"2.0 sm_10", ".version 2.0\n.target sm_10\n"}, {"2.3 sm_20", ".version 2.3\n.target sm_20\n"},
    {"3.0 sm_20", ".version 3.0\n.target sm_20\n"}, {"3.1 sm_20", ".version 3.1\n.target sm_20\n"},
    {"3.1 sm_30", ".version 3.1\n.target sm_30\n"}, {"3.2 sm_20", ".version 3.2\n.target sm_20\n"},
    {"5.0 sm_30", ".version 5.0\n.target sm_30\n"}, {"8.5 sm_90", ".version 8.5\n.target sm_90\n"},
};

struct Form {
  const char* name;
  const char* code;  // %f1 to %f3 in, %f0 out
  float a, b, c;
};
constexpr float tiny = 1e-40f;
constexpr Form forms[] = {
    {"mad.f32", "mad.f32 %f0, %f1, %f2, %f3;", 1 + 0x1p-20f, 1 + 0x1p-20f, -1 - 0x1p-19f},
    {"mad.f32, subnormal", "mad.f32 %f0, %f1, %f2, %f3;", tiny, 1, tiny},
    {"mad.sat.f32", "mad.sat.f32 %f0, %f1, %f2, %f3;", 3, 5, -14.5f},
    {"add.f32, subnormal", "add.f32 %f0, %f1, %f2;", tiny, tiny, 0},
    {"mul.f32, subnormal", "mul.f32 %f0, %f1, %f2;", 1e-30f, 1e-10f, 0},
    {"mul.rn.f32, subnormal", "mul.rn.f32 %f0, %f1, %f2;", 1e-30f, 1e-10f, 0},
    {"div.f32", "div.f32 %f0, %f1, %f2;", 1, 3, 0},
    {"div.f32, subnormal", "div.f32 %f0, %f1, %f2;", tiny, 2, 0},
    {"div.full.f32, subnormal", "div.full.f32 %f0, %f1, %f2;", tiny, 2, 0},
    {"rcp.f32", "rcp.f32 %f0, %f1;", 3, 0, 0},
    {"sqrt.f32", "sqrt.f32 %f0, %f1;", 2, 0, 0},
    {"rsqrt.f32", "rsqrt.f32 %f0, %f1;", 2, 0, 0},
    {"sin.f32", "sin.f32 %f0, %f1;", 1, 0, 0},
    {"lg2.f32", "lg2.f32 %f0, %f1;", 3, 0, 0},
    {"ex2.f32", "ex2.f32 %f0, %f1;", 0.5f, 0, 0},
    {"min.f32, subnormal", "min.f32 %f0, %f1, %f2;", tiny, 1, 0},
    {"abs.f32, subnormal", "abs.f32 %f0, %f1;", -tiny, 0, 0},
    {"neg.f32, subnormal", "neg.f32 %f0, %f1;", tiny, 0, 0},
    {"setp.gt.f32, subnormal",
     "setp.gt.f32 %p, %f1, 0f00000000; selp.f32 %f0, 0f3F800000, 0f00000000, %p;", tiny, 0, 0},
    {"cvt.f32.f32, subnormal", "cvt.f32.f32 %f0, %f1;", tiny, 0, 0},
    {"cvt.u16.u32 of %tid.x", "cvt.u32.u16 %r, %tid.x; cvt.rn.f32.u32 %f0, %r;", 0, 0, 0},
    {"mul24, mad24", "mul24.lo.s32 %r, 3, 5; mad24.lo.s32 %r, %r, 2, 1; cvt.rn.f32.s32 %f0, %r;", 0,
     0, 0},
    {"add.f64", "cvt.f64.f32 %d, %f1; add.f64 %d, %d, %d; cvt.rn.f32.f64 %f0, %d;", 1.5f, 0, 0},
    {"mad.f64", "cvt.f64.f32 %d, %f1; mad.f64 %d, %d, %d, %d; cvt.rn.f32.f64 %f0, %d;", 1.5f, 0, 0},
    {"div.f64", "cvt.f64.f32 %d, %f1; div.f64 %d, %d, %d; cvt.rn.f32.f64 %f0, %d;", 1.5f, 0, 0},
    {"mul.lo.u16 of bytes", "mul.wide.u16 %r, 300, 300; cvt.rn.f32.u32 %f0, %r;", 0, 0, 0},
};

void run(const Head& head, const Form& form, float* device) {
  const std::string text =
      std::string(head.text) +
      ".entry k(.param .u64 out, .param .f32 a, .param .f32 b, .param .f32 c) {\n"
      ".reg .f32 %f<4>; .reg .f64 %d; .reg .u32 %r; .reg .u64 %o; .reg .pred %p;\n"
      "ld.param.u64 %o, [out]; ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b];\n"
      "ld.param.f32 %f3, [c];\n" +
      form.code + "\nst.global.f32 [%o], %f0; exit; }\n";
  CUmodule module = nullptr;
  const CUresult loaded = cuModuleLoadData(&module, text.c_str());
  if (loaded != CUDA_SUCCESS) {
    std::printf("  %-24s not loaded: %d\n", form.name, int(loaded));
    return;
  }
  CUfunction kernel;
  float a = form.a, b = form.b, c = form.c, result = 0;
  void* arguments[] = {&device, &a, &b, &c};
  CUresult status = cuModuleGetFunction(&kernel, module, "k");
  if (status == CUDA_SUCCESS)
    status = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  if (status == CUDA_SUCCESS) status = CUresult(cudaMemcpy(&result, device, 4, cudaMemcpyDefault));
  std::uint32_t bits;
  std::memcpy(&bits, &result, 4);
  std::printf("  %-24s %d %08x\n", form.name, int(status), bits);
  cuModuleUnload(module);
}

}  // namespace

int main() {
  float* device;
  CHECK(cudaMalloc(&device, 4));
  for (const Head& head : heads) {
    std::printf("%s\n", head.name);
    for (const Form& form : forms) run(head, form, device);
  }
}
