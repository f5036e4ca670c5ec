#include "gpu/curand/distribution.hpp"

namespace inflight::curand {

bool is_normal(Form form) {
  return form == Form::normal || form == Form::normal_double || form == Form::log_normal ||
         form == Form::log_normal_double;
}

std::size_t Distribution::bytes() const {
  switch (form) {
    case Form::long_bits:
    case Form::uniform_double:
    case Form::normal_double:
    case Form::log_normal_double:
      return 8;
    default:
      return 4;
  }
}

}  // namespace inflight::curand
