// Launches by kernels, and their argument buffers.
#include <cstring>
#include <span>

#include "gpu/machine/builtins/device_call.hpp"
#include "gpu/machine/builtins/device_runtime.hpp"

namespace inflight::machine::device_runtime {

Code queue(const Caller& c, Child child, std::uint64_t stream, bool own) {
  const std::uint64_t places = c.runtime().pending_limit();
  const bool tail = stream == Children::tail_stream;
  if (stream == Children::legacy_stream) return invalid_value;
  const Launch& parent = *c.grid().launch;
  child.launch.origin.depth = parent.origin.depth + (tail ? 0 : 1);
  if (child.launch.origin.depth > places || (tail && c.children().tail_count() >= places))
    return pending_count_exceeded;
  child.by = c.thread();
  child.parent = parent.kernel;
  child.parent_grid = parent.grid, child.parent_block = parent.block;
  if (!c.children().takes(stream)) return invalid_resource_handle;
  // Reported before it can begin.
  if (const Observation* const to = c.grid().observation)
    to->child_launched(c.warp(), c.call.op, c.lane, child.number());
  c.children().launch(std::move(child), stream, own);
  c.parent().launched();
  return success;
}

namespace {

constexpr std::uint32_t most_parameters = 4096;

// --- launches

Code code_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return success;
    case FaultKind::invalid_cluster:
      return invalid_cluster_size;
    case FaultKind::too_many_resources:
      return out_of_resources;
    default:
      return invalid_configuration;
  }
}

// Memory for the arguments of a launch, or 0 if there is none.
std::uint64_t new_buffer(const Caller& c, std::uint64_t bytes) {
  const auto size = std::max<std::uint64_t>(bytes, 16);
  const auto made = c.grid().memory->allocate_heap(c.grid().device, size, ~std::uint64_t{0});
  if (made) report_heap(c, check::Allocation::Step::made, *made, size);
  return made.value_or(0);
}

// Copies the launch's arguments from the buffer at `address` and releases it. False: there is no
// such buffer.
bool take_buffer(const Caller& c, std::uint64_t address, Launch& launch) {
  const std::uint32_t bytes = launch.kernel->parameter_bytes;
  const auto there = c.grid().memory->find(address);
  if (!there || there->base != address || there->kind != AllocationKind::heap ||
      there->size < bytes)
    return false;
  const std::span given(reinterpret_cast<const std::byte*>(address), bytes);
  launch.parameters.assign(given.begin(), given.end());
  report_heap(c, check::Allocation::Step::released, address, there->size);
  c.grid().memory->release(address);
  return true;
}

struct Shape {
  std::uint64_t function;
  Dim3 grid, block;
  std::uint32_t dynamic_shared;
};

// Makes a launch without arguments and checks it.
Code make_launch(const Caller& c, const Shape& shape, Launch& launch) {
  const Kernel* const kernel = kernel_at(*c.grid().launch->kernel->program, shape.function);
  if (!kernel) return invalid_device_function;
  if (kernel->parameter_bytes > most_parameters) return invalid_value;
  launch = c.runtime().launch_of(*kernel);
  launch.grid = shape.grid, launch.block = shape.block;
  launch.dynamic_shared = shape.dynamic_shared;
  launch.origin.parent = c.grid().id;
  return code_of(c.parent().check(launch));
}

// void* (void* function, dim3 grid, dim3 block, unsigned shared): returns the argument buffer.
const Op* get_parameter_buffer_v2(const BuiltinCall& call) {
  return each_caller(call, [](const Caller& c) {
    Launch launch;
    std::uint64_t buffer = 0;
    Code code = make_launch(c,
                            {c.argument<std::uint64_t>(0), c.argument<Dim3>(1), c.argument<Dim3>(2),
                             c.argument<std::uint32_t>(3)},
                            launch);
    if (code == success) {
      buffer = new_buffer(c, launch.kernel->parameter_bytes);
      if (buffer == 0) code = memory_allocation;
    }
    if (buffer) c.children().prepare(buffer, std::move(launch));
    if (code != success) c.children().set_error(c.thread(), code);
    c.call.result<std::uint64_t>(0, c.lane, buffer);
  });
}

template <bool own>
Code launch_device_v2(const Caller& c) {
  const auto buffer = c.argument<std::uint64_t>(0);
  auto launch = c.children().take_prepared(buffer);
  if (!launch) return invalid_value;
  Child child;
  child.launch = std::move(*launch);
  if (!take_buffer(c, buffer, child.launch)) return invalid_value;
  return queue(c, std::move(child), c.argument<std::uint64_t>(1), own);
}

// The older interface of two steps: the buffer is not bound to a kernel.
const Op* get_parameter_buffer(const BuiltinCall& call) {
  return each_caller(call, [](const Caller& c) {
    const auto bytes = c.argument<std::uint64_t>(1);
    const std::uint64_t buffer = bytes <= most_parameters ? new_buffer(c, bytes) : 0;
    if (!buffer) c.children().set_error(c.thread(), invalid_value);
    c.call.result<std::uint64_t>(0, c.lane, buffer);
  });
}

template <bool own>
Code launch_device(const Caller& c) {
  Child child;
  const Code code = make_launch(c,
                                {c.argument<std::uint64_t>(0), c.argument<Dim3>(2),
                                 c.argument<Dim3>(3), c.argument<std::uint32_t>(4)},
                                child.launch);
  if (code != success) return code;
  // The buffer may be null if the kernel has no parameters.
  if (!take_buffer(c, c.argument<std::uint64_t>(1), child.launch) &&
      child.launch.kernel->parameter_bytes != 0)
    return invalid_value;
  return queue(c, std::move(child), c.argument<std::uint64_t>(5), own);
}

// In "_ptsz" functions, the null stream is the thread's own.
constexpr std::uint8_t dim3 = sizeof(Dim3);
constexpr Builtin launch_functions[] = {
    {"GetParameterBuffer", {8, 8}, 8, get_parameter_buffer},
    {"GetParameterBufferV2", {8, dim3, dim3, 4}, 8, get_parameter_buffer_v2},
    {"LaunchDevice", {8, 8, dim3, dim3, 4, 8}, 4, run_call_of<launch_device<false>>},
    {"LaunchDevice_ptsz", {8, 8, dim3, dim3, 4, 8}, 4, run_call_of<launch_device<true>>},
    {"LaunchDeviceV2", {8, 8}, 4, run_call_of<launch_device_v2<false>>},
    {"LaunchDeviceV2_ptsz", {8, 8}, 4, run_call_of<launch_device_v2<true>>},
};

}  // namespace

std::span<const Builtin> launches() { return launch_functions; }

}  // namespace inflight::machine::device_runtime
