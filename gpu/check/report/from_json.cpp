// Parses findings from JSON. Unknown members are ignored.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "gpu/check/report/json.hpp"
#include "gpu/check/report/json_names.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;

constexpr std::size_t most_entries = 4096;  // of an array: more than any finding has

// Reads members of an object. The first one that is missing or has the wrong type is reported.
class Reader {
 public:
  explicit Reader(std::string& problem) : problem_(problem) {}

  template <class T>
  void need(const json& from, const char* name, T& to) {
    const auto found = from.find(name);
    if (found == from.end()) return fail(name, "is missing");
    take(*found, name, to);
  }
  template <class T>
  void may(const json& from, const char* name, T& to) {
    const auto found = from.find(name);
    if (found != from.end()) take(*found, name, to);
  }
  template <std::size_t n>
  std::size_t one_of(const json& from, const char* name, const std::string_view (&names)[n]) {
    std::string word;
    need(from, name, word);
    const auto found = std::find(std::begin(names), std::end(names), word);
    if (found == std::end(names)) return fail(name, "is unknown"), 0;
    return static_cast<std::size_t>(found - std::begin(names));
  }
  void fail(const char* name, const char* why) {
    if (problem_.empty()) problem_ = std::string("'") + name + "' " + why;
  }

 private:
  void take(const json& j, const char* name, std::string& to) {
    if (!j.is_string()) return fail(name, "is not a string");
    to = j.get<std::string>();
  }
  void take(const json& j, const char* name, bool& to) {
    if (!j.is_boolean()) return fail(name, "is neither true nor false");
    to = j.get<bool>();
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void take(const json& j, const char* name, T& to) {
    const bool negative = j.is_number_integer() && !j.is_number_unsigned() && j < 0;
    if (!j.is_number_integer() || negative) return fail(name, "is not a non-negative integer");
    const auto number = j.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
      return fail(name, "is too large");
    to = static_cast<T>(number);
  }
  void take(const json& j, const char* name, Extents& to) {
    if (!j.is_array() || j.size() != 3) return fail(name, "is not three numbers");
    take(j[0], name, to.x), take(j[1], name, to.y), take(j[2], name, to.z);
  }
  template <class T>
  void take(const json& j, const char* name, std::vector<T>& to) {
    if (!j.is_array()) return fail(name, "is not an array");
    if (j.size() > most_entries) return fail(name, "has too many entries");
    for (const json& each : j) take(each, name, to.emplace_back());
  }
  template <class T>
  void take(const json& j, const char* name, std::optional<T>& to) {
    take(j, name, to.emplace());
  }
  void take(const json& j, const char* name, CodeLine& line) {
    if (!j.is_object()) return fail(name, "is not a source location");
    need(j, "file", line.file), need(j, "line", line.line), may(j, "column", line.column);
  }
  void take(const json& j, const char* name, CodePlace& p) {
    if (!j.is_object()) return fail(name, "is not a source location");
    may(j, "kernel", p.kernel), may(j, "mangled", p.mangled), may(j, "function", p.function);
    may(j, "file", p.file), may(j, "line", p.line), may(j, "column", p.column);
    may(j, "ptx_line", p.ptx_line), may(j, "instruction", p.instruction);
    may(j, "source", p.source), may(j, "call_source", p.call_source);
    may(j, "module", p.module);
    may(j, "inlined_at", p.inlined_at);
  }
  void take(const json& j, const char* name, Threads& t) {
    if (!j.is_object()) return fail(name, "is not an object");
    need(j, "launch", t.launch), need(j, "block", t.block), need(j, "thread", t.thread);
    may(j, "stream", t.stream), may(j, "device", t.device), may(j, "warp", t.warp);
    may(j, "block_number", t.block_number), may(j, "lanes", t.lanes), may(j, "rank", t.rank);
    t.clustered = j.contains("rank");
  }
  void take(const json& j, const char* name, Bytes& b) {
    if (!j.is_object()) return fail(name, "is not an object");
    b.space = static_cast<Space>(one_of(j, "space", space_names));
    need(j, "address", b.address), need(j, "count", b.count);
    may(j, "variable", b.variable), may(j, "offset", b.offset);
  }
  void take(const json& j, const char* name, Party& p) {
    if (!j.is_object()) return fail(name, "is not an object");
    need(j, "did", p.did), need(j, "at", p.place), may(j, "threads", p.threads);
  }
  void take(const json& j, const char* name, Step& s) {
    if (!j.is_object()) return fail(name, "is not an object");
    s.what = static_cast<Step::What>(one_of(j, "what", step_names));
    need(j, "time", s.time), need(j, "label", s.label), need(j, "at", s.place);
    need(j, "threads", s.threads), may(j, "copy", s.copy), may(j, "bytes", s.bytes);
    may(j, "here", s.here);
  }
  std::string& problem_;
};

}  // namespace

tl::expected<Finding, std::string> finding_of(const json& j) {
  if (!j.is_object()) return tl::unexpected(std::string("a finding is not an object"));
  std::string problem;
  Reader reader(problem);
  Finding f;
  std::string_view ids[finding_kinds];
  for (std::size_t i = 0; i < finding_kinds; ++i) ids[i] = kind_facts[i].id;
  f.kind = static_cast<FindingKind>(reader.one_of(j, "kind", ids));
  reader.need(j, "sentence", f.sentence), reader.need(j, "here", f.here);
  reader.need(j, "there", f.there), reader.need(j, "count", f.count);
  reader.may(j, "in_flight", f.in_flight), reader.may(j, "bytes", f.bytes);
  reader.may(j, "remedy", f.remedy), reader.may(j, "rule", f.rule);
  reader.may(j, "details", f.details), reader.may(j, "replay", f.replay),
      reader.may(j, "moment", f.moment);
  if (!problem.empty()) return tl::unexpected("a finding's " + problem);
  return f;
}

tl::expected<Report, std::string> report_of(const json& j) {
  if (!j.is_object() || !j.contains("findings") || !j["findings"].is_array())
    return tl::unexpected(std::string("the file is not a findings report"));
  if (!j.contains("version") || j["version"] != 1)
    return tl::unexpected(std::string("its version is not 1"));
  Report all;
  for (const json& each : j["findings"]) {
    auto finding = finding_of(each);
    if (!finding) return tl::unexpected(finding.error());
    all.findings.push_back(std::move(*finding));
  }
  std::string problem;
  Reader(problem).may(j, "unchecked", all.unchecked);
  if (!problem.empty()) return tl::unexpected("the report's " + problem);
  return all;
}

}  // namespace inflight::check
