// Makes the detectors of detectors.def and passes accesses on to them.
#include "gpu/check/detect/checker.hpp"

#include <utility>

namespace inflight::check {

#define X(name, accesses) \
  std::unique_ptr<Listener> make_##name(const Session&, const CheckOptions&);
#include "gpu/check/detect/detectors.def"
#undef X

namespace {

struct Row {
  MakeDetector make;
  Checker::Accesses accesses;
};
constexpr Row rows[] = {
#define X(name, accesses) {make_##name, Checker::Accesses::accesses},
#include "gpu/check/detect/detectors.def"
#undef X
};

}  // namespace

Checker::Checker(const CheckOptions& options, Findings::OnNew on_new, NameMemory name_memory,
                 const std::vector<std::string>& source_folders)
    : findings_(std::move(on_new)), sources_(source_folders) {
  findings_.complete_with([this, name = std::move(name_memory)](Finding& finding) {
    if (name && finding.bytes) name(*finding.bytes);
    history_.fill(finding);
    sources_.quote(finding);
  });
  add(history_);
  for (const Row& row : rows) {
    auto detector = row.make({places_, findings_, moments_}, options);
    if (!detector) continue;  // not turned on
    add(*detector);
    if (row.accesses != Accesses::none)
      listeners_by_access_[static_cast<std::size_t>(row.accesses)].push_back(detector.get());
    detectors_.push_back(std::move(detector));
  }
}

// Most accesses are weak, and most detectors do not need those.
void Checker::accessed(const Access& event) {
  const auto notify = [&](Accesses which) {
    for (Listener* each : listeners_by_access_[static_cast<std::size_t>(which)])
      each->accessed(event);
  };
  notify(Accesses::every);
  const bool atomic = event.kind == Access::Kind::atomic || event.kind == Access::Kind::reduction;
  if (atomic || event.order != Order::weak) notify(Accesses::strong);
  if (event.kind != Access::Kind::load && event.space == Space::global) notify(Accesses::write);
}

void Checker::kernel_begin(const KernelBegin& event) {
  launches_.fetch_add(1, std::memory_order_relaxed);
  places_.begin(*event.kernel);
  Listeners::kernel_begin(event);
}
void Checker::kernel_end(const KernelEnd& event) {
  Listeners::kernel_end(event);
  findings_.release(event.kernel->launch);
  findings_.end_launch([&] {
    history_.forget(event);
    places_.end(*event.kernel);
  });
}
void Checker::block_end(const BlockEnd& event) {
  Listeners::block_end(event);
  const Extents& cluster = event.kernel->cluster;
  if (cluster.x * cluster.y * cluster.z == 1)  // else another block of it may find the cause
    findings_.release(event.kernel->launch, event.block);
  history_.forget(event);
}

}  // namespace inflight::check
