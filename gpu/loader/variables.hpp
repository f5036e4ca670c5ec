// The environment variables that `inflight run` sets and that child processes need too.
#pragma once
#include <string_view>

namespace inflight::loader {

inline constexpr const char* audit_variable = "LD_AUDIT";
// Programs that run an assembler read its path from these.
inline constexpr const char* assembler_variables[] = {"TRITON_PTXAS_PATH",
                                                      "TRITON_PTXAS_BLACKWELL_PATH"};
// The architectures for which PyTorch extensions are built.
inline constexpr const char* architectures_variable = "TORCH_CUDA_ARCH_LIST";
// The CuTe DSL compiles with line information, with which ptxas leaves the PTX in its machine code.
inline constexpr const char* line_information_variable = "CUTE_DSL_LINEINFO";
// XLA's options, those of JAX's compiler, which asks for line information with one of them.
inline constexpr const char* compiler_options_variable = "XLA_FLAGS";
// JAX takes three quarters of a GPU's memory at once unless this is false.
inline constexpr const char* preallocation_variable = "XLA_PYTHON_CLIENT_PREALLOCATE";
inline constexpr const char* python_variables[] = {
    architectures_variable, line_information_variable, compiler_options_variable,
    preallocation_variable};
inline constexpr std::string_view devices_variable = "INFLIGHT_DEVICES";
inline constexpr std::string_view own_prefix = "INFLIGHT_";

}  // namespace inflight::loader
