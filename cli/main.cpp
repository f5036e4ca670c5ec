// inflight: runs and inspects CUDA programs on the software GPU.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/hints.hpp"
#include "cli/terminal.hpp"

using namespace inflight::cli;

namespace {

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  return names;
}

// The options of the subcommand that the words begin with, and those of `inflight` itself.
std::vector<std::string> options_for(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  const auto add = [&](const CLI::App* of) {
    for (const CLI::Option* each : of->get_options([](const CLI::Option*) { return true; }))
      for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  };
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!words.empty() && each->get_name() == words[0]) add(each);
  add(&app);
  return names;
}

// CLI11's message about a bad command line, as a sentence.
std::string sentence(const CLI::ParseError& error) {
  const std::string text = error.what(), name = text.substr(0, text.find(':'));
  constexpr std::string_view missing = " missing", one = ": 1 required ";
  const auto takes = text.find(one);
  if (takes != text.npos && text.ends_with(missing)) {
    const auto from = takes + one.size();
    return name + " needs a value: " + text.substr(from, text.size() - missing.size() - from) + ".";
  }
  if (text.find("At Most 1 required") != text.npos) return name + " was given more than once.";
  if (dynamic_cast<const CLI::ExtrasError*>(&error))
    return "unknown option or argument '" + text.substr(text.find(": ") + 2) + "'.";
  return text + ".";
}

// Whoever starts this command may have closed its standard streams. A report that is then opened
// would take their number and get the messages. The stand-ins fail as closed ones do, and the
// program to run does not get them.
void occupy_standard_streams() {
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(each, F_GETFD) < 0)
      open("/dev/null", (each == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int status_after_output(int status) { return finish_output() || status != ok ? status : failed; }

int refuse(const CLI::App& app, const std::vector<std::string>& words,
           const CLI::ParseError& error) {
  if (error.get_exit_code() == int(CLI::ExitCodes::Success)) {
    std::ostringstream text;
    const int status = app.exit(error, text, text);
    out(text.str());
    return status_after_output(status);
  }
  complain(sentence(error));
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const std::string text = error.what();
    std::string word = text.substr(text.rfind(' ') + 1);
    word = word.substr(0, word.find('='));
    if (const auto near = closest(word, options_for(app, words)); word != near && !near.empty())
      hint("Did you mean " + near + "?");
  }
  hint("'inflight --help' lists the subcommands, 'inflight SUBCOMMAND --help' their options.");
  return usage;
}

}  // namespace

int main(int count, char** arguments) {
  occupy_standard_streams();
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
  add_check(app, program, status);
  add_merge(app, status);
  add_ptx(app, status);
  add_devices(app, status);
  add_swizzle(app, status);
  add_env(app, status);

  std::string first = words.empty() ? "" : words[0];
  const std::vector<std::string> subcommands = subcommands_of(app);
  if (!first.empty() && first[0] != '-' && std::ranges::count(subcommands, first) == 0) {
    complain("unknown subcommand '" + first + "'.");
    if (const std::string near = closest(first, subcommands); !near.empty())
      hint("Did you mean 'inflight " + near + "'?");
    hint("To run a program: inflight run " + first + ". 'inflight --help' lists the subcommands.");
    return usage;
  }
  for (const std::string& word : words)
    if (word.starts_with("--") && word.ends_with('=')) {
      complain(word.substr(0, word.size() - 1) + " needs a value after the equals sign.");
      return usage;
    }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return refuse(app, words, error);
  } catch (const std::exception& error) {
    complain(std::string("this host has no more memory, or something else failed: ") +
             error.what() + ".");
    return failed;
  }
  if (app.get_subcommands().empty()) out(app.help());
  return status_after_output(status);
}
