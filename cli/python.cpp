// Sets where Python finds the package `inflight`, the target of PyTorch's extensions, the line
// information of the CuTe DSL and JAX, and how much memory JAX takes.
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
  const auto unless_set = [&](const char* name, const char* value) {
    const char* set = std::getenv(name);
    result.push_back({name, set ? set : value});
  };
  unless_set(loader::line_information_variable, "1");
  // The user's options come later and prevail.
  result.push_back(
      {loader::compiler_options_variable,
       list_with(loader::compiler_options_variable, "--xla_gpu_generate_line_info=true", " ")});
  unless_set(loader::preallocation_variable, "false");
  return result;
}

}  // namespace inflight::cli
