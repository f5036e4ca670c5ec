// Driver calls that only pass their arguments on to an operation of the core.
#pragma once
#include "gpu/cuda/driver/entry.hpp"

// INFLIGHT_FORWARD_N(driver's name, the operation's name, N parameter types...): the call needs no
// context.
#define INFLIGHT_FORWARD_1(cu, operation, A) \
  INFLIGHT_CU_AT(of_any(), cu, (A a), { return operation(a); })
#define INFLIGHT_FORWARD_2(cu, operation, A, B) \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b), { return operation(a, b); })
#define INFLIGHT_FORWARD_3(cu, operation, A, B, C) \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b, C c), { return operation(a, b, c); })
#define INFLIGHT_FORWARD_4(cu, operation, A, B, C, D) \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b, C c, D d), { return operation(a, b, c, d); })
#define INFLIGHT_FORWARD_5(cu, operation, A, B, C, D, E) \
  INFLIGHT_CU_AT(of_any(), cu, (A a, B b, C c, D d, E e), { return operation(a, b, c, d, e); })
