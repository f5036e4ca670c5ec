// flags: -lcuda
// stderr: `call`: `q` is a predicate
// Forms of PTX that no known compiler writes: results and vectors in registers, sums as operands,
// moves of vectors. An H200 gave the same results.
#include <cuda.h>

#include <cstdint>
#include <string>

#include "tests/kernels/kernel_test.cuh"

namespace {

struct Form {
  const char* name;
  const char* functions;
  const char* code;  // a is 10, b 20; p points to 10, 20, 30, 40
};
constexpr Form forms[] = {
    {"sums", "",
     "st.global.u32 [p], a + 3; st.global.u32 [p+4], b+-1; add.u32 s, a+2, b;"
     "st.global.u32 [p+8], s;"},
    {"a sum of 16 bits", "", "ld.global.u16 h, [p]; st.global.u16 [p], h+5;"},
    {"moves of vectors", "",
     "mov.v2.u32 v, {a, b}; mov.v2.u32 {b, a}, v; st.global.v2.u32 [p+8], {a, b};"},
    {"a move of its own elements", "", "mov.v2.u32 {a, b}, {b, a}; st.global.v2.u32 [p], {a, b};"},
    {"a guarded move", "",
     "setp.eq.u32 q, a, 11; mov.v2.u32 v, {1, 2}; @q mov.v2.u32 v, {a, b};"
     "@!q mov.v2.u32 {a, b}, v; st.global.v2.u32 [p], {a, b};"},
    {"a move of four", "",
     ".reg .v4 .u16 w; ld.global.u16 h, [p]; mov.v4.u16 w, {h, 1, 2, h};"
     "st.global.v4.u16 [p+8], w;"},
    {"results",
     ".func (.reg .u32 r, .reg .u32 t) f (.reg .u32 x) "
     "{ add.u32 r, x, 1; add.u32 t, x, 2; ret; }",
     "call (s, u), f, (a); st.global.u32 [p], s; st.global.u32 [p+4], u;"},
    {"a result at the end of a body", ".func (.reg .u64 r) f (.reg .u32 x) { cvt.u64.u32 r, x; }",
     ".reg .u64 w; call (w), f, (b); st.global.u64 [p], w;"},
    {"a result of two returns",
     ".func (.reg .u32 r) f (.reg .u32 x) { .reg .pred n; setp.lt.u32 n, x, 15; mov.u32 r, 1;"
     " @n ret; mov.u32 r, 2; bra END; mov.u32 r, 3; END: }",
     "call (s), f, (a); call (u), f, (b); st.global.v2.u32 [p], {s, u};"},
    {"a guarded call", ".func (.reg .u32 r) f (.reg .u32 x) { mov.u32 r, x; ret; }",
     "setp.eq.u32 q, a, 11; mov.u32 s, 5; @q call (s), f, (b); @!q call (u), f, (b);"
     "st.global.v2.u32 [p], {s, u};"},
    {"a result of memory in a register",
     ".func (.param .u32 r) f (.param .u32 x) { .reg .u32 y; ld.param.u32 y, [x]; add.u32 y, y, 7;"
     " st.param.u32 [r], y; ret; }",
     "call (s), f, (a); st.global.u32 [p], s;"},
    {"a vector as an argument",
     ".func (.reg .u32 r) f (.reg .v2 .u32 x, .reg .u32 y) "
     "{ sub.u32 r, x.x, x.y; sub.u32 r, r, y; ret; }",
     "mov.v2.u32 v, {a, b}; call (s), f, (v, 1); st.global.u32 [p], s;"},
    {"a vector as a result",
     ".func (.reg .v2 .u32 r) f (.reg .u32 x) "
     "{ add.u32 r.x, x, 1; add.u32 r.y, x, 2; ret; }",
     "call (v), f, (a); st.global.v2.u32 [p], v;"},
    {"a call by a prototype", ".func (.reg .u32 r) f (.reg .u32 x) { add.u32 r, x, 9; ret; }",
     "types: .callprototype (.reg .u32 _) _ (.reg .u32 _); mov.u64 t, f;"
     "call (s), t, (a), types; st.global.u32 [p], s;"},
    {"a predicate as an argument",
     ".func (.reg .u32 r) f (.reg .pred x) { selp.u32 r, 1, 2, x; ret; }",
     "setp.eq.u32 q, a, 10; call (s), f, (q); st.global.u32 [p], s;"},
    {"a declaration without an end",
     ".visible .func (.reg .u32 r) f (.reg .u32 x)\n"
     ".visible .func (.reg .u32 r) f (.reg .u32 x) { add.u32 r, x, 4; ret; }",
     "call (s), f, (a); st.global.u32 [p], s;"},
};

void run(const Form& form, CUdeviceptr device) {
  const std::string text =
      std::string(".version 8.0\n.target sm_80\n.address_size 64\n") + form.functions +
      "\n.visible .entry k(.param .u64 o) {\n"
      ".reg .u64 p, t; .reg .v2 .u32 v; .reg .u32 a, b, s, u; .reg .u16 h; .reg .pred q;\n"
      "ld.param.u64 p, [o]; ld.global.u32 a, [p]; ld.global.u32 b, [p+4];\n" +
      form.code + "\nret; }\n";
  CUmodule module = nullptr;
  const CUresult loaded = cuModuleLoadData(&module, text.c_str());
  if (loaded != CUDA_SUCCESS) {
    std::printf("%s: not loaded: %d\n", form.name, int(loaded));
    return;
  }
  std::uint32_t values[4] = {10, 20, 30, 40};
  CUfunction kernel;
  void* arguments[] = {&device};
  CHECK(cudaMemcpy(reinterpret_cast<void*>(device), values, sizeof values, cudaMemcpyDefault));
  CUresult status = cuModuleGetFunction(&kernel, module, "k");
  if (status == CUDA_SUCCESS)
    status = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  CHECK(cudaMemcpy(values, reinterpret_cast<void*>(device), sizeof values, cudaMemcpyDefault));
  std::printf("%s: %d, %u %u %u %u\n", form.name, int(status), values[0], values[1], values[2],
              values[3]);
  cuModuleUnload(module);
}

}  // namespace

int main() {
  void* device = nullptr;
  CHECK(cudaMalloc(&device, 16));
  for (const Form& form : forms) run(form, reinterpret_cast<CUdeviceptr>(device));
}
