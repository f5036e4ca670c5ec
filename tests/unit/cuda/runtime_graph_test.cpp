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

TEST_F(RuntimeGraph, ConditionalNodesAreRefused) {
  abi::GraphNode node{};
  node.type = abi::node_conditional;
  void* place = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&place, graph, nullptr, nullptr, 0, &node), 801);
}

}  // namespace
}  // namespace inflight::cuda::testing
