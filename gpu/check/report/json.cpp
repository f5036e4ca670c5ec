// Converts findings to JSON. Unknown members are omitted.
#include "gpu/check/report/json.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "gpu/check/finding/alike.hpp"
#include "gpu/check/printable.hpp"
#include "gpu/check/report/json_names.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;

json of(const Extents& e) { return {e.x, e.y, e.z}; }

json of(const CodePlace& p) {
  json j = json::object();
  if (!p.kernel.empty()) j["kernel"] = p.kernel, j["mangled"] = p.mangled;
  if (!p.function.empty()) j["function"] = p.function;
  if (!p.file.empty()) j["file"] = p.file, j["line"] = p.line, j["column"] = p.column;
  for (const CodeLine& each : p.inlined_at)
    j["inlined_at"].push_back({{"file", each.file}, {"line", each.line}, {"column", each.column}});
  if (p.ptx_line) j["ptx_line"] = p.ptx_line;
  if (!p.module.empty()) j["module"] = p.module;
  if (!p.instruction.empty()) j["instruction"] = p.instruction;
  if (!p.source.empty()) j["source"] = p.source;
  if (!p.call_source.empty()) j["call_source"] = p.call_source;
  return j;
}

json of(const Threads& t) {
  json j = {{"launch", t.launch},
            {"stream", t.stream},
            {"device", t.device},
            {"block", of(t.block)},
            {"block_number", t.block_number},
            {"thread", of(t.thread)},
            {"warp", t.warp},
            {"lanes", t.lanes}};
  if (t.clustered) j["rank"] = t.rank;
  return j;
}

json of(const Bytes& b) {
  json j = {{"space", space_names[static_cast<unsigned>(b.space)]},
            {"address", b.address},
            {"count", b.count}};
  if (!b.variable.empty()) j["variable"] = b.variable, j["offset"] = b.offset;
  return j;
}

json of(const Party& p) {
  json j = {{"did", p.did}, {"at", of(p.place)}};
  if (p.threads) j["threads"] = of(*p.threads);
  return j;
}

json of(const std::vector<Party>& parties) {
  json j = json::array();
  for (const Party& each : parties) j.push_back(of(each));
  return j;
}

json of(const Step& s) {
  json j = {{"what", step_names[static_cast<unsigned>(s.what)]},
            {"time", s.time},
            {"label", s.label},
            {"at", of(s.place)},
            {"threads", of(s.threads)}};
  if (s.copy) j["copy"] = s.copy;
  if (s.bytes) j["bytes"] = of(*s.bytes);
  if (s.here) j["here"] = true;
  return j;
}

}  // namespace

json to_json(const Finding& f) {
  const KindFacts& facts = facts_of(f.kind);
  json j = {
      {"kind", facts.id},       {"severity", severity_names[static_cast<unsigned>(facts.severity)]},
      {"sentence", f.sentence}, {"here", of(f.here)},
      {"there", of(f.there)},   {"in_flight", of(f.in_flight)},
      {"count", f.count},       {"fingerprint", fingerprint(f)},
      {"text", to_text(f)}};
  if (f.bytes) j["bytes"] = of(*f.bytes);
  if (!f.details.empty()) j["details"] = f.details;
  if (!f.remedy.empty()) j["remedy"] = f.remedy;
  if (!f.rule.empty()) j["rule"] = f.rule;
  if (!f.replay.empty()) j["replay"] = f.replay;
  json moment = json::array();
  for (const Step& each : f.moment) moment.push_back(of(each));
  if (!moment.empty()) j["moment"] = std::move(moment);
  return j;
}

json to_json(const std::vector<Finding>& findings, const Unchecked& unchecked) {
  std::map<const Finding*, std::string> like;
  for (const Group& group : groups_of(findings))
    for (const Finding* each : group.others) like[each] = fingerprint(*group.first);
  json all = json::array();
  for (const Finding& each : findings) {
    all.push_back(to_json(each));
    if (const auto found = like.find(&each); found != like.end())
      all.back()["like"] = found->second;
  }
  json report = {{"version", 1}, {"complete", unchecked.empty()}, {"findings", std::move(all)}};
  if (!unchecked.empty()) report["unchecked"] = unchecked;
  return report;
}

std::string dump(const json& j, int indent) {
  const std::string text = j.dump(indent, ' ', false, json::error_handler_t::replace);
  // What is left to escape is inside strings: JSON itself escapes control characters up to U+001F.
  return replace_unprintable(text, "\n", [](std::string_view bytes) {
    return bytes == "\x7f" ? std::string("\\u007f") : printable(bytes);
  });
}

}  // namespace inflight::check
