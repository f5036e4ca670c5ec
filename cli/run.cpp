// inflight run: sets variables, then replaces itself with the program.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstring>

#include "cli/commands.hpp"
#include "cli/program.hpp"
#include "cli/terminal.hpp"

namespace inflight::cli {
namespace {

int become(const std::string& path, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  complain(fmt::format("'{}' cannot be run: {}.", path, std::strerror(errno)));
  return not_executable;
}

int run(const Request& request, const std::vector<std::string>& words) {
  if (words.empty()) return lacks_program("run");
  const Environment environment = environment_of(request);
  const auto settings = settings_of(environment);
  if (!settings) return complain(settings.error()), usage;
  const auto path = prepare(environment, *settings, words);
  return path ? become(*path, words) : path.error();
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& program, int& status) {
  CLI::App* command = app.add_subcommand(
      "run", "run a program on the software GPU: run [options] [--] PROGRAM [ARG...]");
  command->footer(
      "The program is whatever nvcc built, or what starts it: python, make, a shell. The exit "
      "status is\nthe program's; 2 for a bad option, 126 for a program that cannot be run, 127 for "
      "none.\nEach option sets the variable in brackets, which works as well without this "
      "command.");
  auto request = add_options(*command);
  command->callback([request, &program, &status] { status = run(*request, program); });
}

}  // namespace inflight::cli
