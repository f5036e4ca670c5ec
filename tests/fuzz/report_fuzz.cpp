// Reads changed reports, findings of other processes, suppressions and baselines. They are refused
// in a sentence that names the file, or can be written again in every form, without what a terminal
// or a browser obeys and without lines of files that no finding is in.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu/check/report/filter.hpp"
#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/report.hpp"
#include "gpu/check/report/spool.hpp"
#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/reporting.hpp"
#include "tests/unit/detect/sample.hpp"

namespace {

using namespace inflight::check;
using namespace inflight::fuzz;
using nlohmann::json;
namespace fs = std::filesystem;

// Strings as an attacker writes them. No report may hold what the second names, nor a page the
// third as it is.
constexpr std::string_view secret_file = "/etc/passwd", secret = "root:x:0:0",
                           tag = "<script>alert(1)";
constexpr std::string_view words[] = {"",
                                      secret_file,
                                      "<script>alert(1)</script>",
                                      "\x1b]0;title\x07\x1b[31m",
                                      "-->",
                                      "\xff\xfe\x80",
                                      "../../../../etc/passwd",
                                      "data-race",
                                      "read-before-wait",
                                      "%s%n{}{0}",
                                      "/dev/zero",
                                      "/",
                                      "\n}\n{\n",
                                      "*?*?*?*?*?*?*?*?*?*?x"};

// A folder of this process, removed at its end.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("inflight-report-fuzz-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  // An empty folder in it.
  std::string fresh(std::string_view name) const {
    fs::remove_all(path_ / name);
    fs::create_directory(path_ / name);
    return file(name);
  }

 private:
  fs::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

json any_value(Choices& choices, int depth = 0) {
  switch (choices.below(depth > 3 ? 5 : 8)) {
    case 0:
      return nullptr;
    case 1:
      return choices.pick(extremes);
    case 2:
      return -static_cast<std::int64_t>(choices.pick(extremes) >> 1);
    case 3:
      return std::string(choices.pick(words));
    case 4:
      return choices.one_in(2) ? json(1e300) : json(true);
    case 5: {
      json list = json::array();
      for (std::uint32_t n = choices.below(4); n--;) list.push_back(any_value(choices, depth + 1));
      return list;
    }
    case 6:
      return {{std::string(choices.pick(words)), any_value(choices, depth + 1)}};
    default: {
      json nested = any_value(choices, depth + 1);
      for (std::uint32_t n = choices.one_in(8) ? 2000 : 3; n--;)
        nested = json::array({std::move(nested)});
      return nested;
    }
  }
}

// Changes one value that is somewhere in it.
void change(json& where, Choices& choices) {
  if (where.is_structured() && !where.empty() && !choices.one_in(6)) {
    auto at = where.begin();
    std::advance(at, choices.below(where.size()));
    if (!choices.one_in(6)) return change(*at, choices);
    if (choices.one_in(2) && where.is_array()) return where.push_back(json(*at));
    where.erase(at);
    return;
  }
  where = where.is_string() && choices.one_in(2) ? json(std::string(choices.pick(words)))
                                                 : any_value(choices);
}
std::string changed(const json& report, Choices& choices) {
  json copy = report;
  for (std::uint32_t n = choices.below(5); n--;) change(copy, choices);
  return dump(copy, choices.one_in(2) ? 1 : -1);
}
// Some bytes, seldom.
void change(std::string& text, Choices& choices) {
  if (!choices.one_in(4)) return;
  if (choices.one_in(60)) text.insert(choices.below(text.size() + 1), std::string(200000, '['));
  for (std::uint32_t n = 1 + choices.below(4); n-- && !text.empty();) {
    const std::size_t at = choices.below(text.size());
    if (choices.one_in(3)) {
      text.resize(at);
    } else if (choices.one_in(2)) {
      text.insert(at, choices.pick(words));
    } else {
      text[at] = static_cast<char>(choices.below(256));
    }
  }
}

std::vector<Finding> findings(Choices& choices) {
  std::vector<Finding> all;
  for (std::uint32_t n = choices.below(4); n--;) {
    all.push_back(choices.one_in(2) ? full_finding() : finding_at(choices.below(9)));
    Finding& f = all.back();
    f.kind = static_cast<FindingKind>(choices.below(finding_kinds));
    if (choices.one_in(4)) f.here.place.file = choices.pick(words);
    if (choices.one_in(4)) f.sentence = choices.pick(words);
  }
  return all;
}

void require_harmless(const std::string& text, std::string_view what) {
  require(text.find(secret) == text.npos, std::string(what) + " has no lines of foreign files");
}

// What can be done with findings that were read.
void use(const Folder& folder, std::vector<Finding> all) {
  const std::size_t read = all.size();
  all = merged(std::move(all));
  require(all.size() <= read, "merging adds no finding");
  (void)mistakes(all);
  for (const std::string& line : headlines(all))
    require(line.find('\x1b') == line.npos, "a headline obeys no terminal's command");
  require(!summary(all).empty(), "there is a summary");
  for (const Finding& each : all) {
    const std::string text = to_text(each) + short_text(each) + headline(each);
    require(text.find('\x1b') == text.npos, "a finding's text obeys no terminal's command");
    (void)picture(each);
    const std::string entry = suppression_for(each);
    require_harmless(text, "a finding's text");
    if (const auto again = parse_suppressions(entry, "entry"))
      for (const Suppression& s : *again) (void)matches(s, each);
  }
  for (const char* const name : {"written.json", "written.sarif", "written.html"}) {
    const std::string path = folder.file(name);
    const auto wrote = write_report(path, all, {folder.file("")});
    require(wrote.has_value(), "a report can be written again");
    const std::string text = contents(path);
    require_harmless(text, "a report");
    if (path.ends_with(".html"))
      require(text.find(tag) == text.npos, "a page runs no foreign script");
    const auto again = read_findings(path);
    require(again && again->size() == all.size(), "a written report holds what was read");
  }
}

void read_report(const Folder& folder, Choices& choices) {
  const auto all = findings(choices);
  static constexpr std::string_view names[] = {"in.json", "in.sarif", "in.html"};
  const std::string path = folder.file(choices.pick(names));
  require(write_report(path, all, {"/home/me"}).has_value(), "a report can be written");
  std::string text = contents(path);
  if (path.ends_with(".html")) {
    const std::size_t from = text.rfind(page_data_begin) + page_data_begin.size();
    const std::size_t to = text.find(page_data_end, from);
    text = text.substr(0, from) + changed(json::parse(text.substr(from, to - from)), choices) +
           text.substr(to);
  } else {
    text = changed(json::parse(text), choices);
  }
  change(text, choices);
  put(path, text);
  const auto read = read_findings(path);
  tally(read ? "reports read" : "reports refused");
  if (read) return use(folder, *read);
  require(read.error().find(path) != std::string::npos, "a refusal names the file");
  require(read.error().find("json.exception") == std::string::npos, "a refusal is a sentence");
}

void read_processes(const Folder& folder, Choices& choices) {
  const std::string spool = folder.fresh("spool");
  for (std::uint32_t n = 1 + choices.below(3); n--;) {
    const auto all = findings(choices);
    Spool process({spool});
    for (const Finding& each : all) process.add(each);
    if (!choices.one_in(3)) process.conclude(choices.below(1000), all);
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(spool)) {
    std::string text, line;
    for (std::istringstream in(contents(entry.path())); std::getline(in, line);) {
      const json parsed = json::parse(line, nullptr, false);
      text += (parsed.is_discarded() || choices.one_in(2) ? line : changed(parsed, choices)) + '\n';
    }
    change(text, choices);
    put(entry.path(), text);
    ++files;
  }
  const Spooled read = read_spool({spool});
  require(read.unfinished.size() <= read.processes && read.processes <= files,
          "no more processes are read than there are files");
  tally("findings of processes", static_cast<long>(read.findings.size()));
  use(folder, read.findings);
}

void read_filters(const Folder& folder, Choices& choices) {
  std::string text;
  const auto all = findings(choices);
  for (const Finding& each : all) text += suppression_for(each);
  static constexpr std::string_view lines[] = {"{\n  name\n  inflight:*\n  source:*\n}\n",
                                               "{\n",
                                               "}\n",
                                               "  kernel:*copy*\n",
                                               "#\n",
                                               "  inflight:data-race\n",
                                               "  here:*:3\n",
                                               "  there:?\n",
                                               "  name\n"};
  for (std::uint32_t n = choices.below(8); n--;) {
    const std::size_t at = choices.below(text.size() + 1);
    text.insert(at, choices.pick(lines));
  }
  change(text, choices);
  const std::string path = folder.file("suppressions"), baseline = folder.file("baseline.json");
  put(path, text);
  put(baseline, changed(to_json(all), choices));
  const auto entries = read_suppressions(path);
  tally(entries ? "suppressions read" : "suppressions refused");
  if (!entries) require(entries.error().starts_with(path), "a refusal begins with the file");
  auto filter = Filter::read({path}, choices.one_in(2) ? baseline : std::string());
  if (!filter) {
    require(filter.error().find(path) != std::string::npos ||
                filter.error().find(baseline) != std::string::npos,
            "a refusal names a file");
    return;
  }
  for (const Finding& each : all) (void)filter->judge(each);
  for (const Suppression* const each : filter->unused())
    require(each->line != 0, "an entry has a line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  Choices choices(data, size);
  static constexpr void (*ways[])(const Folder&, Choices&) = {read_report, read_report,
                                                              read_processes, read_filters};
  choices.pick(ways)(folder, choices);
  return 0;
}
