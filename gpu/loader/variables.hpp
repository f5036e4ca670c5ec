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
inline constexpr std::string_view own_prefix = "INFLIGHT_";

}  // namespace inflight::loader
