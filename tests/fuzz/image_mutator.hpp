// Mutants of fatbins, ELF files and linked images that keep their build: the fields of headers,
// entries and sections lie to each other.
#pragma once
#include <cstddef>
#include <cstdint>

namespace inflight::fuzz {

// As LLVMFuzzerCustomMutator wants it.
std::size_t mutate_image(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace inflight::fuzz
