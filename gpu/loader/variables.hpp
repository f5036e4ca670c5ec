// The variables that `inflight run` sets for a program and that are of use to every program that it
// starts.
#pragma once
#include <string_view>

namespace inflight::loader {

inline constexpr const char* audit_variable = "LD_AUDIT";
// Who runs an assembler asks these for its path.
inline constexpr const char* assembler_variables[] = {"TRITON_PTXAS_PATH",
                                                      "TRITON_PTXAS_BLACKWELL_PATH"};
// What PyTorch's extensions are built for.
inline constexpr const char* architectures_variable = "TORCH_CUDA_ARCH_LIST";
inline constexpr std::string_view own_prefix = "INFLIGHT_";

}  // namespace inflight::loader
