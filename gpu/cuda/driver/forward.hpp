// Driver calls that are the runtime's under another name: same parameters, same meaning.
#pragma once
#include "gpu/cuda/driver/runtime.hpp"

// INFLIGHT_FORWARD_N(driver's name, runtime's name, N parameter types...). Both are C functions, so
// the runtime's is declared here by its types; the call needs no context.
#define INFLIGHT_FORWARD_1(cu, cuda, A) \
  extern "C" int cuda(A);               \
  INFLIGHT_CU_AT(of_any(), cu, (A a), { return runtime(cuda(a)); })
#define INFLIGHT_FORWARD_2(cu, cuda, A, B) \
  extern "C" int cuda(A, B);               \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b), { return runtime(cuda(a, b)); })
#define INFLIGHT_FORWARD_3(cu, cuda, A, B, C) \
  extern "C" int cuda(A, B, C);               \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b, C c), { return runtime(cuda(a, b, c)); })
#define INFLIGHT_FORWARD_4(cu, cuda, A, B, C, D) \
  extern "C" int cuda(A, B, C, D);               \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b, C c, D d), { return runtime(cuda(a, b, c, d)); })
#define INFLIGHT_FORWARD_5(cu, cuda, A, B, C, D, E) \
  extern "C" int cuda(A, B, C, D, E);               \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b, C c, D d, E e), { return runtime(cuda(a, b, c, d, e)); })
