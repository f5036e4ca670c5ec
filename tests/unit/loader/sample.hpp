// The file of sample_object.cpp's object.
#pragma once
#include <fstream>
#include <iterator>
#include <string>

#include "gpu/cuda/image/bytes.hpp"

namespace inflight::loader {

inline std::string sample_file() {
  std::ifstream file(INFLIGHT_SAMPLE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline constexpr const char* sample_digest =
    "libcudart_static_0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e";

}  // namespace inflight::loader
