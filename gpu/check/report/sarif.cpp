// Writes one run, with a rule for each kind of finding and a result for each finding.
#include "gpu/check/report/sarif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "gpu/check/printable.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/json_names.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;

constexpr const char* schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* base = "%SRCROOT%";
constexpr std::string_view levels[] = {"error", "warning", "note"};  // by Severity
constexpr std::string_view problems[] = {"error", "warning", "recommendation"};

// A path as a URI reference: characters other than unreserved ones and slashes are percent-encoded.
std::string uri(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// "ReadBeforeWait" of "read-before-wait".
std::string rule_name(std::string_view id) {
  std::string name;
  bool capital = true;
  for (const char c : id) {
    if (c != '-') name += capital ? static_cast<char>(std::toupper(c)) : c;
    capital = c == '-';
  }
  return name;
}

json rule(const KindFacts& kind) {
  const auto severity = static_cast<unsigned>(kind.severity);
  const std::string sentence = fmt::format("{}.", kind.meaning);
  const std::string help = fmt::format(
      "{} Each result says how to fix it; docs/checking.md shows a kernel with this mistake and "
      "the corrected one.",
      sentence);
  std::string upper = sentence;
  upper[0] = static_cast<char>(std::toupper(upper[0]));
  return {{"id", kind.id},
          {"name", rule_name(kind.id)},
          {"shortDescription", {{"text", upper}}},
          {"fullDescription", {{"text", upper}}},
          {"help", {{"text", help}, {"markdown", help}}},
          {"defaultConfiguration", {{"level", levels[severity]}}},
          {"properties",
           {{"tags", json::array({"cuda", "concurrency"})},
            {"precision", "very-high"},
            {"problem.severity", problems[severity]}}}};
}

class SarifWriter {
 public:
  explicit SarifWriter(const std::string& root) : root_(root) {
    if (!root_.ends_with('/')) root_ += '/';
  }

  json result(const Finding& f) const {
    const auto kind = static_cast<std::size_t>(f.kind);
    const auto severity = static_cast<unsigned>(facts_of(f.kind).severity);
    const std::string print = fingerprint(f);
    json j = {{"ruleId", facts_of(f.kind).id},
              {"ruleIndex", kind},
              {"level", levels[severity]},
              {"message", {{"text", message(f)}}},
              {"locations", json::array({location(f.here.place, f.here.threads, f.here.did)})},
              {"partialFingerprints",
               {{"inflight/v1", print}, {"primaryLocationLineHash", print + ":1"}}},
              {"occurrenceCount", f.count}};
    json others = json::array();
    const auto add = [&](const Party& p) {
      others.push_back(location(p.place, p.threads, p.did));
      others.back()["id"] = others.size();
    };
    for (const Party& each : f.there) add(each);
    for (const Party& each : f.in_flight) add(each);
    if (!others.empty()) j["relatedLocations"] = std::move(others);
    if (!f.moment.empty()) j["codeFlows"] = json::array({json{{"threadFlows", flows(f)}}});
    json more = json::object();
    if (!f.remedy.empty()) more["remedy"] = f.remedy;
    if (!f.rule.empty()) more["rule"] = f.rule;
    if (!f.replay.empty()) more["replay"] = f.replay;
    if (f.bytes) more["bytes"] = to_text(*f.bytes);
    more["finding"] = to_json(f);  // everything, so that reports can be read back
    j["properties"] = std::move(more);
    return j;
  }

 private:
  // A viewer may show only the message, so it contains a link to the other side.
  std::string message(const Finding& f) const {
    std::string text = f.sentence;
    if (!text.ends_with('.')) text += '.';
    std::size_t id = 0;
    for (const Party& each : f.there)
      text += fmt::format(" The other side: {} at [{}]({}).", escaped(each.did),
                          escaped(to_text(each.place)), ++id);
    for (const std::string& each : f.details) text += fmt::format(" {}.", escaped(each));
    if (f.bytes) text += fmt::format(" It is about {}.", escaped(to_text(*f.bytes)));
    if (!f.remedy.empty()) text += fmt::format(" Fix: {}.", escaped(f.remedy));
    if (!f.rule.empty()) text += fmt::format(" Rule: {}.", escaped(f.rule));
    return printable(text);
  }
  // Escapes brackets, which would begin a link in a message.
  static std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  }
  json artifact(const CodePlace& p, const std::string& file) const {
    // Without -lineinfo the lines are those of the kernel's PTX. Host calls have none.
    if (file.empty())
      return {{"uri", uri(p.kernel.empty() ? std::string("host") : p.mangled + ".ptx")}};
    if (file.starts_with(root_))
      return {{"uri", uri(file.substr(root_.size()))}, {"uriBaseId", base}};
    return {{"uri", (file.starts_with('/') ? "file://" : "") + uri(file)}};
  }
  json location(const CodePlace& p, const std::optional<Threads>& threads,
                const std::string& did) const {
    const CodeLine own = own_line(p);
    json region = {{"startLine", std::max(1u, own.file.empty() ? p.ptx_line : own.line)}};
    if (!own.file.empty() && own.column) region["startColumn"] = own.column;
    if (!p.source.empty()) region["snippet"] = {{"text", p.source}};
    std::string text = did;
    if (threads) text += ", by " + to_text(*threads);
    json j = {
        {"physicalLocation", {{"artifactLocation", artifact(p, own.file)}, {"region", region}}},
        {"message", {{"text", text.empty() ? to_text(p) : printable(text)}}}};
    if (!p.kernel.empty())
      j["logicalLocations"] = json::array(
          {json{{"name", p.kernel}, {"fullyQualifiedName", p.mangled}, {"kind", "function"}}});
    return j;
  }
  // One thread flow per warp. The execution order relates their steps.
  json flows(const Finding& f) const {
    std::map<std::pair<std::uint64_t, std::uint32_t>, json> warps;
    for (std::size_t i = 0; i < f.moment.size(); ++i) {
      const Step& s = f.moment[i];
      json& flow = warps[{s.threads.block_number, s.threads.warp}];
      if (flow.is_null()) flow = {{"message", {{"text", warp(s.threads)}}}};
      flow["locations"].push_back(
          {{"location",
            location(s.place, s.threads,
                     fmt::format("{}: {}", step_names[static_cast<unsigned>(s.what)], s.label))},
           {"executionOrder", i + 1},
           {"importance", s.here ? "essential" : "important"}});
    }
    json all = json::array();
    for (auto& [key, flow] : warps) all.push_back(std::move(flow));
    return all;
  }
  static std::string warp(const Threads& t) {
    return fmt::format("warp {} of block ({},{},{})", t.warp, t.block.x, t.block.y, t.block.z);
  }
  std::string root_;
};

}  // namespace

json to_sarif(const std::vector<Finding>& findings, const std::string& root,
              const Unchecked& unchecked) {
  const SarifWriter writer(root);
  json rules = json::array(), results = json::array();
  for (const KindFacts& each : kind_facts) rules.push_back(rule(each));
  for (const Finding& each : findings) results.push_back(writer.result(each));
  const std::string folder = "file://" + uri(root) + (root.ends_with('/') ? "" : "/");
  json invocation = {{"executionSuccessful", unchecked.empty()}};
  for (const std::string& each : unchecked)
    invocation["toolExecutionNotifications"].push_back(
        {{"level", "warning"}, {"message", {{"text", printable(each)}}}});
  json run = {{"tool", {{"driver", {{"name", sarif_tool}, {"rules", std::move(rules)}}}}},
              {"invocations", json::array({std::move(invocation)})},
              {"columnKind", "unicodeCodePoints"},
              {"originalUriBaseIds", {{base, json{{"uri", folder}}}}},
              {"results", std::move(results)}};
  return {{"$schema", schema}, {"version", "2.1.0"}, {"runs", json::array({std::move(run)})}};
}

}  // namespace inflight::check
