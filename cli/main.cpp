// inflight: runs and inspects CUDA programs on the software GPU.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"

using namespace inflight::cli;

namespace {

// What CLI11 says of a bad command line, in this command's own form.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == int(CLI::ExitCodes::Success)) return app.exit(error);
  complain(error.what());
  hint("'inflight --help' lists the subcommands, 'inflight SUBCOMMAND --help' their options.");
  return usage;
}

// A first word that is no subcommand deserves to hear so.
bool known_subcommand(const CLI::App& app, const std::string& word) {
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == word) return true;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{
      "CUDA programs on a software GPU: no GPU needed, every byte in flight accounted for.",
      "inflight"};
  app.set_version_flag("--version", "inflight " INFLIGHT_VERSION);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(32);
  int status = ok;
  std::vector<std::string> words(arguments + 1, arguments + count);
  std::vector<std::string> program = take_program(words);
  add_run(app, program, status);
  add_ptx(app, status);
  add_devices(app, status);
  add_swizzle(app, status);
  add_env(app, status);

  std::string first = words.empty() ? "" : words[0];
  if (!first.empty() && first[0] != '-' && !known_subcommand(app, first)) {
    complain("there is no subcommand '" + first + "'.");
    hint("To run a program: inflight run " + first + ". 'inflight --help' lists the subcommands.");
    return usage;
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  }
  if (app.get_subcommands().empty()) out(app.help());
  return status;
}
