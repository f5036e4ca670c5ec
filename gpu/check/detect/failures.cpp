// Reports launches, other work and calls of the API that failed.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpu/check/detect/detector.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

// The lines of a text, without blanks around them and without the last one's full stop.
std::vector<std::string> lines_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto first = line.find_first_not_of(blanks);
    if (first == line.npos) continue;
    line = line.substr(first, line.find_last_not_of(blanks) + 1 - first);
    if (line.ends_with('.')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

std::string_view action(const CallFailed& event) {
  switch (event.what) {
    case CallFailed::What::launch:
      return "launches it";
    case CallFailed::What::work:
      return event.kernel.empty() ? "submits this" : "launches it";
    case CallFailed::What::input:
    case CallFailed::What::call:
      break;
  }
  return "calls this";
}

// A launch that fails for lack of room can be made to fit.
struct LaunchRemedy {
  int code;
  std::string_view text;
};
constexpr LaunchRemedy remedies[] = {
    {701,
     "launch smaller blocks, or give the kernel __launch_bounds__() with the number of threads"},
    {720,
     "launch at most as many blocks as fit at once: "
     "cudaOccupancyMaxActiveBlocksPerMultiprocessor() "
     "times the number of multiprocessors"},
};

class Failures : public Listener {
 public:
  Failures(const Session& session, bool calls) : session_(session), calls_(calls) {}
  Topic topics() const override { return Topic::faults; }

  void call_failed(const CallFailed& event) override {
    if (event.what == CallFailed::What::call && !calls_) return;
    if (event.deadlock && session_.findings.concern(event.launch)) return;
    const bool launch =
        event.what == CallFailed::What::launch || event.what == CallFailed::What::work;
    const FindingKind kind = launch ? FindingKind::launch_failed : FindingKind::api_error;
    std::vector<std::string> lines = lines_of(event.sentence);
    CodePlace place;
    place.instruction = event.call.empty() ? std::string_view("work of a stream") : event.call;
    if (!event.kernel.empty())
      place.kernel = readable(event.kernel), place.mangled = std::string(event.kernel);
    place.function = event.caller;
    const PlaceId id = session_.places.of_call(place);
    session_.findings.add({kind, id, no_place, static_cast<std::uint64_t>(event.code)}, [&] {
      Finding finding;
      finding.kind = kind;
      if (!lines.empty()) finding.sentence = std::move(lines.front());
      for (std::size_t i = 1; i < lines.size(); ++i) finding.details.push_back(std::move(lines[i]));
      finding.here.did = action(event);
      if (!event.caller.empty()) finding.here.did += fmt::format(" in {}", event.caller);
      finding.here.place = session_.places.at(id);
      for (const LaunchRemedy& each : remedies)
        if (each.code == event.code && event.what == CallFailed::What::launch)
          finding.remedy = each.text;
      return finding;
    });
    if (event.launch != 0) session_.findings.explain(event.launch);
  }

 private:
  Session session_;
  const bool calls_;
};

}  // namespace

std::unique_ptr<Listener> make_failures(const Session& session, const CheckOptions& options) {
  return std::make_unique<Failures>(session, options.api_errors);
}

}  // namespace inflight::check
