// Where things lie: this command's libraries, and the program that a user names.
#pragma once
#include <string>
#include <tl/expected.hpp>

namespace inflight::cli {

// The folder with libcudart.so.13 and libcuda.so.1 that belongs to this executable: of the build
// tree or of the installation. An error is a sentence.
tl::expected<std::string, std::string> library_folder();
// The folder of this executable, or an empty text.
std::string executable_folder();

// A bare name looked up in PATH as a shell does, any other as it is. Empty if no such file exists.
std::string find_program(const std::string& name);

}  // namespace inflight::cli
