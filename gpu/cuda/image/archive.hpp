// Reads static libraries: archives of ar with object files in them.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/bytes.hpp"

namespace inflight::cuda {

bool is_archive(Bytes bytes);
// The object files in an archive, in its order. Other members, such as its index, are left out. An
// error is a sentence without a full stop.
tl::expected<std::vector<Bytes>, std::string> objects_of_archive(Bytes bytes);

}  // namespace inflight::cuda
