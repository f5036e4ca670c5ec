// What is told of kernels of which only machine code is there.
#pragma once
#include <string>
#include <string_view>

namespace inflight::cuda {

// The file of the program or library that holds this address.
std::string object_of(const void* address);

// Why the kernels of a registered fatbin cannot run, and what to do: `why` is what choose() says.
// Of libraries that are known here it is their users' remedy. Empty from a file's second fatbin on,
// since a library has hundreds.
std::string machine_code_only(const void* fatbin, const std::string& why);

}  // namespace inflight::cuda
