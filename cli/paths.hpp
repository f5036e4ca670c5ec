// Where things lie: this command's libraries, and the program that a user names.
#pragma once
#include <string>
#include <tl/expected.hpp>

#include "gpu/loader/variables.hpp"

namespace inflight::cli {

// The folder with libcudart.so.13 and libcuda.so.1 that belongs to this executable: of the build
// tree or of the installation. An error is a sentence.
tl::expected<std::string, std::string> library_folder();
// What stands in for the assembler that a program runs itself, and the variables by which Triton is
// told of it.
std::string assembler();
using loader::assembler_variables;
// The installation that find_package(inflight) finds the headers in; empty in a build tree.
std::string headers_prefix();
// The folder of this executable, or an empty text.
std::string executable_folder();

// The module in that folder which sends a program's searches and calls to those libraries.
inline constexpr const char* audit_module = "libinflight_audit.so";

// A variable's list with `entry` before it, and once: LD_LIBRARY_PATH, say, with ":" between
// entries.
std::string list_with(const char* variable, const std::string& entry, const char* separator = ":");
// LD_AUDIT with that folder's module, and no other one of that name.
std::string audit_with(const std::string& libraries);

// A bare name looked up in PATH as a shell does, any other as it is. Empty if no such file exists.
std::string find_program(const std::string& name);

}  // namespace inflight::cli
