// Decides which libraries this project replaces, whatever path a program uses for them.
#pragma once
#include <cstddef>
#include <string_view>

namespace inflight::loader {

// Writes to `to` the file name of our replacement for the library `path`, with a NUL. For example,
// "libcudart.so.13" for ".../nvidia/cu13/lib/libcudart.so.13.0.96". False for libraries that we do
// not replace. The caller must check whether the file exists.
bool stand_in_name(std::string_view path, char* to, std::size_t bytes);

// The same for a library that we replace only if the program's has no PTX (machine_code.hpp), or if
// there is none. Our file lies in the folder folder_without_ptx of our libraries.
bool name_without_ptx(std::string_view path, char* to, std::size_t bytes);
inline constexpr std::string_view folder_without_ptx = "without_ptx/";

// A stand-in that needs NVIDIA's own library may export an array of this name and size. When the
// stand-in is loaded, the audit module writes to it the path that the program requested, if it was
// a path and not only a name.
inline constexpr std::string_view requested_path_name = "inflight_requested_path";
inline constexpr std::size_t requested_path_bytes = 4096;

}  // namespace inflight::loader
