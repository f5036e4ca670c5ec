// Which libraries this project stands in for, whatever path a program asks for them by.
#pragma once
#include <cstddef>
#include <string_view>

namespace inflight::loader {

// The name that our file has for a library that is asked for by `path`: "libcudart.so.13" for
// ".../nvidia/cu13/lib/libcudart.so.13.0.96", say. Writes it, with its NUL, into `to`; false for a
// library that is none of NVIDIA's. Whether we have such a file is for the caller to see.
bool stand_in_name(std::string_view path, char* to, std::size_t bytes);

}  // namespace inflight::loader
