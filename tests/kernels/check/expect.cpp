// Compares the findings of `inflight check` in one case with the expected ones:
// expect INFLIGHT SOURCE PROGRAM CASE [OPTION...]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Marks of the source, by line: "// [read]" at a line's end, or alone on the line before.
std::map<std::size_t, std::string> marks_of(const fs::path& source) {
  std::map<std::size_t, std::string> marks;
  std::ifstream file(source);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const auto at = line.rfind("// [");
    if (at == line.npos || !line.ends_with("]")) continue;
    const bool alone = line.find_first_not_of(' ') == at;
    marks[alone ? number + 1 : number] = line.substr(at + 3);
  }
  return marks;
}

std::vector<std::string> expected(const fs::path& list, const std::string& name, bool& listed) {
  std::vector<std::string> result;
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + ":")) continue;
    listed = true;
    const auto from = line.find_first_not_of(' ', name.size() + 1);
    if (from != line.npos) result.push_back(line.substr(from));
  }
  std::sort(result.begin(), result.end());
  return result;
}

fs::path file_of(const json& at) { return fs::path(at["file"].get<std::string>()).filename(); }

// For an inlined position, the innermost line that has a mark.
std::string place_of(const json& party, const fs::path& source,
                     const std::map<std::size_t, std::string>& marks) {
  const json& at = party["at"];
  if (!at.contains("line")) return "[-]";
  std::vector<json> lines = at.value("inlined_at", std::vector<json>());
  lines.insert(lines.begin(), at);
  for (const json& each : lines) {
    const auto mark = marks.find(each["line"].get<std::size_t>());
    if (file_of(each) == source.filename() && mark != marks.end()) return mark->second;
  }
  const std::size_t line = at["line"];
  return file_of(at) == source.filename() ? fmt::format("[{}]", line)
                                          : fmt::format("[{}:{}]", file_of(at).string(), line);
}

// True if a line of the expected findings is advice, not a mistake.
bool is_advice(const std::string& line) {
  return line.starts_with("bank-conflict") || line.starts_with("strict-wait") ||
         line.starts_with("narrow-copy") || line.starts_with("unused-commit");
}

int run(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += "'" + word + "' ";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5)
    return std::fprintf(stderr, "expect INFLIGHT SOURCE PROGRAM CASE [OPTION...]\n"), 2;
  const fs::path source = arguments[2];
  const std::string name = arguments[4];
  bool listed = false;
  const auto wanted = expected(fs::path(source).replace_extension(".findings"), name, listed);
  if (!listed)
    return std::fprintf(stderr, "%s.findings has no '%s:'\n", source.stem().c_str(), name.c_str()),
           1;
  const auto marks = marks_of(source);

  int failures = 0;
  for (const std::string mode : {"late", "early", "shuffled:1"}) {
    const fs::path report =
        fs::temp_directory_path() / fmt::format("{}-{}.json", source.stem().string(), getpid());
    std::vector<std::string> words = {arguments[1], "check",    "--no-progress", "--async",
                                      mode,         "--report", report};
    words.insert(words.end(), arguments + 5, arguments + count);
    words.insert(words.end(), {"--", arguments[3], name});
    const int status = run(words);
    std::ifstream file(report);
    const json found = json::parse(file, nullptr, false);
    fs::remove(report);
    if (found.is_discarded()) {
      fmt::print("--async {}: there is no report; the exit status is {}\n", mode, status);
      ++failures;
      continue;
    }
    std::vector<std::string> lines;
    for (const json& finding : found["findings"]) {
      std::string line = fmt::format("{} {}", finding["kind"].get<std::string>(),
                                     place_of(finding["here"], source, marks));
      for (const json& party : finding["there"]) line += " " + place_of(party, source, marks);
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    const int right = std::all_of(wanted.begin(), wanted.end(), is_advice) ? 0 : 86;
    if (status != right)
      fmt::print("--async {}: the exit status is {}, not {}\n", mode, status, right), ++failures;
    if (lines == wanted) continue;
    ++failures;
    fmt::print("--async {}: found, and listed:\n", mode);
    for (const std::string& line : lines) fmt::print("  found   {}\n", line);
    for (const std::string& line : wanted) fmt::print("  listed  {}\n", line);
  }
  return failures != 0;
}
