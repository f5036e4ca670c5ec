// f32 and f64 arithmetic rounded toward zero, down and up (PTX ISA 9.7.3).
#include "gpu/machine/families/real.hpp"

namespace inflight::machine::INFLIGHT_ISA {

void rounded_rows(Rows& rows) { arithmetic_rows<Mod::rz, Mod::rm, Mod::rp>(rows); }

}  // namespace inflight::machine::INFLIGHT_ISA
