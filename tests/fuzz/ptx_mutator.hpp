// Mutates PTX but keeps its structure. Most mutants parse, and fail where sizes, types, spaces and
// operands do not match.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace inflight::fuzz {

std::string mutate_ptx(const std::string& text, unsigned seed);

// Has the signature of LLVMFuzzerCustomMutator.
std::size_t mutate_ptx(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace inflight::fuzz
