// Writes one section per finding. Style and pictures are embedded, and there are no scripts.
#include "gpu/check/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gpu/check/finding/alike.hpp"
#include "gpu/check/finding/source.hpp"
#include "gpu/check/printable.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/json_names.hpp"
#include "gpu/check/report/report.hpp"

namespace inflight::check {
namespace {

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Inflight: findings</title>
<style>
:root { color-scheme: light dark; --page: #fff; --card: #f6f7f9; --text: #1b1f24; --faint: #5c6570;
  --line: #d5d9df; --error: #b3261e; --warning: #8a5a00; --advice: #0b57a4; --copy: #bcd7f5; --hit: #f7b4ae;
  --here: #fde3a7; --there: #dcd3f7; --mark: #e4e8ee; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --card: #1d2126; --text: #e6e9ed;
  --faint: #9aa4b0; --line: #363d46; --error: #ff8b80; --warning: #f1be5c; --advice: #83bdf7; --copy: #274b70;
  --hit: #79302b; --here: #5b4710; --there: #41366b; --mark: #343b45; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
.finding { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem;
  margin: 1rem 0; }
.error { color: var(--error); } .warning { color: var(--warning); } .advice { color: var(--advice); }
.faint { color: var(--faint); font-size: .9rem; overflow-wrap: anywhere; }
.fix { border-left: 4px solid var(--advice); padding-left: .7rem; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
.sides > div { min-width: 0; }
pre, code { font: 13px/1.5 ui-monospace, monospace; }
pre { margin: 0; overflow-x: auto; background: var(--page); border: 1px solid var(--line); border-radius: 6px;
  padding: .4rem 0; }
pre span { display: block; padding: 0 .6rem; min-width: max-content; }
pre .here { background: var(--here); } pre .there { background: var(--there); }
.moment { overflow-x: auto; background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
svg { display: block; } svg text { fill: var(--text); font: 12px ui-monospace, monospace; }
svg .small { fill: var(--faint); font-size: 10px; } svg .lane { stroke: var(--line); stroke-width: 2; }
svg .copy { fill: var(--copy); } svg .hit { fill: var(--hit); } svg .in { font-size: 11px; }
svg .open { stroke: var(--faint); stroke-dasharray: 4 3; }
svg .step circle { fill: var(--mark); stroke: var(--faint); }
svg .step text { text-anchor: middle; }
svg .here circle { fill: var(--here); stroke: var(--error); stroke-width: 2; }
summary { cursor: pointer; } ol { margin: .4rem 0; padding-left: 2rem; } li { overflow-wrap: anywhere; }
a { color: inherit; }
</style>
</head>
<body>
)";

constexpr const char* legend =
    "<p class=\"faint\">In the pictures: I a copy is issued, C a group is committed, D a copy is "
    "complete (the program may not have observed it), W a thread has waited, A it arrives at a "
    "barrier, F it fences, R it reads, S it writes, ! what the finding is about. Bars are copies "
    "in flight; a dashed one was still in flight at the end.</p>\n";

// The findings as JSON in a comment, so that the page can be read back. Characters that could end a
// comment or begin a tag are escaped.
std::string in_comment(const std::vector<Finding>& findings, const Unchecked& unchecked) {
  std::string text(page_data_begin);
  for (const char c : dump(to_json(findings, unchecked))) {
    const bool marks = c == '<' || c == '>' || (c == '-' && text.back() == '-');
    text += marks ? fmt::format("\\u00{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return text += page_data_end;
}

class Page {
 public:
  explicit Page(const std::vector<std::string>& source_folders) : sources_(source_folders) {}
  std::string of(const std::vector<Finding>& findings, const Unchecked& unchecked) {
    text_ = head;
    text_ += fmt::format("<h1>Inflight: {}</h1>\n", escaped(summary(findings, ran(unchecked))));
    for (const std::string& each : unchecked) text_ += fmt::format("<p>{}</p>\n", escaped(each));
    const std::vector<Group> groups = groups_of(findings);
    if (findings.size() > 1) contents(groups);
    for (const Group& each : groups) group(each);
    if (std::any_of(findings.begin(), findings.end(),
                    [](const Finding& each) { return !each.moment.empty(); }))
      text_ += legend;
    return text_ + in_comment(findings, unchecked) + "</body>\n</html>";
  }

 private:
  static std::string_view severity(const Finding& f) {
    return severity_names[static_cast<unsigned>(facts_of(f.kind).severity)];
  }
  void contents(const std::vector<Group>& groups) {
    text_ += "<ol>\n";
    for (const Group& each : groups) {
      const Finding& f = *each.first;
      text_ += fmt::format(
          "<li><a href=\"#f{}\"><b class=\"{}\">{}</b> at <code>{}</code></a>{}</li>\n",
          fingerprint(f), severity(f), facts_of(f.kind).id, escaped(to_text(f.here.place)),
          each.others.empty() ? "" : fmt::format(", and {} similar", each.others.size()));
    }
    text_ += "</ol>\n";
  }
  // Shows one finding in full and those like it in a collapsed section.
  void group(const Group& g) {
    finding(*g.first);
    if (g.others.empty()) return;
    text_ +=
        fmt::format("<details><summary>{} similar, at other places</summary>\n", g.others.size());
    for (const Finding* each : g.others) finding(*each);
    text_ += "</details>\n";
  }
  void finding(const Finding& f) {
    text_ += fmt::format("<section class=\"finding\" id=\"f{}\">\n", fingerprint(f));
    text_ += fmt::format("<h2><span class=\"{}\">{}</span>: {}</h2>\n", severity(f),
                         facts_of(f.kind).id, escaped(f.sentence));
    if (!f.remedy.empty())
      text_ += fmt::format("<p class=\"fix\"><b>Fix:</b> {}</p>\n", escaped(f.remedy));
    for (const std::string& each : f.details) text_ += fmt::format("<p>{}</p>\n", escaped(each));
    if (f.bytes) text_ += fmt::format("<p>{}</p>\n", escaped(to_text(*f.bytes)));
    text_ += "<div class=\"sides\">\n";
    side(f.here, f);
    for (const Party& each : f.there) side(each, f);
    text_ += "</div>\n";
    if (!f.moment.empty()) {
      text_ += fmt::format("<h3>The moment</h3>\n<div class=\"moment\" tabindex=\"0\">\n{}</div>\n",
                           picture(f));
      steps(f);
    }
    if (!f.in_flight.empty()) in_flight(f);
    std::string rest = fmt::format("seen {} time{}, fingerprint {}", f.count,
                                   f.count == 1 ? "" : "s", fingerprint(f));
    if (!f.rule.empty()) rest = "rule: " + f.rule + "; " + rest;
    if (!f.replay.empty()) rest += "; reproduce with: " + f.replay;
    text_ += fmt::format("<p class=\"faint\">{}</p>\n</section>\n", escaped(rest));
  }
  void side(const Party& p, const Finding& f) {
    text_ +=
        fmt::format("<div><b>{}</b><br><code>{}</code>", escaped(p.did), escaped(to_text(p.place)));
    if (!p.place.kernel.empty())
      text_ += fmt::format("<p class=\"faint\">in {}</p>", escaped(p.place.kernel));
    if (p.threads)
      text_ += fmt::format("<p class=\"faint\">by {}</p>", escaped(to_text(*p.threads)));
    source(p.place, f);
    text_ += "</div>\n";
  }
  static bool names(const CodePlace& p, const std::string& file, std::uint32_t line) {
    const CodeLine own = own_line(p);
    return own.file == file && own.line == line;
  }
  void line(std::uint32_t number, std::string_view words, const std::string& file,
            const Finding& f) {
    const auto other = [&](const Party& each) { return names(each.place, file, number); };
    std::string_view mark;
    if (names(f.here.place, file, number)) {
      mark = " class=\"here\"";
    } else if (std::any_of(f.there.begin(), f.there.end(), other)) {
      mark = " class=\"there\"";
    }
    text_ += fmt::format("<span{}>{:>5}  {}</span>", mark, number, escaped(words));
  }
  // Quotes a few lines around the place, or only the line stored in the finding if the file is
  // missing or must not be shown.
  void source(const CodePlace& p, const Finding& f) {
    constexpr std::uint32_t around = 4;
    const CodeLine own = own_line(p);
    if (own.file.empty() || own.line == 0) return;
    const std::vector<std::string>& all = sources_.lines(own.file);
    const bool same = own.line <= all.size() && (p.source.empty() || all[own.line - 1] == p.source);
    if (!same && p.source.empty()) return;
    text_ += "<pre>";
    if (!same) {
      line(own.line, p.source, own.file, f);
    } else {
      const auto from = own.line > around ? own.line - around : 1;
      const auto to = std::min<std::size_t>(all.size(), own.line + around);
      for (std::uint32_t i = from; i <= to; ++i) line(i, all[i - 1], own.file, f);
    }
    text_ += "</pre>";
  }
  void steps(const Finding& f) {
    text_ += "<details><summary>The same in words</summary>\n<ol>\n";
    for (const Step& s : f.moment)
      text_ +=
          fmt::format("<li>{}{}: {} <span class=\"faint\">at {}, by {}</span></li>\n",
                      s.here ? "<b>this</b> " : "", step_names[static_cast<unsigned>(s.what)],
                      escaped(s.label), escaped(to_text(s.place)), escaped(to_text(s.threads)));
    text_ += "</ol></details>\n";
  }
  void in_flight(const Finding& f) {
    text_ += "<h3>In flight then, oldest first</h3>\n<ol>\n";
    for (const Party& each : f.in_flight)
      text_ += fmt::format("<li>{} <code>{}</code></li>\n", escaped(each.did),
                           escaped(to_text(each.place)));
    text_ += "</ol>\n";
  }

  SourceFiles sources_;
  std::string text_;
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable_lines(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string to_html(const std::vector<Finding>& findings,
                    const std::vector<std::string>& source_folders, const Unchecked& unchecked) {
  return Page(source_folders).of(findings, unchecked);
}

}  // namespace inflight::check
