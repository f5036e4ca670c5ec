// Mutants of PTX that keep its build: most still parse, and break where sizes, types, spaces and
// operands do not fit together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace inflight::fuzz {

std::string mutate_ptx(const std::string& text, unsigned seed);

// The same as LLVMFuzzerCustomMutator wants it.
std::size_t mutate_ptx(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace inflight::fuzz
