// Sets where Python finds the package `inflight`, the target of PyTorch's extensions, and the line
// information of the CuTe DSL.
#include "cli/python.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/paths.hpp"

namespace inflight::cli {

std::vector<PythonVariable> python_variables(const std::string& libraries, int architecture) {
  std::vector<PythonVariable> result;
  const std::string package = libraries + "/python";
  std::error_code error;
  if (std::filesystem::exists(package, error))
    result.push_back({"PYTHONPATH", list_with("PYTHONPATH", package)});
  // torch.utils.cpp_extension embeds PTX only on request.
  constexpr const char* architectures = loader::architectures_variable;
  const char* chosen = std::getenv(architectures);
  result.push_back(
      {architectures, chosen ? std::string(chosen)
                             : fmt::format("{}.{}+PTX", architecture / 10, architecture % 10)});
  constexpr const char* lines = loader::line_information_variable;
  const char* asked = std::getenv(lines);
  result.push_back({lines, asked ? asked : "1"});
  return result;
}

}  // namespace inflight::cli
