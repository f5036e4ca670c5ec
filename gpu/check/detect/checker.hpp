// All detectors, as one listener.
#pragma once
#include <memory>
#include <vector>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {

class Checker : public Listeners {
 public:
  Checker(const CheckOptions& options, Findings::OnNew on_new);
  const Findings& findings() const { return findings_; }

  // Names last from before the first event of a launch to after its last.
  void kernel_begin(const KernelBegin&) override;
  void kernel_end(const KernelEnd&) override;

 private:
  Places places_;
  Findings findings_;
  std::vector<std::unique_ptr<Listener>> detectors_;
};

}  // namespace inflight::check
