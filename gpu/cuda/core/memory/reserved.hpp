// Ranges of addresses that programs reserve for devices (cuMemAddressReserve), and the parts of
// them where memory of the host is mapped. Elsewhere in them there is no memory of the host.
#pragma once
#include <cstdint>

namespace inflight::cuda {

void add_reserved(std::uint64_t base, std::uint64_t bytes);
void remove_reserved(std::uint64_t base);
void add_mapped(std::uint64_t base, std::uint64_t bytes);
void remove_mapped(std::uint64_t base);
// True for an address that is reserved and has no memory of the host.
bool is_unmapped(std::uint64_t address);

}  // namespace inflight::cuda
