// Detects leaks: memory that the program allocates and never releases (--leak-check).
#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

using Kind = Allocation::Kind;

// The calls that allocate and release a kind of memory.
struct Calls {
  std::string_view what, made, released;
};
constexpr std::array<Calls, 5> calls{{
    {"device", "cudaMalloc", "cudaFree"},
    {"managed", "cudaMallocManaged", "cudaFree"},
    {"pinned host", "cudaMallocHost or cudaHostRegister", "cudaFreeHost or cudaHostUnregister"},
    {"heap", "malloc in a kernel", "free in a kernel"},
    {"pool", "cudaMallocAsync", "cudaFreeAsync"},
}};

std::size_t row_of(Kind kind) {
  switch (kind) {
    case Kind::managed:
      return 1;
    case Kind::host:
      return 2;
    case Kind::heap:
      return 3;
    case Kind::pool:
      return 4;
    default:
      return 0;
  }
}

struct Live {
  std::uint64_t address = 0, bytes = 0;
  std::size_t row = 0;
  PlaceId place = no_place;  // of malloc in a kernel
  Threads threads;
};

// Allocations of the same kind and place.
struct Group {
  std::uint64_t count = 0, bytes = 0;
  Live first;
};

class Leaks : public Listener {
 public:
  explicit Leaks(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::allocations | Topic::host; }

  void allocation(const Allocation& event) override {
    if (event.kind == Kind::variable || event.kind == Kind::constant || !event.name.empty()) return;
    const std::lock_guard lock(mutex_);
    if (event.step == Allocation::Step::released) {
      live_.erase(event.address);
      return;
    }
    Live& live = live_[event.address];
    live.address = event.address, live.bytes = event.bytes;
    live.row = row_of(event.kind);
    live.place = no_place;
    if (event.kind != Kind::heap) return;
    live.place = session_.places.of(event.who);
    live.threads = session_.places.threads(event.who);
  }

  void process_ended(const ProcessEnd&) override {
    const std::lock_guard lock(mutex_);
    std::map<std::pair<std::size_t, PlaceId>, Group> groups;
    for (const auto& [address, live] : live_) {
      Group& group = groups[{live.row, live.place}];
      if (group.count++ == 0) group.first = live;
      group.bytes += live.bytes;
    }
    for (const auto& [key, group] : groups)
      session_.findings.add({FindingKind::leak, key.second, no_place, key.first},
                            [&] { return make(group); });
    live_.clear();
  }

 private:
  Finding make(const Group& group) {
    const Live& live = group.first;
    const Calls& call = calls[live.row];
    Finding finding;
    finding.kind = FindingKind::leak;
    finding.sentence = fmt::format("{} allocation{} of {} memory {} never released: {} bytes",
                                   group.count, group.count == 1 ? "" : "s", call.what,
                                   group.count == 1 ? "was" : "were", group.bytes);
    finding.here.did =
        fmt::format("allocates {} bytes{}", live.bytes, group.count == 1 ? "" : " (the first)");
    finding.here.place = session_.places.at(
        live.place == no_place ? session_.places.of_host(call.made) : live.place);
    if (live.place != no_place) finding.here.threads = live.threads;
    finding.bytes = Bytes{Space::global, live.address, live.bytes, {}, 0};
    finding.remedy = fmt::format("release {} with {} once nothing uses it any more",
                                 group.count == 1 ? "it" : "each", call.released);
    return finding;
  }

  Session session_;
  std::mutex mutex_;
  std::map<std::uint64_t, Live> live_;
};

}  // namespace

std::unique_ptr<Listener> make_leaks(const Session& session, const CheckOptions& options) {
  if (!options.leaks) return nullptr;
  return std::make_unique<Leaks>(session);
}

}  // namespace inflight::check
