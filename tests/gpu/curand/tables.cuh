// Cases of what cuRAND hands out: `tables` and `discrete`.
#pragma once
#include <curand_discrete.h>

#include <vector>

#include "tests/gpu/curand/values.cuh"

namespace {

// `tables`: direction vectors and scramble constants.
template <class T>
void table(const std::string& name, int status, const T* data, size_t count) {
  if (!listed(name)) return;
  std::printf("%s %d", name.c_str(), status);
  if (!status && data) {
    std::printf(" %016llx", static_cast<unsigned long long>(sum_of(data, count * sizeof(T))));
    for (size_t i : {0, 1, 2, 31, 32, 33, 34, 35, 64, 65, 66, 67, 100, 101, 1000, 10000}) {
      if (i >= count) continue;
      std::printf(" [%zu]", i);
      print_value(reinterpret_cast<const char*>(data + i), sizeof(T));
    }
    if (count >= 20000) {
      std::printf(" last");
      print_value(reinterpret_cast<const char*>(data + count - 1), sizeof(T));
    }
  }
  std::printf("\n");
}
void tables() {
  if (!wanted("tables.")) return;
  for (int set = 99; set < 107; ++set) {
    curandDirectionVectors32_t* narrow = nullptr;
    const int s32 = curandGetDirectionVectors32(&narrow, curandDirectionVectorSet_t(set));
    table("tables.vectors32." + number(set), s32, s32 ? nullptr : narrow[0], 32 * 20000);
    for (int part = 0; part < 20 && !s32; ++part)
      table("tables.vectors32." + number(set) + ".part" + number(part), s32, narrow[part * 1000],
            32 * 1000);
    for (int one = 0; one < 12 && !s32; ++one)
      table("tables.vectors32." + number(set) + ".one" + number(one), s32, narrow[one], 32);
    curandDirectionVectors64_t* broad = nullptr;
    const int s64 = curandGetDirectionVectors64(&broad, curandDirectionVectorSet_t(set));
    table("tables.vectors64." + number(set), s64, s64 ? nullptr : broad[0], 64 * 20000);
    for (int part = 0; part < 20 && !s64; ++part)
      table("tables.vectors64." + number(set) + ".part" + number(part), s64, broad[part * 1000],
            64 * 1000);
  }
  unsigned* narrow = nullptr;
  int s = curandGetScrambleConstants32(&narrow);
  table("tables.constants32", s, narrow, 20000);
  unsigned long long* broad = nullptr;
  s = curandGetScrambleConstants64(&broad);
  table("tables.constants64", s, broad, 20000);
}

// `discrete`: what curandCreatePoissonDistribution makes.
void discrete() {
  int at = 0;
  for (double lambda : {1e-5, 0.1, 0.5, 1.0, 10.0, 63.9, 100.0, 999.5, 1000.0, 1999.0, 2000.0,
                        4000.0, 65536.5, 399999.0, 400000.0, 400001.0, 1e6, 0.0, -1.0}) {
    const std::string name = "discrete." + number(at++);
    if (!wanted(name)) continue;
    curandDiscreteDistribution_t d = nullptr;
    const int status = curandCreatePoissonDistribution(lambda, &d);
    say(name + ".created", status);
    if (status || !d) continue;
    cudaPointerAttributes about{};
    cudaPointerGetAttributes(&about, d);
    say(name + ".memory", about.type);
    curandDiscreteDistribution_st made;
    say(name + ".copied", cudaMemcpy(&made, d, sizeof made, cudaMemcpyDefault));
    if (listed(name))
      std::printf("%s %a %a method %d host_gen %u M2 %d host_M2 %d self %d\n", name.c_str(),
                  made.stddev, made.mean, int(made.method), made.host_gen, made.M2 != nullptr,
                  made.host_M2 != nullptr, made.self_host_ptr != nullptr);
    curandDistributionM2Shift_st m2;
    if (made.M2 && !cudaMemcpy(&m2, made.M2, sizeof m2, cudaMemcpyDefault)) {
      curandHistogramM2_st h;
      cudaMemcpy(&h, m2.histogram, sizeof h, cudaMemcpyDefault);
      std::vector<double> v(m2.length);
      std::vector<unsigned> to(m2.length);
      cudaMemcpy(v.data(), h.V, m2.length * sizeof(double), cudaMemcpyDefault);
      cudaMemcpy(to.data(), h.K, m2.length * sizeof(unsigned), cudaMemcpyDefault);
      if (listed(name)) {
        std::printf("%s.m2 shift %u length %u host_gen %u\n", name.c_str(), m2.shift, m2.length,
                    m2.host_gen);
        table(name + ".values", 0, v.data(), v.size());
        table(name + ".indices", 0, to.data(), to.size());
      }
    }
    cudaGetLastError();
    say(name + ".destroyed", curandDestroyDistribution(d));
  }
  if (!wanted("discrete.misuse")) return;
  say("discrete.misuse.null", curandCreatePoissonDistribution(1, nullptr));
  say("discrete.misuse.destroy_null", curandDestroyDistribution(nullptr));
}

}  // namespace
