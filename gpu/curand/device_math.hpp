// The device's math functions that distributions use, to the bit. They are for the arguments that
// distributions have: finite numbers, and for logarithms positive ones.
#pragma once

namespace inflight::curand {

template <class Real>
struct Turn {
  Real sine, cosine;
};

namespace device {

float log(float x);
float exp(float x);
double log(double x);
double exp(double x);
// The inverse of the complementary error function, of numbers from 2^-54 to 1.
float inverse_erfc(float x);
double inverse_erfc(double x);

// lg2.approx, ex2.approx, rcp.approx and rsqrt.approx with .ftz.
float approximate_log2(float x);
float approximate_exp2(float x);
float approximate_reciprocal(float x);
float approximate_reciprocal_root(float x);

// sin.approx and cos.approx of an angle.
Turn<float> approximate_turn(float angle);
// The sine and cosine of pi x, for x in [0, 2].
Turn<double> turn_of_pi(double x);

}  // namespace device
}  // namespace inflight::curand
