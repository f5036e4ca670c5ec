// Messages about kernels that exist only as machine code.
#pragma once
#include <string>
#include <string_view>

namespace inflight::cuda {

// The file of the program or library that contains this address.
std::string object_of(const void* address);

// Why the kernels of a registered fatbin cannot run, and what to do. `why` is choose()'s error. For
// libraries that are known here, the remedy is one that their users can apply. Empty from a file's
// second fatbin on, because a library may have hundreds.
std::string machine_code_only(const void* fatbin, const std::string& why);

}  // namespace inflight::cuda
