// Runs a graph's steps in turns: a step that waits for a value lets others run, because one of them
// may write it.
#pragma once
#include <algorithm>
#include <thread>
#include <vector>

#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {

// Runs the steps from `first` on, each after the steps it depends on. `one(step)` runs a step.
// `go_on(step, from)` performs the step's value operations from index `from` on, and returns the
// index of the first that would wait. No more steps run once `stopped()` is true.
template <class Steps, class One, class GoOn, class Stopped>
void take_turns(const Steps& steps, std::size_t first, One one, GoOn go_on, Stopped stopped) {
  std::vector<bool> done(first, true);
  done.resize(steps.size());
  std::vector<std::size_t> performed(steps.size());
  // True if the step made progress.
  const auto turn = [&](std::size_t step) {
    const auto* const values = std::get_if<ValueWork>(&steps[step].work);
    if (!values || !waits_for_any(*values)) {
      one(step);
      done[step] = true;
      return true;
    }
    const std::size_t before = std::exchange(performed[step], go_on(step, performed[step]));
    done[step] = performed[step] == values->operations.size();
    return performed[step] != before;
  };
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    bool any = false;
    for (std::size_t step = first; step < steps.size(); ++step) {
      const auto& after = steps[step].after;
      const auto is_done = [&](std::size_t other) { return done[other]; };
      if (done[step] || !std::all_of(after.begin(), after.end(), is_done)) continue;
      if (stopped()) return;
      any |= turn(step);
    }
    if (!any) std::this_thread::sleep_for(poll_interval);
  }
}

}  // namespace inflight::cuda
