// Graphs that kernels launch, and graph nodes that they change (CUDA Programming Guide, "Device
// Graph Launch"; CUDA Runtime API, "Graph Management").
#include "gpu/machine/builtins/device_call.hpp"
#include "gpu/machine/builtins/device_runtime.hpp"

namespace inflight::machine::device_runtime {
namespace {

Code change(const Caller& c, const NodeUpdate& update) {
  return static_cast<Code>(c.runtime().update(update));
}

// (graph, stream)
Code launch_graph(const Caller& c) {
  return static_cast<Code>(
      c.runtime().launch_graph(c.argument<std::uint64_t>(0), c.argument<std::uint64_t>(1)));
}

constexpr std::uint64_t most_bytes = 32764;  // of a kernel's parameters

// False: the bytes cannot be read, or are too many.
bool read_value(const Caller& c, std::uint64_t from, std::uint64_t bytes, NodeUpdate& update) {
  if (bytes > most_bytes) return false;
  update.field = NodeUpdate::Field::parameters;
  update.bytes = bytes;
  update.value.resize(bytes);
  return read_generic(c.warp(), c.lane, from, update.value.data(),
                      static_cast<std::uint32_t>(bytes));
}

// (node, size_t offset, const void* value, size_t size)
Code set_parameters(const Caller& c) {
  NodeUpdate update;
  update.node = c.argument<std::uint64_t>(0);
  update.offset = c.argument<std::uint64_t>(1);
  if (!read_value(c, c.argument<std::uint64_t>(2), c.argument<std::uint64_t>(3), update))
    return invalid_value;
  return change(c, update);
}

// (node, bool, as 32 bits)
Code set_enabled(const Caller& c) {
  NodeUpdate update;
  update.node = c.argument<std::uint64_t>(0);
  update.field = NodeUpdate::Field::enabled;
  update.enabled = c.argument<std::uint32_t>(1) != 0;
  return change(c, update);
}

// (node, dim3)
Code set_grid(const Caller& c) {
  NodeUpdate update;
  update.node = c.argument<std::uint64_t>(0);
  update.grid = c.argument<Dim3>(1);
  return change(c, update);
}

// cudaGraphKernelNodeUpdate.
struct PackedUpdate {
  std::uint64_t node;
  std::int32_t field;
  union {
    std::uint32_t grid[3];
    struct {
      std::uint64_t value, offset, bytes;
    } parameters;
    std::uint32_t enabled;
  };
};
enum PackedField { grid_field = 1, parameters_field = 2, enabled_field = 3 };

// Without the value of parameters. False: there is no such field.
bool unpack(const PackedUpdate& packed, NodeUpdate& update) {
  update.node = packed.node;
  switch (packed.field) {
    case grid_field:
      update.grid = {packed.grid[0], packed.grid[1], packed.grid[2]};
      return true;
    case parameters_field:
      update.field = NodeUpdate::Field::parameters;
      update.offset = packed.parameters.offset;
      update.bytes = packed.parameters.bytes;
      return update.bytes <= most_bytes;
    case enabled_field:
      update.field = NodeUpdate::Field::enabled;
      update.enabled = packed.enabled != 0;
      return true;
    default:
      return false;
  }
}

// Calls each(packed, update) for the updates in memory, one after the other, until one fails.
template <class Each>
Code each_update(const Caller& c, Each each) {
  const auto from = c.argument<std::uint64_t>(0), count = c.argument<std::uint64_t>(1);
  for (std::uint64_t i = 0; i < count; ++i) {
    PackedUpdate packed;
    NodeUpdate update;
    if (c.grid().stop.load(std::memory_order_relaxed) ||
        !read_generic(c.warp(), c.lane, from + i * sizeof packed, &packed, sizeof packed) ||
        !unpack(packed, update))
      return invalid_value;
    if (const Code code = each(packed, update); code != success) return code;
  }
  return success;
}

// (const cudaGraphKernelNodeUpdate*, size_t count): changes all nodes, or none if one cannot be
// changed.
Code apply_updates(const Caller& c) {
  const Code possible = each_update(c, [&](const PackedUpdate& packed, const NodeUpdate& update) {
    std::byte last{};
    const std::uint64_t bytes = update.bytes;
    if (bytes != 0 &&
        !read_generic(c.warp(), c.lane, packed.parameters.value + bytes - 1, &last, sizeof last))
      return invalid_value;
    return static_cast<Code>(c.runtime().check(update));
  });
  if (possible != success) return possible;
  return each_update(c, [&](const PackedUpdate& packed, NodeUpdate& update) {
    if (update.field == NodeUpdate::Field::parameters &&
        !read_value(c, packed.parameters.value, update.bytes, update))
      return invalid_value;
    return change(c, update);
  });
}

constexpr Builtin graph_functions[] = {
    {"cudaGraphLaunch", {8, 8}, 4, run_call_of<launch_graph>},
    {"cudaGraphKernelNodeSetParam", {8, 8, 8, 8}, 4, run_call_of<set_parameters>},
    {"cudaGraphKernelNodeSetEnabled", {8, 4}, 4, run_call_of<set_enabled>},
    {"cudaGraphKernelNodeSetGridDim", {8, sizeof(Dim3)}, 4, run_call_of<set_grid>},
    {"cudaGraphKernelNodeUpdatesApply", {8, 8}, 4, run_call_of<apply_updates>},
};

}  // namespace

std::span<const Builtin> graphs() { return graph_functions; }

}  // namespace inflight::machine::device_runtime
