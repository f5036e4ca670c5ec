// Unpacks the data of fatbin images: zstd frames and raw LZ4 blocks.
#pragma once
#include <string>
#include <tl/expected.hpp>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {

// Unpacks `stored`, which must give exactly `size` bytes. `size` is at most largest_image.
tl::expected<std::string, std::string> unpack_bytes(Image::Packing, Bytes stored,
                                                    std::uint64_t size);

}  // namespace inflight::cuda
