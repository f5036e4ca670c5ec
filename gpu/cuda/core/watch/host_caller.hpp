// The function of the program that made the present call.
#pragma once
#include <string>
#include <string_view>

namespace inflight::cuda::watch {

// "main (a.out)", or the file's name if it has no symbol there. Passes over this project's
// libraries, those of the system and what nvcc makes of <<<>>> for `kernel` (its name in the PTX).
// Empty: unknown.
std::string host_caller(std::string_view kernel);

}  // namespace inflight::cuda::watch
