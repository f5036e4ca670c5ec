// A detector: a listener that adds findings.
#pragma once
#include <memory>
#include <vector>

#include "gpu/check/detect/moments.hpp"
#include "gpu/check/finding/findings.hpp"
#include "gpu/check/listener.hpp"

namespace inflight::check {

// State that all detectors of a process share.
struct Session {
  Places& places;
  Findings& findings;
  Moments& moments;
};

// Options that turn on detectors beside those that are always on.
struct CheckOptions {
  bool leaks = false, advice = false, api_errors = false;
};

// Each detector has one file with one of these functions, which detectors.def lists. The function
// returns null if the options do not turn the detector on.
using MakeDetector = std::unique_ptr<Listener> (*)(const Session&, const CheckOptions&);

}  // namespace inflight::check
