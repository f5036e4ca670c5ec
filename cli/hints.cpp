// Compares words by their edit distance, and knows sources and NVIDIA's tools by their names.
#include "cli/hints.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "cli/paths.hpp"

namespace inflight::cli {
namespace fs = std::filesystem;
namespace {

// The number of letters to insert, delete, replace or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

struct Tool {
  std::string_view name, serves;
};
constexpr std::string_view no_time =
    "A software GPU has no times to measure. 'inflight run --stats PROGRAM' counts what each "
    "kernel did; 'inflight check --advice PROGRAM' says what could be faster.";
constexpr std::string_view checks =
    "'inflight check PROGRAM' takes its place: it finds races, accesses out of bounds, "
    "uninitialised reads and wrong waits.";
constexpr std::string_view no_debugger =
    "There is no debugger for kernels: 'inflight check PROGRAM' names the line and thread of a "
    "mistake, printf works in kernels, and 'inflight run gdb PROGRAM' stops in host code.";
constexpr Tool tools[] = {
    {"nsys", no_time},
    {"ncu", no_time},
    {"nvprof", no_time},
    {"nv-nsight-cu-cli", no_time},
    {"compute-sanitizer", checks},
    {"cuda-memcheck", checks},
    {"cuda-gdb", no_debugger},
};

struct Source {
  std::string_view ending, what;  // what: with {0} for the file, {1} for its name without ending
};
constexpr Source sources[] = {
    {".cu", "{0} is source code: nvcc -lineinfo -o {1} {0}, then 'inflight run ./{1}'."},
    {".cpp", "{0} is source code: compile it first, then run the program."},
    {".cc", "{0} is source code: compile it first, then run the program."},
    {".c", "{0} is source code: compile it first, then run the program."},
    {".py", "{0} is a Python script: 'inflight run python3 {0}'."},
    {".sh", "{0} is a shell script: 'inflight run bash {0}'."},
    {".ptx",
     "{0} is PTX, which a program loads (cuModuleLoad): 'inflight ptx {0}' shows its kernels."},
    {".cubin",
     "{0} is machine code, which a program loads (cuModuleLoad): 'inflight ptx {0}' shows whether "
     "it keeps PTX, as with -lineinfo."},
};

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> programs_in(const fs::path& folder) {
  constexpr int most = 10'000;
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator each(folder, error);
  for (int n = 0; !error && n < most && each != fs::directory_iterator();
       each.increment(error), ++n)
    if (is_program(each->path())) names.push_back(each->path().filename().string());
  return names;
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t letters_per_slip = 3;
  std::size_t least = std::max<std::size_t>(1, word.size() / letters_per_slip) + 1;
  std::string_view best;
  for (const std::string& each : known) {
    const std::size_t apart = each.size() > word.size() && word.size() > 3 && each.starts_with(word)
                                  ? 1
                                  : distance(word, each);
    if (apart < least && apart < each.size()) least = apart, best = each;
  }
  return std::string(best);
}

std::string hint_for_tool(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  for (const Tool& each : tools)
    if (name == each.name) return std::string(each.serves);
  return {};
}

std::string hint_for_program(const std::string& program) {
  if (std::string hint = hint_for_tool(program); !hint.empty()) return hint;
  const fs::path path = program;
  for (const Source& each : sources)
    if (path.extension() == each.ending)
      return fmt::format(fmt::runtime(each.what), program, path.stem().string());
  const bool bare = program.find('/') == std::string::npos;
  if (bare && is_program(fs::path(".") / program))
    return fmt::format("Did you mean ./{}? A program in this folder needs its path, as in a shell.",
                       program);
  const fs::path folder = bare ? fs::path(".") : path.parent_path();
  const std::string near = closest(path.filename().string(), programs_in(folder));
  return near.empty() ? std::string() : fmt::format("Did you mean {}?", (folder / near).string());
}

}  // namespace inflight::cli
