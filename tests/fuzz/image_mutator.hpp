// Mutates fatbins, ELF files and linked images but keeps their structure. The fields of headers,
// entries and sections then contradict each other.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::fuzz {

// Has the signature of LLVMFuzzerCustomMutator.
std::size_t mutate_image(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace inflight::fuzz
