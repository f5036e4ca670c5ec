// What a call of a generator asks for.
#pragma once
#include <cstdint>
#include <memory>

#include "gpu/curand/poisson.hpp"

namespace inflight::curand {

enum class Form : std::uint8_t {
  bits,
  long_bits,
  uniform,
  uniform_double,
  normal,
  normal_double,
  log_normal,
  log_normal_double,
  poisson,
};

bool is_normal(Form form);  // of normal or log-normal numbers

struct Distribution {
  Form form = Form::bits;
  double mean = 0, deviation = 1;
  std::shared_ptr<const Poisson> poisson = nullptr;

  std::size_t bytes() const;  // of a result
};

}  // namespace inflight::curand
