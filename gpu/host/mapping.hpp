// What the process has mapped at an address.
#pragma once
#include <cstdint>
#include <string>

namespace inflight::host {

// Where an address is, as the end of a sentence: "on the host's stack", "in the host's heap", "in
// the code or data of vec". Empty if nothing can be read there. For messages: it reads a file of
// the system.
std::string place_of(std::uint64_t address);

}  // namespace inflight::host
