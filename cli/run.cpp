// inflight run: a program on the software GPU. Sets variables, then becomes the program.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/paths.hpp"
#include "cli/program_file.hpp"
#include "cli/python.hpp"
#include "cli/terminal.hpp"
#include "gpu/cuda/core/profiles.hpp"
#include "gpu/cuda/core/settings.hpp"

namespace inflight::cli {
namespace {

struct Variable {
  const char* option;
  const char* name;
  const char* takes;
  const char* help;
};
constexpr std::array variables = {
    Variable{"--device", "INFLIGHT_DEVICE", "NAME",
             "the device to be; 'inflight devices' lists them"},
    Variable{"--devices", "INFLIGHT_DEVICES", "N", "how many such devices there are"},
    Variable{"--async", "INFLIGHT_ASYNC", "early|late|shuffled:SEED",
             "when the bytes of asynchronous copies move; late unless told"},
    Variable{"--turns", "INFLIGHT_TURNS", "N|random:SEED",
             "instructions that a warp runs before others do; as on a chip unless told"},
    Variable{"--timeout", "INFLIGHT_TIMEOUT", "SECONDS", "end a kernel that runs longer"},
    Variable{"--slack", "INFLIGHT_SLACK", "BYTES",
             "let allocations reach to the next multiple, as a GPU's pages do; 1 unless told"},
    Variable{"--memory", "INFLIGHT_MEMORY", "SIZE",
             "how much of the host's memory devices may take, such as 16G; 7/8 of it unless told"},
    Variable{"--workers", "INFLIGHT_WORKERS", "N",
             "host threads to run blocks on; all cores unless told"},
};
constexpr const char* stats_variable = "INFLIGHT_STATS";
constexpr const char* progress_variable = "INFLIGHT_PROGRESS";
constexpr const char* check_variable = "INFLIGHT_CHECK";
constexpr const char* report_variable = "INFLIGHT_REPORT";

struct RunRequest {
  std::array<std::string, variables.size()> values;
  std::string stats, report;
  bool no_progress = false;
  bool check = false;
};

using Environment = std::map<std::string, std::string>;

Environment environment_of(const RunRequest& request) {
  Environment result;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!request.values[i].empty()) result[variables[i].name] = request.values[i];
  }
  if (!request.stats.empty())
    result[stats_variable] = request.stats == "true" ? "1" : request.stats;
  if (request.check) result[check_variable] = "1";
  if (!request.report.empty()) result[report_variable] = request.report;
  if (request.no_progress) {
    result[progress_variable] = "0";
  } else if (!std::getenv(progress_variable)) {
    result[progress_variable] = "1";
  }
  return result;
}

tl::expected<cuda::Settings, std::string> settings_of(const Environment& environment) {
  return cuda::read_settings([&](const char* name) -> const char* {
    auto found = environment.find(name);
    return found == environment.end() ? std::getenv(name) : found->second.c_str();
  });
}

// What is wrong with the options and the variables, judged as the library will judge them.
std::string objection(const Environment& environment) {
  auto settings = settings_of(environment);
  if (!settings) {
    std::string text = settings.error();
    for (const Variable& each : variables) {
      if (environment.count(each.name) && text.starts_with(std::string(each.name) + " "))
        text.replace(0, std::strlen(each.name), each.option);
    }
    if (environment.count(stats_variable) && text.starts_with(stats_variable))
      text.replace(0, std::strlen(stats_variable), "--stats");
    return text;
  }
  if (cuda::find_profile(settings->device)) return {};
  return fmt::format("there is no device '{}'; 'inflight devices' lists them.", settings->device);
}

// After objection() found nothing.
const cuda::Profile* chosen_profile(const Environment& environment) {
  auto settings = settings_of(environment);
  return cuda::find_profile(settings->device);
}

int become(const std::string& path, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  complain(fmt::format("'{}' cannot be run: {}.", path, std::strerror(errno)));
  return not_executable;
}

// The dynamic loader that asks an audit module lays out the threads' own storage before it knows
// the program's libraries. What those of sanitizers take does not fit into the room that it leaves.
void make_room_for_sanitizers(const ProgramFile& program) {
  const auto sanitizer = [](const std::string& library) {
    return library.starts_with("libtsan.so") || library.starts_with("liblsan.so");
  };
  if (!std::any_of(program.needed.begin(), program.needed.end(), sanitizer)) return;
  const std::string room = "glibc.rtld.optional_static_tls=2097152";
  setenv("GLIBC_TUNABLES", list_with("GLIBC_TUNABLES", room).c_str(), 1);
}

int run(const RunRequest& request, const std::vector<std::string>& words) {
  if (words.empty()) {
    const char* const name = request.check ? "check" : "run";
    complain(fmt::format("'{}' needs a program: inflight {} [options] [--] PROGRAM [ARG...].", name,
                         name));
    return usage;
  }
  Environment environment = environment_of(request);
  if (std::string text = objection(environment); !text.empty()) return complain(text), usage;

  std::string path = find_program(words[0]);
  if (path.empty()) {
    complain(fmt::format("there is no program '{}'.", words[0]));
    return not_found;
  }
  auto libraries = library_folder();
  if (!libraries) return complain(libraries.error() + "."), failed;
  const ProgramFile program = read_program_file(path);
  if (std::string why = out_of_reach(program, *libraries); !why.empty()) complain(why);
  make_room_for_sanitizers(program);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  setenv("LD_LIBRARY_PATH", list_with("LD_LIBRARY_PATH", *libraries).c_str(), 1);
  setenv("LD_AUDIT", audit_with(*libraries).c_str(), 1);
  for (const char* variable : assembler_variables) setenv(variable, assembler().c_str(), 0);
  const int architecture = chosen_profile(environment)->architecture.number;
  for (const PythonVariable& each : python_variables(*libraries, architecture))
    setenv(each.name.c_str(), each.value.c_str(), 1);
  return become(path, words);
}

bool takes_value(const std::string& word) {
  return word == "--report" ||
         std::any_of(variables.begin(), variables.end(),
                     [&](const Variable& each) { return word == each.option; });
}

}  // namespace

std::vector<std::string> take_program(std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "run" && words[0] != "check")) return {};
  std::size_t i = 1;
  while (i < words.size() && words[i].starts_with("-") && words[i] != "--")
    i += takes_value(words[i]) ? 2 : 1;
  if (i >= words.size()) return {};
  std::size_t program = words[i] == "--" ? i + 1 : i;
  std::vector<std::string> result(words.begin() + std::ptrdiff_t(program), words.end());
  words.resize(i);
  return result;
}

namespace {

void add(CLI::App& app, bool check, const std::vector<std::string>& program, int& status) {
  CLI::App* command =
      check ? app.add_subcommand("check",
                                 "find what is wrong with a program: check [options] [--] PROGRAM "
                                 "[ARG...]")
            : app.add_subcommand(
                  "run", "run a program on the software GPU: run [options] [--] PROGRAM [ARG...]");
  std::string footer =
      "The program is whatever nvcc built, or what starts it: python, make, a shell. The exit "
      "status is\nthe program's; 2 for a bad option, 126 for a program that cannot be run, 127 for "
      "none";
  footer += check ? "; 86 if\nanything was found.\n" : ".\n";
  command->footer(footer +
                  "Each option sets the variable in brackets, which works as well without this "
                  "command.");
  auto request = std::make_shared<RunRequest>();
  request->check = check;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& each = variables[i];
    command
        ->add_option(each.option, request->values[i], fmt::format("{} [{}]", each.help, each.name))
        ->type_name(each.takes);
  }
  command->add_flag("--stats", request->stats,
                    "count what each kernel did, on standard error or in --stats=FILE.json "
                    "[INFLIGHT_STATS]");
  if (check)
    command->add_option("--report", request->report, "write the findings there [INFLIGHT_REPORT]")
        ->type_name("FILE.json");
  command->add_flag("--no-progress", request->no_progress,
                    "no progress line for long launches [INFLIGHT_PROGRESS=0]");
  command->callback([request, &program, &status] { status = run(*request, program); });
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& program, int& status) {
  add(app, false, program, status);
}
void add_check(CLI::App& app, const std::vector<std::string>& program, int& status) {
  add(app, true, program, status);
}

}  // namespace inflight::cli
