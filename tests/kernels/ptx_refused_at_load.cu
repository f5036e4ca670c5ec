// flags: -lcuda
// stderr: kernel `k` has 32768 bytes of parameters; it may have 32764
// stderr: `g` is a .global variable
// PTX with invalid values is refused when it is loaded. Similar valid PTX loads.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

struct Case {
  const char* name;
  const char* text;
};

constexpr Case cases[] = {
    {"parameters of 32764 bytes", ".visible .entry k(.param .align 8 .b8 a[32764]) { ret; }"},
    {"parameters of 32768 bytes", ".visible .entry k(.param .align 8 .b8 a[32768]) { ret; }"},
    {"parameters of 2^32 + 1 bytes", ".visible .entry k(.param .b8 a[4294967297]) { ret; }"},
    {"an argument that fits",
     ".func f(.param .b32 p) { ret; } .visible .entry k() { .param .f32 x; call f, (x); ret; }"},
    {"an argument too large",
     ".func f(.param .b32 p) { ret; } .visible .entry k() { .param .b8 x[4000]; call f, (x); ret; "
     "}"},
    {"an argument of another class",
     ".func f(.param .u32 p) { ret; } .visible .entry k() { .param .f32 x; call f, (x); ret; }"},
    {"an array of another alignment",
     ".func f(.param .align 4 .b8 p[8]) { ret; } .visible .entry k() { .param .align 8 .b8 x[8]; "
     "call f, (x); ret; }"},
    {"a global argument",
     ".global .b8 g[4096]; .func f(.param .b32 p) { ret; } .visible .entry k() { call f, (g); ret; "
     "}"},
    {"too few arguments", ".func f(.param .b32 p) { ret; } .visible .entry k() { call f; ret; }"},
    {"a result too large",
     ".func (.param .b32 r) f() { ret; } .visible .entry k() { .param .b64 x; call (x), f; ret; }"},
    {"a prototype that no callee has",
     ".visible .entry k() { .reg .b64 %r; .param .b8 x[4000]; P: .callprototype _ (.param .b8 "
     "_[4000]); mov.u64 %r, 0; call %r, (x), P; ret; }"},
    {"a call that is not the prototype's",
     ".visible .entry k() { .reg .b64 %r; .param .b64 x; P: .callprototype _ (.param .b32 _); "
     "mov.u64 "
     "%r, 0; call %r, (x), P; ret; }"},
    {"a call of a kernel", ".visible .entry e() { ret; } .visible .entry k() { call e; ret; }"},
    {"two heads", ".func f(.param .b32 p); .func f(.param .b64 p) { ret; }"},
    {"an address of another state space",
     ".global .b32 g[4]; .visible .entry k() { .reg .b32 %r; st.local.b32 [g+8], %r; ret; }"},
    {"a local variable of nobody", ".local .b8 a[64]; .visible .entry k() { ret; }"},
    {"a register count of 256",
     ".visible .entry k() { setmaxnreg.inc.sync.aligned.u32 256; ret; }"},
    {"a register count of 264",
     ".visible .entry k() { setmaxnreg.inc.sync.aligned.u32 264; ret; }"},
    {"a register count of 16", ".visible .entry k() { setmaxnreg.dec.sync.aligned.u32 16; ret; }"},
    {"a register count of 100",
     ".visible .entry k() { setmaxnreg.dec.sync.aligned.u32 100; ret; }"},
    {"a register count in a register",
     ".visible .entry k() { .reg .b32 %r; setmaxnreg.dec.sync.aligned.u32 %r; ret; }"},
    {"a list of functions as branch targets",
     ".func f() { ret; } .visible .entry k() { .reg .b32 %r; T: .calltargets f; mov.u32 %r, 0; "
     "brx.idx %r, T; ret; }"},
};

int main() {
  CHECK(cudaFree(nullptr));
  for (const Case& c : cases) {
    const std::string text =
        std::string(".version 8.5\n.target sm_90a\n.address_size 64\n") + c.text;
    CUmodule module = nullptr;
    const CUresult result = cuModuleLoadData(&module, text.c_str());
    const char* name = nullptr;
    cuGetErrorName(result, &name);
    std::printf("%s: %s\n", c.name, name);
  }
}
