// What a call keeps for whoever is told of its failure.
#include "gpu/cuda/core/report/call.hpp"

#include "gpu/cuda/core/report/call_log.hpp"
#include "gpu/cuda/core/report/observer.hpp"

namespace inflight::cuda {

bool wants_failures() { return observes(check::Topic::faults) || logs_calls(); }

void Call::is_about(std::string_view kernel) {
  if (wants_failures() && is_inside()) of_outermost().kernel = kernel;
}

void Call::hold() {
  if (observes(check::Topic::faults) && is_inside()) of_outermost().holds = true;
}

}  // namespace inflight::cuda
