// The outermost call of each thread.
#include "gpu/cuda/core/base/call_facts.hpp"

#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {
namespace {

thread_local CallFacts* outermost = nullptr;

}  // namespace

CallFacts::CallFacts() : outermost_(outermost == nullptr) {
  if (outermost_) outermost = this;
}

CallFacts::~CallFacts() {
  if (!outermost_) return;
  outermost = nullptr;
  if (!facts_) return;
  guarded("the report of a call", [&] {
    for (const std::string& each : facts_->held) report(each);
    return Status::success;
  });
  delete facts_;
}

bool CallFacts::is_inside() { return outermost != nullptr; }

CallFacts::Facts& CallFacts::of_outermost() { return outermost->facts(); }

void CallFacts::because(std::string_view sentence) {
  if (outermost && outermost->facts().reason.empty()) outermost->facts().reason = sentence;
}

void CallFacts::with(std::string_view arguments) {
  if (outermost) outermost->facts().arguments = arguments;
}

void CallFacts::refuses_input() {
  if (outermost) outermost->facts().input = true;
}

bool CallFacts::keep(std::string_view sentence) {
  if (!outermost) return false;
  because(sentence);
  if (!outermost->facts_->holds) return false;
  outermost->facts_->held.emplace_back(sentence);
  return true;
}

}  // namespace inflight::cuda
