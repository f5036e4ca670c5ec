// flags: --extended-lambda
// Functions whose bits PTX does not define stay within the documented error.
#include "tests/kernels/kernel_test.cuh"

#include <cmath>

template <class F>
__global__ void apply(F f, double* out, const float* in) {
  out[threadIdx.x] = f(in[threadIdx.x]);
}

template <class F, class G>
void within(const char* name, double relative, double absolute, double low, double high, F device,
            G right) {
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) in[i] = float(low + (high - low) * i / 255);
  Buffer<float> source(in);
  Buffer<double> out(256);
  apply<<<1, 256>>>(device, out, source);
  out.read();
  int bad = 0;
  for (int i = 0; i < 256; ++i) {
    double r = right(double(in[i]));
    if (!(std::fabs(out.host[i] - r) <= relative * std::fabs(r) + absolute)) ++bad;
  }
  std::printf("%s: %d of 256 out of bounds\n", name, bad);
}

#define WITHIN(relative, absolute, low, high, device, right)                                       \
  within(                                                                                          \
      #device, relative, absolute, low, high, [] __device__(float x) -> double { return device; }, \
      [](double x) { return right; })

int main() {
  const double ulp = 1.2e-7;
  WITHIN(2 * ulp, 0, -20, 20, exp2f(x), std::exp2(x));
  WITHIN(2 * ulp, 0, -20, 20, expf(x), std::exp(x));
  WITHIN(3 * ulp, 0, 0.01, 50, logf(x), std::log(x));
  WITHIN(3 * ulp, 1e-7, -100, 100, sinf(x), std::sin(x));
  WITHIN(3 * ulp, 1e-7, -100, 100, cosf(x), std::cos(x));
  WITHIN(6 * ulp, 1e-6, -1.5, 1.5, tanf(x), std::tan(x));
  WITHIN(4 * ulp, 0, -3, 3, tanhf(x), std::tanh(x));
  WITHIN(4 * ulp, 0, -4, 4, erff(x), std::erf(x));
  WITHIN(9 * ulp, 0, 0.1, 9, powf(x, 2.5f), std::pow(x, 2.5));
  WITHIN(3 * ulp, 0, 0.1, 900, rsqrtf(x), 1 / std::sqrt(x));
  WITHIN(3 * ulp, 0, -10, 10, cbrtf(x), std::cbrt(x));
  WITHIN(3 * ulp, 0, -0.99, 0.99, asinf(x), std::asin(x));
  WITHIN(3 * ulp, 0, -9, 9, atanf(x), std::atan(x));
  WITHIN(0, 5e-7, -3.1, 3.1, __sinf(x), std::sin(x));
  WITHIN(0, 5e-7, -3.1, 3.1, __cosf(x), std::cos(x));
  WITHIN(4 * ulp, 3e-7, 0.1, 9, __log2f(x), std::log2(x));
  WITHIN(4 * ulp, 0, -20, 20, __expf(x * 0.25f), std::exp(double(float(x) * 0.25f)));
  WITHIN(2 * ulp, 0, 0.3, 30, __fdividef(7.0f, x), 7 / x);
  WITHIN(1e-3, 1e-3, -3, 3, ([](float v) {
           float r;
           asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
           return r;
         }(x)),
         std::tanh(x));
  WITHIN(2 * ulp, 0, 0.3, 30, ([](float v) {
           float r;
           asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
           return r;
         }(x)),
         1 / x);
  WITHIN(2 * ulp, 0, 0.3, 30, ([](float v) {
           float r;
           asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
           return r;
         }(x)),
         std::sqrt(x));
  const double fine = 4.5e-16;
  WITHIN(fine, 0, -20, 20, exp(double(x)), std::exp(x));
  WITHIN(fine, 1e-16, 0.01, 50, log(double(x)), std::log(x));
  WITHIN(fine, 1e-16, -100, 100, sin(double(x)), std::sin(x));
  WITHIN(2 * fine, 0, 0.1, 9, pow(double(x), 1.5), std::pow(x, 1.5));
  WITHIN(fine, 0, 0.1, 900, rsqrt(double(x)), 1 / std::sqrt(x));
}
