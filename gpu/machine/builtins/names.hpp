// The names of the functions that the machine supplies to programs.
#pragma once
#include <string_view>

namespace inflight::machine {

// Does the machine supply this function to programs that only declare it?
bool supplies(std::string_view function);

}  // namespace inflight::machine
