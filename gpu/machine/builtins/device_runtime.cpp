// Streams, events and errors in kernels, and queries of the device.
#include "gpu/machine/builtins/device_runtime.hpp"

#include <algorithm>

#include "gpu/machine/builtins/device_call.hpp"

namespace inflight::machine {
namespace device_runtime {
namespace {

// --- streams and events

constexpr std::uint32_t non_blocking = 1, disable_timing = 2;

Code create_stream(const Caller& c) {
  if (c.argument<std::uint32_t>(1) > non_blocking) return invalid_value;
  if (!Children::has_room()) return memory_allocation;
  return c.write_result(0, c.children().create_stream());
}
Code destroy_stream(const Caller& c) {
  return c.children().has_stream(c.argument<std::uint64_t>(0)) ? success : invalid_value;
}
Code create_event(const Caller& c) {
  if (c.argument<std::uint32_t>(1) != disable_timing) return invalid_value;
  if (!Children::has_room()) return memory_allocation;
  return c.write_result(0, c.children().create_event());
}
Code destroy_event(const Caller& c) {
  return c.children().has_event(c.argument<std::uint64_t>(0)) ? success : invalid_value;
}
// False for the streams whose launches have no order.
bool has_order(std::uint64_t stream) {
  return stream != Children::tail_stream && stream != Children::detached_stream;
}
template <bool own>
Code record_event(const Caller& c) {
  const auto event = c.argument<std::uint64_t>(0), stream = c.argument<std::uint64_t>(1);
  if (!has_order(stream)) return invalid_value;
  if (!Children::has_room()) return memory_allocation;
  return c.children().record(event, stream, c.thread(), own) ? success : invalid_resource_handle;
}
template <bool own>
Code wait_event(const Caller& c) {
  const auto stream = c.argument<std::uint64_t>(0), event = c.argument<std::uint64_t>(1);
  if (!has_order(stream)) return invalid_value;
  if (!Children::has_room()) return memory_allocation;
  return c.children().wait(stream, event, c.thread(), own) ? success : invalid_resource_handle;
}

// --- errors

template <bool clear>
const Op* last_error(const BuiltinCall& call) {
  return each_caller(call, [](const Caller& c) {
    c.call.result<std::int32_t>(0, c.lane, c.children().error(c.thread(), clear));
  });
}
template <bool name>
const Op* error_text(const BuiltinCall& call) {
  return each_caller(call, [](const Caller& c) {
    c.call.result<std::uint64_t>(0, c.lane,
                                 c.runtime().error_text(c.argument<std::int32_t>(0), name));
  });
}

// --- the device

Code get_device(const Caller& c) { return c.write_result<std::int32_t>(0, c.grid().device); }
Code get_device_count(const Caller& c) {
  return c.write_result<std::int32_t>(0, c.runtime().device_count());
}
Code get_version(const Caller& c) {
  return c.write_result<std::int32_t>(0, 6000);
}  // as on an H200
Code get_attribute(const Caller& c) {
  const auto device = c.argument<std::int32_t>(2);
  if (device < 0 || device >= c.runtime().device_count()) return invalid_device;
  const auto value = c.runtime().attribute(c.argument<std::int32_t>(1), device);
  return value ? c.write_result(0, *value) : invalid_value;
}
Code get_limit(const Caller& c) {
  constexpr std::int32_t sync_depth = 3;  // no longer supported
  const auto number = c.argument<std::int32_t>(1);
  if (number == sync_depth) return unsupported_limit;
  const auto value = c.runtime().limit(number);
  return value ? c.write_result(0, *value) : invalid_value;
}
Code get_function_attributes(const Caller& c) {
  const Kernel* const kernel =
      kernel_at(*c.grid().launch->kernel->program, c.argument<std::uint64_t>(1));
  if (!kernel) return invalid_device_function;
  const auto bytes = c.runtime().attributes(*kernel);
  return c.write_result(0, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}
Code get_resident_blocks(const Caller& c) {
  const Kernel* const kernel =
      kernel_at(*c.grid().launch->kernel->program, c.argument<std::uint64_t>(1));
  if (!kernel) return invalid_device_function;
  const auto blocks = c.runtime().resident_blocks(*kernel, c.argument<std::int32_t>(2),
                                                  c.argument<std::uint64_t>(3));
  return blocks ? c.write_result(0, *blocks) : invalid_value;
}

// --- memory: malloc and free under other names

Code allocate(const Caller& c) {
  const auto size = c.argument<std::uint64_t>(1);
  const Grid& grid = c.grid();
  const auto made = grid.memory->allocate_heap(grid.device, size, grid.options->heap_bytes);
  if (!made) return memory_allocation;
  if (*made) report_heap(c, check::Allocation::Step::made, *made, size);
  return c.write_result(0, *made);
}
Code release(const Caller& c) {
  const auto address = c.argument<std::uint64_t>(0);
  if (address == 0) return success;
  Memory& memory = *c.grid().memory;
  const auto there = memory.find(address);
  if (!there || there->base != address || there->kind != AllocationKind::heap) return invalid_value;
  report_heap(c, check::Allocation::Step::released, address, there->size);
  memory.release(address);
  return success;
}

// In "_ptsz" functions, the null stream is the thread's own.
constexpr Builtin functions[] = {
    {"StreamCreateWithFlags", {8, 4}, 4, run_call_of<create_stream>},
    {"StreamDestroy", {8}, 4, run_call_of<destroy_stream>},
    {"StreamWaitEvent", {8, 8, 4}, 4, run_call_of<wait_event<false>>},
    {"StreamWaitEvent_ptsz", {8, 8, 4}, 4, run_call_of<wait_event<true>>},
    {"EventCreateWithFlags", {8, 4}, 4, run_call_of<create_event>},
    {"EventDestroy", {8}, 4, run_call_of<destroy_event>},
    {"EventRecord", {8, 8}, 4, run_call_of<record_event<false>>},
    {"EventRecord_ptsz", {8, 8}, 4, run_call_of<record_event<true>>},
    {"EventRecordWithFlags", {8, 8, 4}, 4, run_call_of<record_event<false>>},
    {"EventRecordWithFlags_ptsz", {8, 8, 4}, 4, run_call_of<record_event<true>>},
    {"GetLastError", {}, 4, last_error<true>},
    {"PeekAtLastError", {}, 4, last_error<false>},
    {"GetErrorString", {4}, 8, error_text<false>},
    {"GetErrorName", {4}, 8, error_text<true>},
    {"GetDevice", {8}, 4, run_call_of<get_device>},
    {"GetDeviceCount", {8}, 4, run_call_of<get_device_count>},
    {"RuntimeGetVersion", {8}, 4, run_call_of<get_version>},
    {"DeviceGetAttribute", {8, 4, 4}, 4, run_call_of<get_attribute>},
    {"DeviceGetLimit", {8, 4}, 4, run_call_of<get_limit>},
    {"FuncGetAttributes", {8, 8}, 4, run_call_of<get_function_attributes>},
    {"OccupancyMaxActiveBlocksPerMultiprocessor",
     {8, 8, 4, 8},
     4,
     run_call_of<get_resident_blocks>},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
     {8, 8, 4, 8, 4},
     4,
     run_call_of<get_resident_blocks>},
    {"Malloc", {8, 8}, 4, run_call_of<allocate>},
    {"Free", {8}, 4, run_call_of<release>},
};

const Builtin* find(std::span<const Builtin> all, std::string_view name) {
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const Builtin& b) { return b.name == name; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace
}  // namespace device_runtime

const Builtin* find_device_runtime(std::string_view name) {
  using namespace device_runtime;
  constexpr std::string_view prefix = "__cudaCDP2";
  if (!name.starts_with(prefix)) return find(graphs(), name);
  name.remove_prefix(prefix.size());
  for (const std::span<const Builtin> all : {launches(), transfers()})
    if (const Builtin* const found = find(all, name)) return found;
  return find(functions, name);
}

}  // namespace inflight::machine
