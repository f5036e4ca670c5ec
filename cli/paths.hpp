// Paths of this command's libraries, and of the program that a user names.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "gpu/loader/variables.hpp"

namespace inflight::cli {

// The folder with libcudart.so.13 and libcuda.so.1 of this executable's build tree or installation.
// An error is a sentence.
tl::expected<std::string, std::string> library_folder();
// The replacement for the assembler that a program runs itself, and the variables that give Triton
// its path.
std::string assembler();
using loader::assembler_variables;
// The installation where find_package(inflight) finds the headers. Empty in a build tree.
std::string headers_prefix();
// The folder of this executable, or an empty string.
std::string executable_folder();

// The audit module in the library folder. It redirects a program's library searches and calls to
// Inflight's libraries.
inline constexpr const char* audit_module = "libinflight_audit.so";

// A variable's list (LD_LIBRARY_PATH, for example) with `entry` added in front if it lacks it.
std::string list_with(const char* variable, const std::string& entry, const char* separator = ":");
// NVCC_APPEND_FLAGS with these flags behind its own, none of them twice.
std::string nvcc_flags_with(std::initializer_list<std::string_view> flags);
// nvcc keeps the PTX of machine code only with it.
inline constexpr std::string_view keeps_ptx = "-lineinfo";
// The folder of programs that stand for NVIDIA's: nvidia-smi.
std::string tools_folder();
// LD_AUDIT with the audit module of `libraries` and no other module of that name.
std::string audit_with(const std::string& libraries);

// Looks up a bare name in PATH as a shell does, and returns other names unchanged. Empty if no such
// file exists.
std::string find_program(const std::string& name);

}  // namespace inflight::cli
