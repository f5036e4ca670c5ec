// The list of detectors.
#include "gpu/check/detect/checker.hpp"

#include <utility>

namespace inflight::check {

#define X(name) std::unique_ptr<Listener> make_##name(const Session&, const CheckOptions&);
#include "gpu/check/detect/detectors.def"
#undef X

namespace {

constexpr MakeDetector makers[] = {
#define X(name) make_##name,
#include "gpu/check/detect/detectors.def"
#undef X
};

}  // namespace

Checker::Checker(const CheckOptions& options, Findings::OnNew on_new)
    : findings_(std::move(on_new)) {
  findings_.complete_with([this](Finding& finding) {
    history_.fill(finding);
    sources_.quote(finding);
  });
  add(history_);
  for (const MakeDetector make : makers) {
    auto detector = make({places_, findings_}, options);
    if (!detector) continue;  // not asked for
    add(*detector);
    detectors_.push_back(std::move(detector));
  }
}

void Checker::kernel_begin(const KernelBegin& event) {
  launches_.fetch_add(1, std::memory_order_relaxed);
  places_.begin(*event.kernel);
  Listeners::kernel_begin(event);
}
void Checker::kernel_end(const KernelEnd& event) {
  Listeners::kernel_end(event);
  history_.forget(event);
  places_.end(*event.kernel);
}
void Checker::block_end(const BlockEnd& event) {
  Listeners::block_end(event);
  history_.forget(event);
}

}  // namespace inflight::check
