// The calls that run a plan's transforms in its stream.
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/library_work.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/fft/plan.hpp"

namespace inflight::fft {
namespace {

// One execution: what the work in the stream needs, whatever becomes of the plan meanwhile.
struct Execution {
  std::shared_ptr<const Made> made;
  void *in = nullptr, *out = nullptr;
  int direction = forward;
  void* work_area = nullptr;
  std::size_t work_bytes = 0;

  void operator()(const cuda::Touch& touch) const {
    const Shape& shape = made->shape;
    const bool in_place = in == out;
    const Grid from = shape.input(in_place), to = shape.output(in_place);
    std::vector<cuda::Region> regions = regions_of(in, from, shape.element(from), false);
    const auto add = [&](std::vector<cuda::Region> more) {
      regions.insert(regions.end(), more.begin(), more.end());
    };
    if (!in_place && shape.overwrites_input()) add(regions_of(in, from, shape.element(from), true));
    add(regions_of(out, to, shape.element(to), true));
    if (work_area && work_bytes) regions.push_back({work_area, work_bytes, 1, 0, true});
    if (!touch(std::span<const cuda::Region>(regions))) return;
    if (!made->transform->run(in, out, direction))
      touch.fail("the CPU's FFT library has no plan for these sizes and layouts.");
  }
};

// As on an H100, a transform's type is the plan's, whichever call runs it. A call decides only the
// direction.
Result execute(const char* name, Plan& plan, void* in, void* out, int direction) {
  if (!plan.made || !plan.devices.empty()) return Result::invalid_plan;
  const Shape& shape = plan.made->shape;
  if (!shape.takes(direction)) return Result::invalid_value;
  const std::size_t alignment = 2 * bytes_of(shape.types.precision);
  for (const void* each : {in, out})
    if (reinterpret_cast<std::uintptr_t>(each) % alignment) return Result::invalid_value;
  if (!out) return Result::exec_failed;
  if (!plan.allocates && !plan.work_area && plan.work_bytes) return Result::no_workspace;
  const auto stream = cuda::live_stream(plan.stream, false);
  if (!stream) return result_of(stream.error().status);
  return result_of(
      cuda::submit(**stream, cuda::LibraryWork{name, Execution{plan.made, in, out, direction,
                                                               plan.work_area, plan.work_bytes}}));
}

int answer_execution(const char* name, Handle handle, void* in, void* out, int direction) {
  return answer(name, handle, [&](Plan& plan) { return execute(name, plan, in, out, direction); });
}

}  // namespace
}  // namespace inflight::fft

using namespace inflight::fft;

// Calls whose name gives the direction, and calls that take it.
#define INFLIGHT_EXECUTE_ONE_WAY(name, direction)             \
  INFLIGHT_CUFFT int name(Handle plan, void* in, void* out) { \
    return answer_execution(#name, plan, in, out, direction); \
  }
#define INFLIGHT_EXECUTE(name)                                               \
  INFLIGHT_CUFFT int name(Handle plan, void* in, void* out, int direction) { \
    return answer_execution(#name, plan, in, out, direction);                \
  }
INFLIGHT_EXECUTE(cufftExecC2C)
INFLIGHT_EXECUTE(cufftExecZ2Z)
INFLIGHT_EXECUTE(cufftXtExec)
INFLIGHT_EXECUTE_ONE_WAY(cufftExecR2C, forward)
INFLIGHT_EXECUTE_ONE_WAY(cufftExecD2Z, forward)
INFLIGHT_EXECUTE_ONE_WAY(cufftExecC2R, inverse)
INFLIGHT_EXECUTE_ONE_WAY(cufftExecZ2D, inverse)
