// Messages about kernels that are there as machine code only.
#pragma once
#include <string>
#include <string_view>

namespace inflight::cuda {

// The file of the program or library that holds this address.
std::string object_of(const void* address);

// Why the kernels of a registered fatbin cannot run, and what to do: `why` is choose()'s error. For
// libraries that are known here it is a remedy that their users have. Empty from a file's second
// fatbin on, since a library has hundreds.
std::string machine_code_only(const void* fatbin, const std::string& why);

}  // namespace inflight::cuda
