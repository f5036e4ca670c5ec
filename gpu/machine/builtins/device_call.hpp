// One lane's call of a function of CUDA's device runtime.
#pragma once
#include <algorithm>
#include <bit>

#include "gpu/check/events.hpp"
#include "gpu/machine/builtins/builtins.hpp"
#include "gpu/machine/children/parent.hpp"
#include "gpu/machine/config/device_runtime.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine::device_runtime {

// cudaError.
enum Code : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_direction = 21,
  pending_count_exceeded = 69,
  invalid_device_function = 98,
  invalid_device = 101,
  unsupported_limit = 215,
  invalid_resource_handle = 400,
  out_of_resources = 701,
  invalid_cluster_size = 912,
};

inline constexpr std::uint32_t call_cost = 256;  // ops of its warp's slice per lane's call

// One lane's call.
struct Caller {
  const BuiltinCall& call;
  int lane;
  Warp& warp() const { return call.warp; }
  Grid& grid() const { return *call.warp.block->grid; }
  Parent& parent() const { return *grid().parent; }
  Children& children() const { return parent().children(); }
  DeviceRuntime& runtime() const { return *grid().launch->runtime; }
  ThreadOfGrid thread() const {
    return {warp().block->linear, warp().first_thread() + static_cast<std::uint32_t>(lane)};
  }
  template <class T>
  T argument(unsigned i) const {
    return call.argument<T>(i, lane);
  }
  // Writes to the address in argument `i`.
  Code write_result(unsigned i, const void* value, std::uint32_t bytes) const {
    const auto address = argument<std::uint64_t>(i);
    if (!write_generic(warp(), lane, address, value, bytes)) return invalid_value;
    if (const Observation* const to = grid().observation)
      to->written_by_builtin(warp(), call.op, lane, address, bytes);
    return success;
  }
  template <class T>
  Code write_result(unsigned i, T value) const {
    return write_result(i, &value, sizeof value);
  }
};

// Calls body(Caller) for each active lane. run_call_of also returns the code of `body` to the lane
// and keeps errors for the thread.
template <class Body>
const Op* each_caller(const BuiltinCall& call, Body body) {
  Warp& w = call.warp;
  const Grid& grid = *w.block->grid;
  if (!grid.parent)
    return w.fault(call.op, FaultKind::refused, w.mask,
                   "this launch has no device runtime, so its kernel cannot call CUDA functions");
  each_lane(w.mask, [&](int lane) { body(Caller{call, lane}); });
  w.progressed = true;
  return w.spend(call.op + 1,
                 std::uint64_t{call_cost} * static_cast<std::uint32_t>(std::popcount(w.mask)));
}
template <Code (*body)(const Caller&)>
const Op* run_call_of(const BuiltinCall& call) {
  return each_caller(call, [](const Caller& caller) {
    const Code code = body(caller);
    if (code != success) caller.children().set_error(caller.thread(), code);
    caller.call.result<std::int32_t>(0, caller.lane, code);
  });
}

// The kernel at this address, or null.
inline const Kernel* kernel_at(const Program& program, std::uint64_t address) {
  const auto ref = program.function_at(address);
  const auto kernels = program.kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) {
    return k.module == ref.module && k.function == ref.function;
  });
  return found == kernels.end() ? nullptr : &*found;
}

// Launches that have not ended hold places, and so does each grid that waits for its launches: an
// H200 nests as deep as there are places. Launches that are not nested always find a place here, as
// there, since they run beside the grid.
Code queue(const Caller& c, Child child, std::uint64_t stream, bool own);

// Reports an allocation or release on the heap.
inline void report_heap(const Caller& c, check::Allocation::Step step, std::uint64_t address,
                        std::uint64_t bytes) {
  if (const Observation* const to = c.grid().observation)
    to->heap(c.warp(), c.call.op, c.lane, step, address, bytes);
}

}  // namespace inflight::machine::device_runtime
