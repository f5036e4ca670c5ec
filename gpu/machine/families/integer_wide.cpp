// Integer arithmetic of 64 bits (PTX ISA 9.7.1, 9.7.2).
#include "gpu/machine/families/integer.hpp"

namespace inflight::machine::INFLIGHT_ISA {

void integer_wide_rows(Rows& rows) {
  using enum Type;
  common_integer_rows<u64, s64>(rows);
  carry_rows<u64, s64>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
