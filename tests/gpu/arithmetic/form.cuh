// One form of an instruction: a kernel around its inline PTX, and the kinds of its operands.
#pragma once
#include <cstdint>
#include <vector>

using Cell = unsigned long long;

// A register letter selects how a 64-bit cell becomes an operand: h 16 bits, r 32, l 64, f float, d
// double.
using T_h = unsigned short;
using T_r = unsigned;
using T_l = unsigned long long;
using T_f = float;
using T_d = double;
#define C_h "h"
#define C_r "r"
#define C_l "l"
#define C_f "f"
#define C_d "d"
inline __device__ T_h in_h(Cell c) { return static_cast<T_h>(c); }
inline __device__ T_r in_r(Cell c) { return static_cast<T_r>(c); }
inline __device__ T_l in_l(Cell c) { return c; }
inline __device__ T_f in_f(Cell c) { return __uint_as_float(static_cast<unsigned>(c)); }
inline __device__ T_d in_d(Cell c) { return __longlong_as_double(static_cast<long long>(c)); }
inline __device__ Cell out_h(T_h v) { return v; }
inline __device__ Cell out_r(T_r v) { return v; }
inline __device__ Cell out_l(T_l v) { return v; }
inline __device__ Cell out_f(T_f v) { return __float_as_uint(v); }
inline __device__ Cell out_d(T_d v) { return static_cast<Cell>(__double_as_longlong(v)); }

// The kinds of an operand's values, one letter per operand: i integers, s shift amounts and
// lengths, p 0 or 1, f f32, d f64, t small signed integers, h f16, H f16x2, b bf16, B bf16x2, e
// pairs of 8-bit floating point.
struct Form {
  const char* name;
  const char* kinds;
  void (*kernel)(const Cell*, const Cell*, const Cell*, Cell*);
  double (*reference)(double, double);  // for approximate forms
  char result;                  // f, d, h or b: the format of an approximate result
  Form* next;
};

// Links forms in source order through their constructors.
struct Registration {
  static Form*& first() {
    static Form* form = nullptr;
    return form;
  }
  static Form**& last() {
    static Form** place = &first();
    return place;
  }
  Form form;
  Registration(const char* name, const char* kinds,
               void (*kernel)(const Cell*, const Cell*, const Cell*, Cell*),
               double (*reference)(double, double) = nullptr, char result = 0)
      : form{name, kinds, kernel, reference, result, nullptr} {
    *last() = &form;
    last() = &form.next;
  }
};

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FORM_(N, NAME, KINDS, D, CODE, INPUTS, ...)                                        \
  static __global__ void JOIN(form_, N)(const Cell* a, const Cell* b, const Cell* c, Cell* out) { \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                              \
    (void)a, (void)b, (void)c;                                                             \
    T_##D d;                                                                               \
    asm volatile(CODE : "=" C_##D(d) : INPUTS);                                            \
    out[i] = out_##D(d);                                                                   \
  }                                                                                        \
  static Registration JOIN(registration_, N)(NAME, KINDS, JOIN(form_, N), ##__VA_ARGS__);

#define COMMA ,

// Instructions with a plain destination and 1, 2 or 3 sources.
#define FORM1(T, D, A, KINDS) FORM1_(__COUNTER__, T, D, A, KINDS)
#define FORM1_(N, T, D, A, KINDS) \
  FORM_(N, T, KINDS, D, T " %0, %1;", C_##A(in_##A(a[i])))
#define FORM2(T, D, A, B, KINDS) FORM2_(__COUNTER__, T, D, A, B, KINDS)
#define FORM2_(N, T, D, A, B, KINDS) \
  FORM_(N, T, KINDS, D, T " %0, %1, %2;", C_##A(in_##A(a[i])) COMMA C_##B(in_##B(b[i])))
#define FORM3(T, D, A, B, C, KINDS) FORM3_(__COUNTER__, T, D, A, B, C, KINDS)
#define FORM3_(N, T, D, A, B, C, KINDS) FORMX_(N, T, T " %0, %1, %2, %3;", D, A, B, C, KINDS)
// Any code with three sources. NAME is printed.
#define FORMX(NAME, CODE, D, A, B, C, KINDS) FORMX_(__COUNTER__, NAME, CODE, D, A, B, C, KINDS)
#define FORMX_(N, NAME, CODE, D, A, B, C, KINDS)                                            \
  FORM_(N, NAME, KINDS, D, CODE,                                                            \
        C_##A(in_##A(a[i])) COMMA C_##B(in_##B(b[i])) COMMA C_##C(in_##C(c[i])))
// Approximations of one source, compared with a function in double precision.
#define APPROX(T, D, A, KINDS, FUNCTION, RESULT) \
  APPROX_(__COUNTER__, T, D, A, KINDS, FUNCTION, RESULT)
#define APPROX_(N, T, D, A, KINDS, FUNCTION, RESULT) \
  FORM_(N, T, KINDS, D, T " %0, %1;", C_##A(in_##A(a[i])), FUNCTION, RESULT)
#define APPROX2(T, D, A, B, KINDS, FUNCTION, RESULT) \
  APPROX2_(__COUNTER__, T, D, A, B, KINDS, FUNCTION, RESULT)
#define APPROX2_(N, T, D, A, B, KINDS, FUNCTION, RESULT)                                      \
  FORM_(N, T, KINDS, D, T " %0, %1, %2;", C_##A(in_##A(a[i])) COMMA C_##B(in_##B(b[i])), FUNCTION, \
        RESULT)
