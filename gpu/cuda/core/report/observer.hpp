// Reports host events to the process's listener (statistics, detectors). Without a listener an
// event costs one branch.
#pragma once
#include "gpu/check/listener.hpp"

namespace inflight::cuda {

// The listener that the settings choose, or null.
check::Listener* observer();
// Replaces the listener. Null restores the settings' one.
void observe_with(check::Listener* listener);
// The topics of the listener, which was asked for them once.
check::Topic observed_topics();
// True if the listener wants events of this topic.
inline bool observes(check::Topic topic) { return check::has(observed_topics(), topic); }
// Writes the listener's report. Called at the end of the process, and when a context dies, because
// programs often abort then. Nothing is written twice.
void report_observed();

}  // namespace inflight::cuda
