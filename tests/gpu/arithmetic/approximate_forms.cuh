// Approximate instructions, compared with a reference in double precision.
#pragma once
#include <cmath>

#include "form.cuh"

namespace reference {
inline double rcp(double x, double) { return 1 / x; }
inline double rsqrt(double x, double) { return 1 / std::sqrt(x); }
inline double square_root(double x, double) { return std::sqrt(x); }
inline double sine(double x, double) { return std::fabs(x) <= 3.1415927 ? std::sin(x) : NAN; }
inline double cosine(double x, double) { return std::fabs(x) <= 3.1415927 ? std::cos(x) : NAN; }
inline double lg2(double x, double) { return std::log2(x); }
inline double ex2(double x, double) { return std::exp2(x); }
inline double tanh(double x, double) { return std::tanh(x); }
inline double quotient(double x, double y) { return x / y; }
}  // namespace reference

#define SINGLE(OP, FUNCTION)                                           \
  APPROX(OP ".approx.f32", f, f, "f", reference::FUNCTION, 'f')        \
  APPROX(OP ".approx.ftz.f32", f, f, "f", reference::FUNCTION, 'f')
SINGLE("rcp", rcp)
SINGLE("rsqrt", rsqrt)
SINGLE("sqrt", square_root)
SINGLE("sin", sine)
SINGLE("cos", cosine)
SINGLE("lg2", lg2)
SINGLE("ex2", ex2)
APPROX("tanh.approx.f32", f, f, "f", reference::tanh, 'f')
APPROX("tanh.approx.f16", h, h, "h", reference::tanh, 'h')
APPROX("tanh.approx.bf16", h, h, "b", reference::tanh, 'b')
APPROX("ex2.approx.f16", h, h, "h", reference::ex2, 'h')
APPROX("ex2.approx.ftz.bf16", h, h, "b", reference::ex2, 'b')
APPROX("rcp.approx.ftz.f64", d, d, "d", reference::rcp, 'd')
APPROX("rsqrt.approx.ftz.f64", d, d, "d", reference::rsqrt, 'd')
APPROX("rsqrt.approx.f64", d, d, "d", reference::rsqrt, 'd')
APPROX2("div.approx.f32", f, f, f, "ff", reference::quotient, 'f')
APPROX2("div.approx.ftz.f32", f, f, f, "ff", reference::quotient, 'f')
APPROX2("div.full.f32", f, f, f, "ff", reference::quotient, 'f')
APPROX2("div.full.ftz.f32", f, f, f, "ff", reference::quotient, 'f')
