// The names of enumerators in reports, in the order of the enumerators.
#pragma once
#include <string_view>

namespace inflight::check {

inline constexpr std::string_view space_names[] = {"global", "shared", "local", "constant",
                                                   "parameter"};
inline constexpr std::string_view severity_names[] = {"error", "warning", "advice"};
inline constexpr std::string_view step_names[] = {
    "issued", "committed", "completed", "waited", "arrived", "fenced", "read", "wrote", "acted"};

}  // namespace inflight::check
