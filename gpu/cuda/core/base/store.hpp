// Stores results through the pointers that programs pass.
#pragma once
#include <type_traits>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// Stores `value` in `*to` (invalid_value: `to` is null).
template <class To>
Status store_value(To* to, const std::type_identity_t<To>& value) {
  if (!to) return Status::invalid_value;
  *to = value;
  return Status::success;
}

}  // namespace inflight::cuda
