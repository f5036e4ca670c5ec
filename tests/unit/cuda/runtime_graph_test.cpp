// Graphs through the runtime: captured from streams and built by hand.
#include <gmock/gmock.h>

#include <vector>

#include "tests/unit/cuda/runtime_calls.hpp"

namespace inflight::cuda::testing {
namespace {

class RuntimeGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream), 0);
    ASSERT_EQ(cudaMalloc(&numbers, 400), 0);
    ASSERT_EQ(cudaMemset(numbers, 0, 400), 0);
    ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
    ASSERT_NE(kernel("add"), nullptr);
  }
  abi::KernelNode add_node(unsigned& value) {
    arguments = {&numbers, &count, &value};
    return {kernel("add"), {1, 1, 1}, {128, 1, 1}, 0, arguments.data(), nullptr};
  }
  unsigned first() {
    unsigned value = 0;
    EXPECT_EQ(cudaMemcpy(&value, numbers, 4, 2), 0);
    return value;
  }
  void run(void* exec) {
    EXPECT_EQ(cudaGraphLaunch(exec, stream), 0);
    EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  }
  void *stream = nullptr, *numbers = nullptr, *graph = nullptr;
  unsigned count = 100;
  std::vector<void*> arguments;
};

TEST_F(RuntimeGraph, CapturedWorkRunsAtEachLaunch) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  EXPECT_EQ(cudaMemsetAsync(numbers, 0, 400, stream), 0);
  EXPECT_EQ(launch_add(numbers, count, 4, stream), 0);
  EXPECT_EQ(launch_add(numbers, count, 5, stream), 0);
  void *captured = nullptr, *exec = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), 0);
  EXPECT_EQ(first(), 0u);
  ASSERT_EQ(cudaGraphInstantiate(&exec, captured, 0), 0);
  EXPECT_EQ(cudaGraphDestroy(captured), 0);
  for (int i = 0; i < 3; ++i) run(exec);
  EXPECT_EQ(first(), 9u);
  EXPECT_EQ(cudaGraphExecDestroy(exec), 0);
}

TEST_F(RuntimeGraph, HandBuiltNodesRunInOrder) {
  static unsigned seen;
  seen = 0;
  unsigned value = 6, result = 0;
  void *fill = nullptr, *add = nullptr, *copy = nullptr, *host = nullptr, *exec = nullptr;
  abi::FillNode fill_parameters{numbers, 0, 0x01010101, 4, 100, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_parameters), 0);
  abi::KernelNode kernel_parameters = add_node(value);
  ASSERT_EQ(cudaGraphAddKernelNode(&add, graph, &fill, 1, &kernel_parameters), 0);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &add, 1, &result, numbers, 4, 2), 0);
  abi::HostNode host_parameters{[](void* data) { seen = *static_cast<unsigned*>(data); }, &result};
  ASSERT_EQ(cudaGraphAddHostNode(&host, graph, &copy, 1, &host_parameters), 0);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
  run(exec);
  EXPECT_EQ(seen, 0x01010107u);

  abi::KernelNode read{};
  EXPECT_EQ(cudaGraphKernelNodeGetParams(add, &read), 0);
  EXPECT_EQ(read.function, kernel("add"));
  EXPECT_EQ(*static_cast<unsigned*>(read.arguments[2]), 6u);
  value = 8;
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, add, &kernel_parameters), 0);
  run(exec);
  EXPECT_EQ(seen, 0x01010109u);
}

TEST_F(RuntimeGraph, AnswersNodesAsAnH200) {
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  void *p = nullptr, *captured = nullptr;
  EXPECT_EQ(cudaMallocAsync(&p, 100, stream), 0);
  EXPECT_EQ(cudaMemsetAsync(p, 1, 100, stream), 0);
  EXPECT_EQ(cudaFreeAsync(p, stream), 0);
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void*) {}, nullptr),
            0);
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), 0);
  void* nodes[9];
  std::size_t nodes_count = 9;
  EXPECT_EQ(cudaGraphGetNodes(captured, nodes, &nodes_count), 0);
  ASSERT_EQ(nodes_count, 4u);
  std::vector<int> types;
  for (std::size_t i = 0; i < nodes_count; ++i) {
    int type = -1;
    EXPECT_EQ(cudaGraphNodeGetType(nodes[i], &type), 0);
    types.push_back(type);
  }
  EXPECT_THAT(types, ::testing::ElementsAre(10, 2, 11, 3));
  int no_node = 0, type = 0;
  EXPECT_EQ(cudaGraphNodeGetType(&no_node, &type), 1);
  EXPECT_EQ(cudaGraphLaunch(nullptr, stream), 1);
  EXPECT_EQ(cudaGraphCreate(&captured, 1), 1);
}

// Programmatic edges (CUDA guide, "Programmatic Dependent Launch: Use in CUDA Graphs") are kept and
// reported. Nothing overlaps.
TEST_F(RuntimeGraph, CaptureKeepsProgrammaticLaunches) {
  abi::LaunchAttribute attribute{};
  attribute.id = abi::launch_programmatic_serialization;
  attribute.value.integer = 1;
  unsigned value = 3;
  arguments = {&numbers, &count, &value};
  const abi::LaunchConfig config{{1, 1, 1}, {128, 1, 1}, 0, stream, &attribute, 1};
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  EXPECT_EQ(cudaMemsetAsync(numbers, 0, 400, stream), 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(cudaLaunchKernelExC(&config, kernel("add"), arguments.data()), 0);
  EXPECT_EQ(launch_add(numbers, count, 5, stream), 0);
  void *captured = nullptr, *twin = nullptr, *exec = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), 0);
  ASSERT_EQ(cudaGraphClone(&twin, captured), 0);

  void *from[9], *to[9];
  abi::EdgeData data[9];
  std::size_t edges = 9;
  constexpr int lossy_query = 402;
  EXPECT_EQ(cudaGraphGetEdges(captured, from, to, nullptr, &edges), lossy_query);
  for (void* each : {captured, twin}) {
    edges = 9;
    ASSERT_EQ(cudaGraphGetEdges(each, from, to, data, &edges), 0);
    ASSERT_EQ(edges, 4u);
    // The first follows a memset, and the last has no programmatic attribute.
    for (int i = 0; i < 4; ++i) EXPECT_EQ(data[i].type, i == 1 || i == 2) << i;
    EXPECT_EQ(data[1].from_port, 1);
    EXPECT_EQ(data[1].to_port, 0);
  }
  ASSERT_EQ(cudaGraphInstantiate(&exec, captured, 0), 0);
  run(exec);
  EXPECT_EQ(first(), 14u);
}

// As an H100.
TEST_F(RuntimeGraph, NodesHaveSomeAttributesOfLaunches) {
  unsigned value = 2;
  const abi::KernelNode parameters = add_node(value);
  void *node = nullptr, *other = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), 0);
  ASSERT_EQ(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &parameters), 0);
  constexpr int invalid_value = 1;
  abi::LaunchAttribute::Value any{};
  any.integer = 1;
  for (int id : {-1, int(abi::launch_ignore), int(abi::launch_synchronization_policy),
                 int(abi::launch_programmatic_serialization), int(abi::launch_programmatic_event),
                 int(abi::launch_preferred_cluster), int(abi::launch_completion_event), 15, 17}) {
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(node, id, &any), invalid_value) << id;
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, id, &any), invalid_value) << id;
  }
  for (int id : {int(abi::launch_cooperative), int(abi::launch_priority)}) {
    any.integer = 1;
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, id, &any), 0) << id;
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(other, id, &any), 0) << id;
    EXPECT_EQ(any.integer, 0) << id;
  }
  EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(other, node), 0);
  for (int id : {int(abi::launch_cooperative), int(abi::launch_priority)}) {
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(other, id, &any), 0) << id;
    EXPECT_EQ(any.integer, 1) << id;
  }
}

TEST_F(RuntimeGraph, EdgesKeepTheirData) {
  unsigned value = 2;
  const abi::KernelNode parameters = add_node(value);
  void *a = nullptr, *b = nullptr, *fill = nullptr, *exec = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &parameters), 0);
  abi::GraphNode any{};
  any.kernel = parameters;
  abi::EdgeData programmatic{1, 0, 1, {}}, at_start{2, 0, 1, {}};
  ASSERT_EQ(cudaGraphAddNode(&b, graph, &a, &programmatic, 1, &any), 0);
  void *before = nullptr, *after = nullptr;
  abi::EdgeData told{};
  std::size_t one = 1;
  EXPECT_EQ(cudaGraphNodeGetDependencies(b, &before, &told, &one), 0);
  EXPECT_EQ(before, a);
  EXPECT_EQ(told.type, 1);
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(a, &after, &told, &one), 0);
  EXPECT_EQ(after, b);
  EXPECT_EQ(told.from_port, 1);

  // Edge data identifies an edge. To change them, the edge must be removed and added.
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &a, &b, nullptr, 1), 1);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &a, &b, &at_start, 1), 1);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &a, &b, &programmatic, 1), 0);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &a, &b, &at_start, 1), 0);

  // Only kernels have ports, and no edge ends at one.
  abi::FillNode fill_parameters{numbers, 0, 0, 4, 100, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_parameters), 0);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &fill, &a, &programmatic, 1), 1);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &a, &fill, &programmatic, 1), 1);
  const abi::EdgeData to_port{0, 1, 0, {}}, reserved{0, 0, 0, {1}}, no_port{3, 0, 1, {}};
  for (const abi::EdgeData& data : {to_port, reserved, no_port})
    EXPECT_EQ(cudaGraphAddDependencies(graph, &fill, &a, &data, 1), 1);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &fill, &a, nullptr, 1), 0);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
  run(exec);
  EXPECT_EQ(first(), 4u);
}

TEST_F(RuntimeGraph, MemoryOfAGraphIsUsableInsideIt) {
  abi::AllocateNode made{};
  made.pool.allocation_type = 1;
  made.pool.location = {abi::location_device, 0};
  made.bytes = 400;
  void *allocate = nullptr, *fill = nullptr, *copy = nullptr, *freed = nullptr, *exec = nullptr;
  unsigned char bytes[4] = {};
  ASSERT_EQ(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &made), 0);
  ASSERT_NE(made.pointer, nullptr);
  abi::FillNode fill_parameters{made.pointer, 0, 0x5a, 1, 400, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &fill_parameters), 0);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, bytes, made.pointer, 4, 2), 0);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&freed, graph, &copy, 1, made.pointer), 0);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
  run(exec);
  run(exec);
  EXPECT_EQ(bytes[3], 0x5a);
}

TEST_F(RuntimeGraph, UserObjectsLiveAsLongAsAGraphHoldsThem) {
  int destroyed = 0;
  void *object = nullptr, *clone = nullptr;
  auto destroy = [](void* data) { ++*static_cast<int*>(data); };
  EXPECT_EQ(cudaUserObjectCreate(&object, &destroyed, destroy, 1, 0), 1);
  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, destroy, 1, 1), 0);
  EXPECT_EQ(cudaGraphRetainUserObject(graph, object, 2, 0), 0);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), 0);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 1), 0);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 2), 1);
  EXPECT_EQ(cudaGraphClone(&clone, graph), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cudaGraphDestroy(clone), 0);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(RuntimeGraph, EventsOfACaptureDoNotKeepItsGraph) {
  int destroyed = 0;
  void *event = nullptr, *captured = nullptr, *object = nullptr;
  auto destroy = [](void* data) { ++*static_cast<int*>(data); };
  ASSERT_EQ(cudaEventCreateWithFlags(&event, 2), 0);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(cudaEventRecord(event, stream), 0);
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), 0);
  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, destroy, 1, 1), 0);
  ASSERT_EQ(cudaGraphRetainUserObject(captured, object, 1, 1), 0);
  EXPECT_EQ(cudaGraphDestroy(captured), 0);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cudaEventDestroy(event), 0);
}

TEST_F(RuntimeGraph, ConditionalNodesHaveAsManyBodiesAsTheyAskFor) {
  std::uint64_t handle = 0;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), 0);
  abi::GraphNode node{};
  node.type = abi::node_conditional;
  void* place = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&place, graph, nullptr, nullptr, 0, &node), 1) << "no handle";
  node.conditional = {handle, 2, 3, nullptr};
  ASSERT_EQ(cudaGraphAddNode(&place, graph, nullptr, nullptr, 0, &node), 0);
  ASSERT_NE(node.conditional.bodies, nullptr);
  EXPECT_NE(node.conditional.bodies[0], node.conditional.bodies[2]);
  int type = 0;
  EXPECT_EQ(cudaGraphNodeGetType(place, &type), 0);
  EXPECT_EQ(type, abi::node_conditional);
  EXPECT_EQ(cudaGraphDestroy(node.conditional.bodies[0]), 1) << "the node's own";
}

TEST_F(RuntimeGraph, GraphsThatDoubleAreRefusedBeforeTheHostIsFull) {
  constexpr int out_of_memory = 2;
  void *inner = graph, *place = nullptr;
  abi::GraphNode node{};
  node.type = abi::node_empty;
  ASSERT_EQ(cudaGraphAddNode(&place, inner, nullptr, nullptr, 0, &node), 0);
  int code = 0;
  std::vector<void*> graphs;
  for (unsigned level = 0; level < 40 && code == 0; ++level) {
    graphs.push_back(inner);
    void* outer = nullptr;
    ASSERT_EQ(cudaGraphCreate(&outer, 0), 0);
    for (int i = 0; i < 8 && code == 0; ++i) {
      node = {};
      node.type = abi::node_graph;
      node.graph = inner;
      code = cudaGraphAddNode(&place, outer, nullptr, nullptr, 0, &node);
    }
    inner = outer;
  }
  EXPECT_EQ(code, out_of_memory);
  EXPECT_EQ(cudaGraphDestroy(inner), 0);
  for (std::size_t i = 1; i < graphs.size(); ++i) EXPECT_EQ(cudaGraphDestroy(graphs[i]), 0);
}

TEST_F(RuntimeGraph, ConditionalNodesOfMoreBodiesThanTheHostHasRoomForAreRefused) {
  constexpr int switch_kind = 2, out_of_memory = 2;
  std::uint64_t handle = 0;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), 0);
  abi::GraphNode node{};
  node.type = abi::node_conditional;
  node.conditional = {handle, switch_kind, ~0u, nullptr};
  void* place = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&place, graph, nullptr, nullptr, 0, &node), out_of_memory);
  node.conditional.size = 1000;
  EXPECT_EQ(cudaGraphAddNode(&place, graph, nullptr, nullptr, 0, &node), 0);
}

}  // namespace
}  // namespace inflight::cuda::testing
