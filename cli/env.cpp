// inflight env: variables with which a build and a shell run nvcc's programs on the software GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/paths.hpp"
#include "cli/python.hpp"
#include "cli/terminal.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"

namespace inflight::cli {
namespace {

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void print_shell(const std::string& libraries) {
  const std::string flags = nvcc_flags_with({"-cudart shared", keeps_ptx});
  out("export NVCC_APPEND_FLAGS=" + shell_quoted(flags) + "\n");
  // For toolkits without a libcudart.so of their own. A toolkit's own one, of any version, comes
  // first.
  out("export LIBRARY_PATH=" + shell_quoted(list_with("LIBRARY_PATH", libraries)) + "\n");
  out("export LD_LIBRARY_PATH=" + shell_quoted(list_with("LD_LIBRARY_PATH", libraries)) + "\n");
  out("export LD_AUDIT=" + shell_quoted(audit_with(libraries)) + "\n");
  for (const char* variable : assembler_variables)
    out(std::string("export ") + variable + "=" + shell_quoted(assembler()) + "\n");
  if (const std::string package = headers_prefix(); !package.empty())
    out("export inflight_ROOT=" + shell_quoted(package) + "\n");
  const char* device = std::getenv("INFLIGHT_DEVICE");
  if (const cuda::Profile* profile = cuda::find_profile(device ? device : cuda::Settings{}.device))
    for (const PythonVariable& each : python_variables(libraries, profile->architecture.number))
      out("export " + each.name + "=" + shell_quoted(each.value) + "\n");
  out("export PATH=" + shell_quoted(list_with("PATH", tools_folder() + ":" + executable_folder())) +
      "\n");
}

int print(bool cmake) {
  auto libraries = library_folder();
  if (!libraries) return complain(libraries.error() + "."), failed;
  if (cmake) {
    out("-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared\n");
    if (const std::string package = headers_prefix(); !package.empty())
      out("-Dinflight_ROOT=" + package + "\n");
  } else {
    print_shell(*libraries);
  }
  return ok;
}

}  // namespace

void add_env(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("env", "print what a build and a shell need: eval \"$(inflight env)\"");
  command->footer(
      "In such a shell every CUDA program runs on the software GPU, and nvcc links the shared "
      "runtime.");
  auto cmake = std::make_shared<bool>(false);
  command->add_flag("--cmake", *cmake, "print arguments for cmake instead");
  command->callback([cmake, &status] { status = print(*cmake); });
}

}  // namespace inflight::cli
