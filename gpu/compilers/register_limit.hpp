// The limit on registers that an assembler is given beside its PTX, written into the PTX.
#pragma once
#include <string>
#include <string_view>

namespace inflight::compilers {

// `ptx` with `.maxnreg limit` at each kernel, but for those that say themselves how many threads or
// registers they are built for: there an assembler ignores the limit, too. Nothing changes for 0.
std::string limit_registers(std::string_view ptx, unsigned limit);

// The number in an option's value; 0 where it is none.
unsigned register_limit(std::string_view value);

}  // namespace inflight::compilers
