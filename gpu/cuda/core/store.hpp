// Answers through the pointers that programs pass.
#pragma once
#include <type_traits>

#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// invalid_value: there is no place for the value.
template <class To>
Status store_value(To* to, const std::type_identity_t<To>& value) {
  if (!to) return Status::invalid_value;
  *to = value;
  return Status::success;
}

}  // namespace inflight::cuda
