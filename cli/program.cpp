// The tables of options, and the program's environment.
#include "cli/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/hints.hpp"
#include "cli/paths.hpp"
#include "cli/program_file.hpp"
#include "cli/python.hpp"
#include "cli/terminal.hpp"
#include "gpu/cuda/core/base/profiles.hpp"

namespace inflight::cli {
namespace {

constexpr Option program_options[] = {
    {"--device", "INFLIGHT_DEVICE", "NAME", "the device to emulate; 'inflight devices' lists them"},
    {"--devices", "INFLIGHT_DEVICES", "N", "the number of such devices"},
    {"--driver", "INFLIGHT_DRIVER", "VERSION",
     "the CUDA version that the driver reports, such as 13.4; 13.0 by default"},
    {"--async", "INFLIGHT_ASYNC", "early|late|shuffled:SEED",
     "when the bytes of asynchronous copies move and dependent kernels begin; late by default"},
    {"--turns", "INFLIGHT_TURNS", "N|random:SEED",
     "instructions that a warp runs before others do; as on a chip by default"},
    {"--compile", "INFLIGHT_COMPILE", "auto|always|never|verify",
     "make host code of kernels: of those that run for long, of each before it first runs, or of "
     "none; 'verify' also interprets each launch and compares the two; never by default"},
    {"--timeout", "INFLIGHT_TIMEOUT", "SECONDS", "end a kernel that runs longer"},
    {"--slack", "INFLIGHT_SLACK", "BYTES",
     "extend allocations to the next multiple, as a GPU's pages do; 1 by default"},
    {"--memory", "INFLIGHT_MEMORY", "SIZE",
     "how much of the host's memory devices may use, such as 16G; 7/8 of it by default"},
    {"--host-access", "INFLIGHT_HOST_ACCESS", nullptr,
     "let host code read and write device memory, which ends the process on a GPU"},
    {"--strict", "INFLIGHT_STRICT", nullptr,
     "do not launch a kernel that contains an unsupported instruction, even if it is never "
     "reached; under 'check', warnings count too"},
    {"--log", "INFLIGHT_LOG", "FILE",
     "list in FILE every call of CUDA that failed, and why; %p in its name is the process id",
     false, true},
    {"--ptx", "INFLIGHT_PTX", "KERNEL=FILE",
     "use the PTX in FILE in place of the program's module with this kernel (its name in PTX)",
     true},
    {"--fidelity", "INFLIGHT_FIDELITY", nullptr,
     "list executed instructions by whether their results equal the chip's"},
    {"--blas", "INFLIGHT_BLAS", "FILE",
     "the BLAS library that computes cuBLAS products; the host's BLAS by default"},
    {"--fft", "INFLIGHT_FFT", "FILE[:FILE]",
     "the library with FFTW's interface that computes cuFFT transforms, or one for f64 and one for "
     "f32; the host's FFTW by default"},
    {"--workers", "INFLIGHT_WORKERS", "N", "host threads to run blocks on; all cores by default"},
    {"--isa", "INFLIGHT_ISA", "baseline|avx2|avx512",
     "the instruction set for loops over the lanes of a warp; the best of this processor by "
     "default"},
};

constexpr bool many = true, path = true;
constexpr Option options_of_check[] = {
    {"--report", "INFLIGHT_REPORT", "FILE",
     "also write the findings to FILE.json, .sarif or .html; %p in its name is the process id",
     many, path},
    {"--error-exitcode", "INFLIGHT_ERROR_EXITCODE", "N",
     "the exit status if anything is found; 86 by default; 0: the program's own"},
    {"--suppressions", "INFLIGHT_SUPPRESSIONS", "FILE",
     "leave out findings that an entry in FILE matches", many, path},
    {"--gen-suppressions", "INFLIGHT_GEN_SUPPRESSIONS", nullptr,
     "print a suppression entry below each finding"},
    {"--baseline", "INFLIGHT_BASELINE", "FILE.json", "leave out findings of an earlier report",
     !many, path},
    {"--leak-check", "INFLIGHT_LEAK_CHECK", nullptr, "find memory that was never released"},
    {"--advice", "INFLIGHT_ADVICE", nullptr,
     "also say what could be faster; this is never an error"},
    {"--api-errors", "INFLIGHT_API_ERRORS", nullptr,
     "also find every other call of CUDA that returned an error"},
    {"--seeds", "INFLIGHT_SEEDS", "N",
     "run the program N times, with different orders of copies and warps, and join the findings"},
    {"--source-root", "INFLIGHT_SOURCE_ROOT", "FOLDER",
     "show lines of the source files in FOLDER, to which paths in FILE.sarif are relative; the "
     "working tree's by default",
     many, path},
    {"-v,--verbose", "INFLIGHT_VERBOSE", nullptr,
     "also print what was left out, and unused suppressions"},
};

constexpr const char* stats_variable = "INFLIGHT_STATS";
constexpr const char* progress_variable = "INFLIGHT_PROGRESS";

bool takes_value(const std::string& word) {
  const auto takes = [&](const Option& each) { return each.takes && word == each.name; };
  return std::any_of(std::begin(program_options), std::end(program_options), takes) ||
         std::any_of(std::begin(options_of_check), std::end(options_of_check), takes);
}

// The option's name in messages.
std::string message_name(const Option& option) {
  const std::string name = option.name;
  return name.substr(name.find(',') + 1);
}

// The message about a variable, with the option's name if an option has set the variable.
std::string with_options(std::string text, const Environment& environment) {
  const auto name = [&](const char* variable, const std::string& option) {
    if (environment.count(variable) && text.starts_with(std::string(variable) + " "))
      text.replace(0, std::string_view(variable).size(), option);
  };
  for (const Option& each : program_options) name(each.variable, message_name(each));
  for (const Option& each : options_of_check) name(each.variable, message_name(each));
  name(stats_variable, "--stats");
  return text;
}

// With an audit module, the dynamic loader lays out static thread-local storage before it knows the
// program's libraries. The storage of sanitizers does not fit into the space it leaves.
void make_room_for_sanitizers(const ProgramFile& program) {
  const auto sanitizer = [](const std::string& library) {
    return library.starts_with("libtsan.so") || library.starts_with("liblsan.so");
  };
  if (!std::any_of(program.needed.begin(), program.needed.end(), sanitizer)) return;
  const std::string room = "glibc.rtld.optional_static_tls=2097152";
  setenv("GLIBC_TUNABLES", list_with("GLIBC_TUNABLES", room).c_str(), 1);
}

std::string absolute(const std::string& file) {
  std::error_code error;
  const auto result = std::filesystem::absolute(file, error);
  return error || file.empty() ? file : result.lexically_normal().string();
}

}  // namespace

std::span<const Option> check_options() { return options_of_check; }

std::shared_ptr<Request> add_options(CLI::App& command, std::span<const Option> more) {
  auto request = std::make_shared<Request>();
  for (const Option& each : program_options) request->values.emplace_back(&each, 0);
  for (const Option& each : more) request->values.emplace_back(&each, 0);
  for (auto& [option, values] : request->values) {
    const std::string help =
        fmt::format("{} [{}{}]", option->help, option->variable, option->takes ? "" : "=1");
    if (!option->takes) {
      command.add_flag_callback(
          option->name, [&values = values] { values = {"1"}; }, help);
      continue;
    }
    CLI::Option* const added = command.add_option(option->name, values, help);
    added->type_name(option->takes)->type_size(1);
    if (option->many)
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(1, 1000);
    else
      added->expected(1);
    added->allow_extra_args(false);
  }
  command.add_flag("--stats", request->stats,
                   "count what each kernel did, on standard error or in --stats=FILE.json "
                   "[INFLIGHT_STATS]");
  command.add_flag("--no-progress", request->no_progress,
                   "no progress line for long launches [INFLIGHT_PROGRESS=0]");
  return request;
}

Environment environment_of(const Request& request) {
  Environment result;
  for (const auto& [option, values] : request.values) {
    for (const std::string& each : values) {
      std::string& all = result[option->variable];
      if (!all.empty()) all += ':';
      all += option->path ? absolute(each) : each;
    }
  }
  if (!request.stats.empty())
    result[stats_variable] = request.stats == "true" ? "1" : request.stats;
  if (request.no_progress) {
    result[progress_variable] = "0";
  } else if (!std::getenv(progress_variable)) {
    result[progress_variable] = "1";
  }
  return result;
}

tl::expected<cuda::Settings, std::string> settings_of(const Environment& environment) {
  auto settings = cuda::read_settings([&](const char* name) -> const char* {
    auto found = environment.find(name);
    return found == environment.end() ? std::getenv(name) : found->second.c_str();
  });
  if (!settings) return tl::unexpected(with_options(settings.error(), environment));
  if (!cuda::find_profile(settings->device)) {
    std::vector<std::string> names;
    for (const cuda::Profile& each : cuda::profiles()) names.emplace_back(each.name);
    const std::string near = closest(settings->device, names);
    return tl::unexpected(
        fmt::format("device '{}' not found; {}'inflight devices' lists the devices. {}, the "
                    "default, also runs what was built for an older card, from its PTX.",
                    settings->device, near.empty() ? "" : fmt::format("did you mean {}? ", near),
                    cuda::Settings{}.device));
  }
  return settings;
}

tl::expected<std::string, int> prepare(const Environment& environment, const cuda::Settings& chosen,
                                       const std::vector<std::string>& words) {
  setenv("PATH", list_with("PATH", tools_folder()).c_str(), 1);
  std::string program = find_program(words[0]);
  if (program.empty()) {
    complain(fmt::format("program '{}' not found.", words[0]));
    if (const std::string help = hint_for_program(words[0]); !help.empty()) hint(help);
    return tl::unexpected(not_found);
  }
  if (access(program.c_str(), X_OK) != 0) {
    complain(fmt::format("'{}' cannot be run: {}.", program, std::strerror(errno)));
    if (const std::string help = hint_for_program(program); !help.empty()) hint(help);
    return tl::unexpected(not_executable);
  }
  if (const std::string help = hint_for_tool(program); !help.empty() && !program.ends_with("-smi"))
    hint(help);
  auto libraries = library_folder();
  if (!libraries) return complain(libraries.error() + "."), tl::unexpected(failed);
  const ProgramFile file = read_program_file(program);
  if (std::string why = out_of_reach(file); !why.empty()) complain(why);
  make_room_for_sanitizers(file);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  setenv("LD_LIBRARY_PATH", list_with("LD_LIBRARY_PATH", *libraries).c_str(), 1);
  setenv("LD_AUDIT", audit_with(*libraries).c_str(), 1);
  setenv("NVCC_APPEND_FLAGS", nvcc_flags_with({keeps_ptx}).c_str(), 1);
  for (const char* variable : assembler_variables) setenv(variable, assembler().c_str(), 0);
  const int architecture = cuda::find_profile(chosen.device)->architecture.number;
  for (const PythonVariable& each : python_variables(*libraries, architecture))
    setenv(each.name.c_str(), each.value.c_str(), 1);
  return program;
}

int lacks_program(const char* command) {
  complain(fmt::format("'{}' needs a program: inflight {} [options] [--] PROGRAM [ARG...].",
                       command, command));
  return usage;
}

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

}  // namespace inflight::cli
