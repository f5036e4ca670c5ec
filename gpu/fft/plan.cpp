// The table of plans.
#include "gpu/fft/plan.hpp"

#include <map>
#include <mutex>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::fft {
namespace {

struct Plans {
  std::mutex mutex;
  std::map<Handle, std::shared_ptr<Plan>> live;
  Handle last = 0;
};
Plans& plans() {
  static auto& all = *new Plans;
  return all;
}

}  // namespace

Result create(Handle* place) {
  if (!place) return Result::invalid_value;
  if (cuda::Core::get().device_count() == 0) return Result::setup_failed;
  if (!cuda::live_stream(nullptr, false)) return Result::setup_failed;
  auto plan = std::make_shared<Plan>();
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  *place = ++all.last;
  all.live[*place] = std::move(plan);
  return Result::success;
}

Result destroy(Handle handle) {
  if (handle == no_plan) return Result::success;
  std::shared_ptr<Plan> plan;
  {
    Plans& all = plans();
    const std::lock_guard lock(all.mutex);
    const auto found = all.live.find(handle);
    if (found == all.live.end()) return Result::invalid_plan;
    plan = std::move(found->second);
    all.live.erase(found);
  }
  const auto stream = cuda::live_stream(plan->stream, false);
  if (stream && !cuda::capturing(**stream)) (*stream)->synchronize();
  return Result::success;
}

std::shared_ptr<Plan> find(Handle handle) {
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  const auto found = all.live.find(handle);
  return found == all.live.end() ? nullptr : found->second;
}

}  // namespace inflight::fft
