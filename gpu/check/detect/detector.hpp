// A detector: a listener that brings findings.
#pragma once
#include <memory>
#include <vector>

#include "gpu/check/finding/findings.hpp"
#include "gpu/check/listener.hpp"

namespace inflight::check {

// What all detectors of a process share.
struct Session {
  Places& places;
  Findings& findings;
};

// What a user asked for beyond the detectors that are always on.
struct CheckOptions {
  bool leaks = false, advice = false;
};

// Each detector is one file with one of these functions; checker.cpp lists them.
using MakeDetector = std::unique_ptr<Listener> (*)(const Session&, const CheckOptions&);

}  // namespace inflight::check
