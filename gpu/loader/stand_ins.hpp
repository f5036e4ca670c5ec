// Which libraries this project stands in for, whatever path a program asks for them by.
#pragma once
#include <cstddef>
#include <string_view>

namespace inflight::loader {

// The name that our file has for a library that is asked for by `path`: "libcudart.so.13" for
// ".../nvidia/cu13/lib/libcudart.so.13.0.96", say. Writes it, with its NUL, into `to`; false for a
// library that is none of NVIDIA's. Whether we have such a file is for the caller to see.
bool stand_in_name(std::string_view path, char* to, std::size_t bytes);

// A stand-in that needs NVIDIA's own library may export an array of this name and of so many bytes.
// When the stand-in is loaded, the path by which the program asked for it is written there, where
// that was a path.
inline constexpr std::string_view asked_path_name = "inflight_asked_path";
inline constexpr std::size_t asked_path_bytes = 4096;

}  // namespace inflight::loader
