// What a command line that names nothing may have meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inflight::cli {

// The known word that differs from `word` by a slip of the keys. Empty if none does.
std::string closest(std::string_view word, const std::vector<std::string>& known);

// What to do where `program` was to be run and is not there, or is no program. Empty: unknown.
std::string hint_for_program(const std::string& program);
// What serves instead of a tool that needs a real GPU, such as a profiler. Empty: not such a tool.
std::string hint_for_tool(const std::string& program);

}  // namespace inflight::cli
