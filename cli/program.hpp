// What `inflight run` and `inflight check` share: options that set variables, and a program that
// finds the software GPU.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/core/settings.hpp"

namespace CLI {
class App;
}

namespace inflight::cli {

// An option and the variable that it sets.
struct Option {
  const char* name;
  const char* variable;
  const char* takes;  // null: a flag
  const char* help;
  bool many = false;  // may be given several times; the variable has colons between the values
  bool path = false;  // of a file, which processes in other folders must find too
};
// Those of `inflight check` alone.
std::span<const Option> check_options();

using Environment = std::map<std::string, std::string>;

// What was asked for on the command line.
struct Request {
  std::vector<std::pair<const Option*, std::vector<std::string>>> values;
  std::string stats;
  bool no_progress = false;
};

// Adds the options that all programs take, and `more`. The request lives as long as the command.
std::shared_ptr<Request> add_options(CLI::App& command, std::span<const Option> more = {});
// The variables that it sets.
Environment environment_of(const Request& request);
// The settings that the library will read, from these variables and the process's own. An error is
// a sentence with the option or the variable.
tl::expected<cuda::Settings, std::string> settings_of(const Environment& environment);

// Sets the variables and all else by which a program and its children reach the software GPU, and
// gives the program's path. An error has been reported, and is the command's exit status.
tl::expected<std::string, int> prepare(const Environment& environment, const cuda::Settings& chosen,
                                       const std::vector<std::string>& words);

// The exit status of a command that was given no program, told.
int lacks_program(const char* command);

}  // namespace inflight::cli
