// Binds an island on its first call: loads our CUDA runtime into the program and looks up the
// function of the same name.
#pragma once
#include <link.h>

#include <cstdint>
#include <string_view>

namespace inflight::loader {

// Sets the folder of our libraries. The NUL-terminated string is not copied.
void set_library_folder(const char* folder);
// Sets the first object of the program's namespace, in whose objects the C library's dlmopen is
// found.
void set_program(link_map* program);
// The address to which unbound islands jump.
std::uint64_t binder_address();

// Writes FOLDER/NAME and a NUL to `to`. False if it does not fit.
bool library_path(std::string_view name, char* to, std::size_t bytes);
// Whether we have a runtime for that major version of CUDA.
bool serves(unsigned major);

}  // namespace inflight::loader
