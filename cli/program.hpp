// The common part of `inflight run` and `inflight check`: options that set variables, and the
// environment in which a program finds the software GPU.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/core/base/settings.hpp"

namespace CLI {
class App;
}

namespace inflight::cli {

// An option and the variable that it sets.
struct Option {
  const char* name;
  const char* variable;
  const char* takes;  // the kind of its value; null: a flag
  const char* help;
  bool many = false;  // may be repeated; the variable has the values separated by colons
  bool path = false;  // a file's path, which processes in other folders must find too
};
// The options that only `inflight check` has.
std::span<const Option> check_options();

using Environment = std::map<std::string, std::string>;

// The options given on the command line.
struct Request {
  std::vector<std::pair<const Option*, std::vector<std::string>>> values;
  std::string stats;
  bool no_progress = false;
};

// Adds the options that all programs take, and `more`. The request lives as long as the command.
std::shared_ptr<Request> add_options(CLI::App& command, std::span<const Option> more = {});
// The variables that the request sets.
Environment environment_of(const Request& request);
// The settings that the library will read from these variables and the process's own. An error is a
// sentence that names the option or variable.
tl::expected<cuda::Settings, std::string> settings_of(const Environment& environment);

// Sets the variables by which a program and its children reach the software GPU, and returns the
// program's path. Reports an error itself and returns the exit status.
tl::expected<std::string, int> prepare(const Environment& environment, const cuda::Settings& chosen,
                                       const std::vector<std::string>& words);

// Reports that no program was given. Returns the exit status.
int lacks_program(const char* command);

}  // namespace inflight::cli
