// What an island's first call finds: the function of the same name in our CUDA runtime, which is
// loaded into the program then.
#pragma once
#include <link.h>

#include <cstdint>
#include <string_view>

namespace inflight::loader {

// The folder of our libraries, with its NUL; kept, not copied.
void set_library_folder(const char* folder);
// The objects of the program's own namespace are looked through for the C library's dlmopen.
void set_program(link_map* program);
// Where islands go while their slots are unbound.
std::uint64_t binder_address();

// FOLDER/NAME, with its NUL, in `to`; false if that does not fit.
bool library_path(std::string_view name, char* to, std::size_t bytes);
// Whether there is a runtime of ours for that release of CUDA.
bool serves(unsigned major);

}  // namespace inflight::loader
