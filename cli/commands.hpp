// The subcommands of `inflight`. Each adds itself to the application and sets `status`, the exit
// status of the whole command, when it runs.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace inflight::cli {

inline constexpr int ok = 0;
inline constexpr int failed = 1;            // the subcommand could not do its work
inline constexpr int usage = 2;             // the command line is wrong
inline constexpr int not_executable = 126;  // as in a shell
inline constexpr int not_found = 127;       // as in a shell

// CLI11 does not parse the program and its arguments: take_program() removes them from the command
// line's words (all after "inflight"), and add_run()'s subcommand runs them. CLI11's own
// prefix_command() refuses "run -- PROGRAM ARG" and passes an unknown option on as the program. Its
// envname() would name the option where a variable's value is wrong.
std::vector<std::string> take_program(std::vector<std::string>& words);
void add_run(CLI::App& app, const std::vector<std::string>& program, int& status);
void add_check(CLI::App& app, const std::vector<std::string>& program, int& status);
void add_merge(CLI::App& app, int& status);
void add_ptx(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);
void add_env(CLI::App& app, int& status);
void add_swizzle(CLI::App& app, int& status);

}  // namespace inflight::cli
