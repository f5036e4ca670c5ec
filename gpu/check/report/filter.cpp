// Parses and matches suppressions, and recognises findings of the baseline.
#include "gpu/check/report/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "gpu/check/names.hpp"
#include "gpu/check/printable.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/host/input_file.hpp"

namespace inflight::check {
namespace {

using Subject = Suppression::Subject;
constexpr std::string_view prefix = "inflight:";
constexpr std::string_view subjects[] = {"kernel", "function", "source", "here", "there"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto from = text.find_first_not_of(blank);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

bool is_kind(std::string_view pattern) {
  return std::any_of(std::begin(kind_facts), std::end(kind_facts),
                     [&](const KindFacts& each) { return matches_wildcards(pattern, each.id); });
}

// FILE or FILE:LINE. A file name without a folder matches in any folder.
bool matches_line(std::string_view pattern, const std::string& path, std::uint32_t line) {
  if (path.empty()) return false;
  for (const std::string& file : {path, std::filesystem::path(path).filename().string()}) {
    if (matches_wildcards(pattern, file)) return true;
    if (matches_wildcards(pattern, fmt::format("{}:{}", file, line))) return true;
  }
  return false;
}

bool matches_source(std::string_view pattern, const CodePlace& place) {
  return matches_line(pattern, place.file, place.line) ||
         std::any_of(place.inlined_at.begin(), place.inlined_at.end(), [&](const CodeLine& each) {
           return matches_line(pattern, each.file, each.line);
         });
}

bool matches_place(const Suppression::Pattern& pattern, const CodePlace& place) {
  switch (pattern.subject) {
    case Subject::kernel:
      return matches_wildcards(pattern.text, place.kernel) ||
             matches_wildcards(pattern.text, place.mangled);
    case Subject::function:
      return matches_wildcards(pattern.text, place.function) ||
             matches_wildcards(pattern.text, readable(place.function));
    default:
      return matches_source(pattern.text, place);
  }
}

bool matches_pattern(const Suppression::Pattern& pattern, const Finding& finding) {
  const bool own = pattern.subject != Subject::there, other = pattern.subject != Subject::here;
  if (own && matches_place(pattern, finding.here.place)) return true;
  return other && std::any_of(finding.there.begin(), finding.there.end(), [&](const Party& each) {
           return matches_place(pattern, each.place);
         });
}

// A key of the place that stays the same in all versions of a file that have the same line.
std::string baseline_key(const CodePlace& p) {
  const std::string_view source = trimmed(p.source);
  const CodeLine own = own_line(p);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n", p.kernel, p.function, p.instruction,
                     std::filesystem::path(own.file).filename().string(),
                     !source.empty()     ? std::string(source)
                     : !own.file.empty() ? std::to_string(own.line)
                                         : std::to_string(p.ptx_line));
}

std::string baseline_key(const Finding& f) {
  std::string text = std::string(facts_of(f.kind).id) + "\n" + baseline_key(f.here.place);
  for (const Party& each : f.there) text += baseline_key(each.place);
  return text;
}

// The text with '?', which matches any byte, in place of bytes that do not print.
std::string pattern_of(std::string_view text) {
  return replace_unprintable(text, {},
                             [](std::string_view bytes) { return std::string(bytes.size(), '?'); });
}

// Parses suppression entries, line by line.
class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  void take(std::string_view text) {
    ++line_;
    text = trimmed(text);
    if (text.empty() || text.starts_with('#')) return;
    if (text == "{") return begin();
    if (!inside_) return fail("'{' is expected");
    if (text == "}") return end();
    if (entry_.name.empty()) {
      entry_.name = text;
    } else if (entry_.kind.empty()) {
      kind(text);
    } else {
      pattern(text);
    }
  }
  void finish() {
    if (inside_) fail("'}' is missing");
  }
  std::vector<Suppression> entries;
  std::string problem;

 private:
  void begin() {
    if (inside_) return fail("'}' is missing");
    inside_ = true;
    entry_ = {};
    entry_.file = path_, entry_.line = line_;
  }
  void end() {
    if (entry_.kind.empty()) return fail("an entry needs a name and a kind");
    inside_ = false;
    entries.push_back(std::move(entry_));
  }
  void kind(std::string_view text) {
    if (!text.starts_with(prefix)) return fail("'inflight:KIND' is expected");
    entry_.kind = text.substr(prefix.size());
    if (!is_kind(entry_.kind)) fail(fmt::format("'{}' is not a known finding kind", entry_.kind));
  }
  void pattern(std::string_view text) {
    const auto colon = text.find(':');
    const auto found = std::find(std::begin(subjects), std::end(subjects), text.substr(0, colon));
    if (colon == text.npos || found == std::end(subjects))
      return fail(
          "'kernel:', 'function:', 'source:', 'here:' or 'there:' with a pattern is expected");
    entry_.patterns.push_back({static_cast<Subject>(found - std::begin(subjects)),
                               std::string(trimmed(text.substr(colon + 1)))});
  }
  void fail(std::string_view why) {
    if (problem.empty()) problem = printable(fmt::format("{}:{}: {}", path_, line_, why));
  }

  const std::string& path_;
  std::size_t line_ = 0;
  bool inside_ = false;
  Suppression entry_;
};

}  // namespace

bool matches_wildcards(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1, t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

tl::expected<std::vector<Suppression>, std::string> parse_suppressions(std::string_view text,
                                                                       const std::string& path) {
  Parser parser(path);
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) parser.take(line);
  parser.finish();
  if (!parser.problem.empty()) return tl::unexpected(parser.problem);
  return std::move(parser.entries);
}

tl::expected<std::vector<Suppression>, std::string> read_suppressions(const std::string& path) {
  constexpr std::uint64_t most_bytes = 16 << 20;
  const auto text = host::read_file(path, most_bytes);
  if (!text) return tl::unexpected(fmt::format("'{}' {}", printable(path), text.error()));
  return parse_suppressions(*text, path);
}

bool matches(const Suppression& suppression, const Finding& finding) {
  return matches_wildcards(suppression.kind, facts_of(finding.kind).id) &&
         std::all_of(suppression.patterns.begin(), suppression.patterns.end(),
                     [&](const auto& each) { return matches_pattern(each, finding); });
}

std::string suppression_for(const Finding& f) {
  const CodePlace& p = f.here.place;
  std::string text = fmt::format("{{\n  {} {}\n  {}{}\n", facts_of(f.kind).id, fingerprint(f),
                                 prefix, facts_of(f.kind).id);
  if (!p.mangled.empty()) text += fmt::format("  kernel:{}\n", pattern_of(p.mangled));
  const auto source = [&](std::string_view subject, const CodePlace& place) {
    const CodeLine own = own_line(place);
    if (own.file.empty()) return;
    text += fmt::format("  {}:{}:{}\n", subject,
                        pattern_of(std::filesystem::path(own.file).filename().string()), own.line);
  };
  source("here", p);
  for (const Party& each : f.there) source("there", each.place);
  return text + "}\n";
}

void Baseline::add(const Finding& finding) { ++known_[baseline_key(finding)]; }

bool Baseline::take(const Finding& finding) {
  const auto found = known_.find(baseline_key(finding));
  if (found == known_.end() || found->second == 0) return false;
  --found->second;
  return true;
}

tl::expected<Filter, std::string> Filter::read(const std::vector<std::string>& suppressions,
                                               const std::string& baseline) {
  Filter filter;
  for (const std::string& path : suppressions) {
    auto entries = read_suppressions(path);
    if (!entries) return tl::unexpected(entries.error());
    for (Suppression& each : *entries) filter.suppressions_.push_back(std::move(each));
  }
  filter.used_.resize(filter.suppressions_.size());
  if (baseline.empty()) return filter;
  const auto known = read_findings(baseline);
  if (!known) return tl::unexpected(known.error());
  for (const Finding& each : *known) filter.baseline_.add(each);
  return filter;
}

Filter::Verdict Filter::judge(const Finding& finding) {
  Verdict verdict = Verdict::report;
  for (std::size_t i = 0; i < suppressions_.size(); ++i) {
    if (!matches(suppressions_[i], finding)) continue;
    used_[i] = true;
    verdict = Verdict::suppressed;
  }
  if (verdict == Verdict::suppressed) return verdict;
  return baseline_.take(finding) ? Verdict::known : Verdict::report;
}

std::vector<const Suppression*> Filter::unused() const {
  std::vector<const Suppression*> result;
  for (std::size_t i = 0; i < suppressions_.size(); ++i)
    if (!used_[i]) result.push_back(&suppressions_[i]);
  return result;
}

}  // namespace inflight::check
