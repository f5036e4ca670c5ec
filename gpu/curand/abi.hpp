// cuRAND's types as programs pass them, written from the cuRAND documentation.
#pragma once
#include <cstdint>

namespace inflight::curand {

// curandStatus.
enum class Result : int {
  success = 0,
  version_mismatch = 100,
  not_initialized = 101,
  allocation_failed = 102,
  type_error = 103,
  out_of_range = 104,
  length_not_multiple = 105,
  launch_failure = 201,
  preexisting_failure = 202,
  initialization_failed = 203,
  arch_mismatch = 204,
  internal_error = 999,
};

// curandRngType by its numbers.
enum class Kind : int {
  test = 0,
  pseudo_default = 100,
  xorwow = 101,
  mrg32k3a = 121,
  mtgp32 = 141,
  mt19937 = 142,
  philox = 161,
  quasi_default = 200,
  sobol32 = 201,
  scrambled_sobol32 = 202,
  sobol64 = 203,
  scrambled_sobol64 = 204,
};

// curandOrdering by its numbers.
enum class Ordering : int {
  best = 100,
  by_default = 101,
  seeded = 102,
  legacy = 103,
  dynamic = 104,
  quasi_default = 201,
};

// curandMethod by its numbers, as far as calls take it.
enum class Method : int { choose_best = 0, m2 = 5, gauss = 7, device_api = 9, third = 11 };

// curandDiscreteDistribution and what it points to, which device functions read.
struct HistogramData {
  const double* value;
  const double* host_value;
  const std::uint32_t* other;
  const std::uint32_t* host_other;
  unsigned host_gen;
};
struct HistogramShift {
  const HistogramData* histogram;
  const HistogramData* host_histogram;
  unsigned shift;
  unsigned length;
  unsigned host_gen;
};
struct DiscreteDistribution {
  DiscreteDistribution* self_host;
  const HistogramShift* m2;
  const HistogramShift* host_m2;
  double deviation;
  double mean;
  int method;
  unsigned host_gen;
};

// curandGenerator_t points to one.
struct Generator;

}  // namespace inflight::curand
