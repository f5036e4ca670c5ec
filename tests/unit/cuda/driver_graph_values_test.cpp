// Graph nodes that write values to memory and wait for them: creation and updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using Handle = void*;
using Address = unsigned long long;

// CUstreamBatchMemOpParams, CUDA_BATCH_MEM_OP_NODE_PARAMS and CUgraphNodeParams.
struct Operation {
  int kind;
  unsigned fence_flags;
  Address memory;
  std::uint64_t value;
  unsigned flags;
  std::uint64_t rest[2];
};
struct ValueNode {
  Handle context;
  unsigned count;
  Operation* list;
  unsigned flags;
};
struct GraphNode {
  int type;
  int reserved[3];
  union {
    long long words[29];
    ValueNode values;
  };
  long long reserved_end;
};
struct UpdateResult {
  int change;
  Handle node, from;
};

constexpr int success = 0, invalid_value = 1, not_ready = 600, illegal_address = 700,
              not_supported = 801, update_failed = 910;
constexpr int wait_32 = 1, write_32 = 2, flush_writes = 3, wait_64 = 4, write_64 = 5, barrier = 6;
constexpr unsigned equal = 1, flush = 1u << 30;
constexpr int batch_type = 12, parameters_changed = 5;

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuDeviceGetAttribute(int*, int, int);
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemFree_v2(Address);
int cuMemsetD32_v2(Address, unsigned, std::size_t);
int cuMemcpyDtoH_v2(void*, Address, std::size_t);
int cuCtxSynchronize();
int cuStreamCreate(Handle*, unsigned);
int cuStreamQuery(Handle);
int cuStreamSynchronize(Handle);
int cuStreamBeginCapture_v2(Handle, int);
int cuStreamEndCapture(Handle, Handle*);
int cuStreamBatchMemOp_v2(Handle, unsigned, Operation*, unsigned);
int cuStreamWriteValue32_v2(Handle, Address, unsigned, unsigned);
int cuStreamWriteValue64_v2(Handle, Address, std::uint64_t, unsigned);
int cuStreamWaitValue32_v2(Handle, Address, unsigned, unsigned);
int cuGraphCreate(Handle*, unsigned);
int cuGraphGetNodes(Handle, Handle*, std::size_t*);
int cuGraphNodeGetType(Handle, int*);
int cuGraphAddChildGraphNode(Handle*, Handle, const Handle*, std::size_t, Handle);
int cuGraphAddEmptyNode(Handle*, Handle, const Handle*, std::size_t);
int cuGraphAddNode_v2(Handle*, Handle, const Handle*, const void*, std::size_t, GraphNode*);
int cuGraphNodeSetParams(Handle, GraphNode*);
int cuGraphAddBatchMemOpNode(Handle*, Handle, const Handle*, std::size_t, const ValueNode*);
int cuGraphBatchMemOpNodeGetParams(Handle, ValueNode*);
int cuGraphBatchMemOpNodeSetParams(Handle, const ValueNode*);
int cuGraphExecBatchMemOpNodeSetParams(Handle, Handle, const ValueNode*);
int cuGraphInstantiateWithFlags(Handle*, Handle, unsigned long long);
int cuGraphExecUpdate_v2(Handle, Handle, UpdateResult*);
int cuGraphLaunch(Handle, Handle);
}

namespace {

class DriverGraphValues : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context_), success);
    ASSERT_EQ(cuMemAlloc_v2(&memory_, 32), success);
    ASSERT_EQ(cuMemsetD32_v2(memory_, 0, 8), success);
    ASSERT_EQ(cuCtxSynchronize(), success);
    ASSERT_EQ(cuGraphCreate(&graph_, 0), success);
    ASSERT_EQ(cuStreamCreate(&stream_, 1), success);
    ASSERT_EQ(cuStreamCreate(&other_, 1), success);
  }
  ValueNode node(std::vector<Operation>& list) {
    return {context_, unsigned(list.size()), list.data(), 0};
  }
  Handle instance() {
    Handle exec = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph_, 0), success);
    return exec;
  }
  void run(Handle exec) {
    ASSERT_EQ(cuGraphLaunch(exec, stream_), success);
    ASSERT_EQ(cuStreamSynchronize(stream_), success);
  }
  std::uint64_t word(int index) {
    std::uint64_t value = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&value, memory_ + 8 * unsigned(index), 8), success);
    return value;
  }
  Handle context_ = nullptr, graph_ = nullptr, stream_ = nullptr, other_ = nullptr;
  Address memory_ = 0;
};

TEST_F(DriverGraphValues, ANodeCopiesItsListAndGivesItBack) {
  std::vector<Operation> list{{write_32, 0, memory_, 7, 0, {}}, {barrier, 0, 0, 0, 0, {}}};
  list.push_back({wait_32, 0, memory_, 7, equal, {}});
  list.push_back({write_64, 0, memory_ + 8, 1ull << 40, 0, {}});
  ValueNode given = node(list), got{};
  Handle made = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), success);
  list.assign(list.size(), {});
  int type = -1;
  ASSERT_EQ(cuGraphNodeGetType(made, &type), success);
  EXPECT_EQ(type, batch_type);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(made, &got), success);
  EXPECT_EQ(got.context, context_);
  EXPECT_EQ(got.flags, 0u);
  ASSERT_EQ(got.count, 4u);
  EXPECT_EQ(got.list[3].value, 1ull << 40);
  run(instance());
  EXPECT_EQ(word(0), 7u);
  EXPECT_EQ(word(1), 1ull << 40);
}

TEST_F(DriverGraphValues, ALaunchWaitsForAnotherStreamsValue) {
  std::vector<Operation> waits{{wait_64, 0, memory_, 5, 0, {}}};
  std::vector<Operation> writes{{write_32, 0, memory_ + 8, 9, 0, {}}};
  ValueNode given = node(waits);
  Handle first = nullptr, second = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&first, graph_, nullptr, 0, &given), success);
  GraphNode any{};
  any.type = batch_type;
  any.values = node(writes);
  ASSERT_EQ(cuGraphAddNode_v2(&second, graph_, &first, nullptr, 1, &any), success);
  ASSERT_EQ(cuGraphLaunch(instance(), stream_), success);
  ASSERT_EQ(cuStreamWriteValue64_v2(other_, memory_, 4, 0), success);
  ASSERT_EQ(cuStreamSynchronize(other_), success);
  EXPECT_EQ(cuStreamQuery(stream_), not_ready);
  ASSERT_EQ(cuStreamWriteValue64_v2(other_, memory_, 6, 0), success);
  ASSERT_EQ(cuStreamSynchronize(stream_), success);
  EXPECT_EQ(word(1), 9u);
}

TEST_F(DriverGraphValues, ABranchWaitsForAnothersValue) {
  std::vector<Operation> waits{{wait_32, 0, memory_, 2, equal, {}}};
  std::vector<Operation> one{{write_32, 0, memory_, 1, 0, {}}},
      two{{write_32, 0, memory_, 2, 0, {}}};
  ValueNode waiting = node(waits), first = node(one), second = node(two);
  Handle made = nullptr, before = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &waiting), success);
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&before, graph_, nullptr, 0, &first), success);
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, &before, 1, &second), success);
  run(instance());
  EXPECT_EQ(word(0), 2u);
}

// Each branch waits for a value that the other writes after its own wait. One of these is in the
// middle of a node.
TEST_F(DriverGraphValues, BranchesAnswerOneAnother) {
  std::vector<Operation> asks{{write_32, 0, memory_, 1, 0, {}},
                              {wait_32, 0, memory_ + 8, 1, equal, {}}};
  std::vector<Operation> ends{{write_32, 0, memory_ + 16, 1, 0, {}}};
  std::vector<Operation> hears{{wait_32, 0, memory_, 1, equal, {}}};
  std::vector<Operation> answers{{write_32, 0, memory_ + 8, 1, 0, {}}};
  const ValueNode asking = node(asks), ending = node(ends), hearing = node(hears),
                  answering = node(answers);
  for (const bool children : {false, true}) {
    ASSERT_EQ(cuMemsetD32_v2(memory_, 0, 8), success);
    ASSERT_EQ(cuCtxSynchronize(), success);
    Handle whole = nullptr, one = nullptr, other = nullptr, made = nullptr, last = nullptr;
    ASSERT_EQ(cuGraphCreate(&whole, 0), success);
    ASSERT_EQ(cuGraphCreate(&one, 0), success);
    ASSERT_EQ(cuGraphCreate(&other, 0), success);
    const Handle first = children ? one : whole, second = children ? other : whole;
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, first, nullptr, 0, &asking), success);
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&last, first, &made, 1, &ending), success);
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, second, nullptr, 0, &hearing), success);
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&last, second, &made, 1, &answering), success);
    if (children) {
      ASSERT_EQ(cuGraphAddChildGraphNode(&made, whole, nullptr, 0, one), success);
      ASSERT_EQ(cuGraphAddChildGraphNode(&made, whole, nullptr, 0, other), success);
    }
    graph_ = whole;
    run(instance());
    for (const int each : {0, 1, 2}) EXPECT_EQ(word(each), 1u) << "children " << children;
  }
}

TEST_F(DriverGraphValues, ParametersChangeInTheGraphAndInWhatWasMadeOfIt) {
  std::vector<Operation> list{{write_32, 0, memory_, 1, 0, {}},
                              {write_32, 0, memory_ + 8, 1, 0, {}}};
  ValueNode given = node(list), got{};
  Handle made = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), success);
  Handle exec = instance();
  list[0].value = 2, list[1].memory = memory_ + 16;
  ASSERT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, made, &given), success);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(made, &got), success);
  EXPECT_EQ(got.list[0].value, 1u);  // the graph's own node stays
  run(exec);
  EXPECT_EQ(word(0), 2u);
  EXPECT_EQ(word(1), 0u);
  EXPECT_EQ(word(2), 1u);
  list.pop_back();
  given = node(list);
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, made, &given), invalid_value);
  ASSERT_EQ(cuGraphBatchMemOpNodeSetParams(made, &given), success);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(made, &got), success);
  EXPECT_EQ(got.count, 1u);
  GraphNode any{};
  any.type = batch_type;
  any.values = given;
  list[0].value = 8;
  ASSERT_EQ(cuGraphNodeSetParams(made, &any), success);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(made, &got), success);
  EXPECT_EQ(got.list[0].value, 8u);
  UpdateResult result{};
  EXPECT_EQ(cuGraphExecUpdate_v2(exec, graph_, &result), update_failed);
  EXPECT_EQ(result.change, parameters_changed);
}

TEST_F(DriverGraphValues, AnInstanceKeepsTheKindsOfItsOperations) {
  std::vector<Operation> list{{wait_32, 0, memory_, 0, equal, {}}};
  ValueNode given = node(list);
  Handle made = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), success);
  Handle exec = instance();
  list[0].flags = 0;  // another comparison
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, made, &given), success);
  list[0].flags = flush;
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, made, &given), not_supported);
  list[0].flags = 0, list[0].kind = write_32;
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, made, &given), invalid_value);
}

TEST_F(DriverGraphValues, WhatCannotBeDoneIsRefusedWhenItIsGiven) {
  std::vector<Operation> list{{write_32, 0, memory_, 1, 0, {}}};
  ValueNode given = node(list);
  Handle made = nullptr, empty = nullptr;
  ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0), success);
  EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, nullptr), invalid_value);
  EXPECT_EQ(cuGraphBatchMemOpNodeGetParams(empty, &given), invalid_value);
  EXPECT_EQ(cuGraphBatchMemOpNodeSetParams(empty, &given), invalid_value);
  for (const Operation& wrong :
       {Operation{write_32, 0, memory_ + 2, 1, 0, {}},
        Operation{write_64, 0, memory_ + 4, 1, 0, {}}, Operation{wait_32, 0, memory_, 1, 4, {}},
        Operation{write_32, 0, memory_, 1, 2, {}}, Operation{9, 0, memory_, 1, 0, {}},
        Operation{barrier, 2, 0, 0, 0, {}}}) {
    list[0] = wrong;
    EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), invalid_value)
        << wrong.kind << " " << wrong.memory - memory_ << " " << wrong.flags;
  }
  list[0] = {write_32, 0, memory_, 1, 0, {}};
  given.context = nullptr;
  EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), invalid_value);
  list.assign(256, {barrier, 0, 0, 0, 0, {}});
  given = node(list);
  EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), invalid_value);
  given.count = 255, given.flags = 1;
  EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), invalid_value);
  given.flags = 0;
  EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), success);
}

// CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES.
TEST_F(DriverGraphValues, NobodyFlushesRemoteWrites) {
  int can = -1;
  ASSERT_EQ(cuDeviceGetAttribute(&can, 98, 0), success);
  EXPECT_EQ(can, 0);
  for (const Operation& each : {Operation{flush_writes, 0, 0, 0, 0, {}},
                                Operation{wait_32, 0, memory_, 1, equal | flush, {}}}) {
    std::vector<Operation> list{each};
    ValueNode given = node(list);
    Handle made = nullptr;
    EXPECT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), not_supported);
    EXPECT_EQ(cuStreamBatchMemOp_v2(stream_, 1, list.data(), 0), not_supported);
  }
}

TEST_F(DriverGraphValues, ANodeMayHaveNoOperations) {
  ValueNode given{context_, 0, nullptr, 0}, got{};
  Handle made = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), success);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(made, &got), success);
  EXPECT_EQ(got.count, 0u);
  run(instance());
}

// A node may name an address before memory exists there. A stream's operation may not.
TEST_F(DriverGraphValues, ANodesMemoryIsLookedForWhenItRuns) {
  Address last = 0;
  ASSERT_EQ(cuMemAlloc_v2(&last, 32), success);
  ASSERT_EQ(cuMemFree_v2(last), success);
  std::vector<Operation> list{{write_32, 0, memory_, 1, 0, {}}, {write_32, 0, last, 1, 0, {}}};
  EXPECT_EQ(cuStreamBatchMemOp_v2(stream_, 2, list.data(), 0), invalid_value);
  ValueNode given = node(list);
  Handle made = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&made, graph_, nullptr, 0, &given), success);
  Handle exec = instance();
  testing::internal::CaptureStderr();
  ASSERT_EQ(cuGraphLaunch(exec, stream_), success);
  EXPECT_EQ(cuStreamSynchronize(stream_), illegal_address);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("A write of a value writes to 0x"));
}

TEST_F(DriverGraphValues, ACaptureMakesANodeOfABatch) {
  std::vector<Operation> list{{write_32, 0, memory_ + 8, 3, 0, {}},
                              {write_32, 0, memory_ + 16, 4, 0, {}}};
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), success);
  ASSERT_EQ(cuStreamWriteValue32_v2(stream_, memory_, 2, 0), success);
  ASSERT_EQ(cuStreamBatchMemOp_v2(stream_, 2, list.data(), 0), success);
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, memory_ + 16, 4, equal), success);
  ASSERT_EQ(cuStreamEndCapture(stream_, &graph_), success);
  EXPECT_EQ(word(0), 0u);  // nothing was done
  Handle nodes[4] = {};
  std::size_t count = 4;
  ASSERT_EQ(cuGraphGetNodes(graph_, nodes, &count), success);
  ASSERT_EQ(count, 3u);
  ValueNode got{};
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(nodes[1], &got), success);
  EXPECT_EQ(got.count, 2u);
  run(instance());
  EXPECT_EQ(word(0), 2u);
  EXPECT_EQ(word(1), 3u);
  EXPECT_EQ(word(2), 4u);
}

}  // namespace
