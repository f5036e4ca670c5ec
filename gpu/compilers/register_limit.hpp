// Writes the register limit, which an assembler gets as an option, into the PTX.
#pragma once
#include <string>
#include <string_view>

namespace inflight::compilers {

// Adds `.maxnreg limit` to each kernel without a directive for its number of threads or registers.
// For kernels with one, an assembler ignores the limit too. A limit of 0 changes nothing.
std::string limit_registers(std::string_view ptx, unsigned limit);

// The number in an option's value, or 0 if it is not a number.
unsigned register_limit(std::string_view value);

}  // namespace inflight::compilers
