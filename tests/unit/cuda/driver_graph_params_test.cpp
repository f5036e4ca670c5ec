// cuGraphNodeGetParams, which drivers have since CUDA 13.2.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>

namespace {

using Handle = void*;
using Address = unsigned long long;

// CUgraphNodeParams and its parts.
struct Side {
  std::size_t x, y, z, level;
  int type;
  const void* host;
  Address device;
  Handle array, reserved;
  std::size_t pitch, height;
};
struct Box {
  Side from, to;
  std::size_t width, height, depth;
};
struct Copy {
  int flags, reserved;
  Handle context;
  Box box;
};
struct Fill {
  Address to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
  Handle context;
};
struct Host {
  void (*function)(void*);
  void* data;
};
struct Conditional {
  unsigned long long handle;
  int kind;
  unsigned size;
  Handle* bodies;
  Handle context;
};
struct Node {
  int type;
  int reserved[3];
  union {
    long long words[29];
    Copy copy;
    Fill fill;
    Host host;
    Handle graph, event;
    Conditional conditional;
  };
  long long reserved_end;
};
static_assert(sizeof(Node) == 256);

constexpr int success = 0, invalid_value = 1;
constexpr int copy_type = 1, fill_type = 2, host_type = 3, graph_type = 4, empty_type = 5,
              record_type = 7, conditional_type = 13;
constexpr int on_host = 1, on_device = 2;

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDriverGetVersion(int*);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuMemAlloc_v2(Address*, std::size_t);
int cuEventCreate(Handle*, unsigned);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuGraphCreate(Handle*, unsigned);
int cuGraphDestroy(Handle);
int cuGraphClone(Handle*, Handle);
int cuGraphGetNodes(Handle, Handle*, std::size_t*);
int cuGraphAddNode_v2(Handle*, Handle, const Handle*, const void*, std::size_t, Node*);
int cuGraphConditionalHandleCreate(unsigned long long*, Handle, Handle, unsigned, unsigned);
int cuGraphNodeGetParams(Handle, Node*);
}

namespace {

Node of(int type) {
  Node node{};
  node.type = type;
  return node;
}

class GraphParameters : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context), success);
    ASSERT_EQ(cuGraphCreate(&graph, 0), success);
  }
  // The parameters of a new node.
  Node added(Node node) {
    Handle handle = nullptr;
    EXPECT_EQ(cuGraphAddNode_v2(&handle, graph, nullptr, nullptr, 0, &node), success);
    Node found;
    EXPECT_EQ(cuGraphNodeGetParams(handle, &found), success);
    EXPECT_EQ(found.type, node.type);
    return found;
  }
  Handle context{}, graph{};
};

TEST_F(GraphParameters, AreThoseOfEachKind) {
  Address memory = 0;
  Handle event = nullptr, child = nullptr;
  ASSERT_EQ(cuMemAlloc_v2(&memory, 64), success);
  ASSERT_EQ(cuEventCreate(&event, 0), success);
  ASSERT_EQ(cuGraphCreate(&child, 0), success);
  char bytes[64];

  Node copy = of(copy_type);
  copy.copy = {0, 0, context, {}};
  copy.copy.box.from.type = on_host, copy.copy.box.from.host = bytes;
  copy.copy.box.to.type = on_device, copy.copy.box.to.device = memory;
  copy.copy.box.to.x = 4;
  copy.copy.box.width = 8, copy.copy.box.height = copy.copy.box.depth = 1;
  const Copy copied = added(copy).copy;
  EXPECT_EQ(copied.box.from.type, on_host);
  EXPECT_EQ(copied.box.from.host, bytes);
  EXPECT_EQ(copied.box.to.device, memory);
  EXPECT_EQ(copied.box.to.x, 4u);
  EXPECT_EQ(copied.box.to.pitch, 0u);
  EXPECT_EQ(copied.context, context);

  Node fill = of(fill_type);
  fill.fill = {memory, 0, 7, 1, 64, 1, context};
  const Fill filled = added(fill).fill;
  EXPECT_EQ(filled.to, memory);
  EXPECT_EQ(filled.value, 7u);
  EXPECT_EQ(filled.width, 64u);
  EXPECT_EQ(filled.context, context);

  Node host = of(host_type);
  host.host = {[](void*) {}, bytes};
  EXPECT_EQ(added(host).host.function, host.host.function);
  Node inner = of(graph_type);
  inner.graph = child;
  const Node embedded = added(inner);
  EXPECT_NE(embedded.graph, child);
  EXPECT_EQ(cuGraphDestroy(embedded.graph), invalid_value) << "the node's own";
  Node record = of(record_type);
  record.event = event;
  EXPECT_EQ(added(record).event, event);
  added(of(empty_type));
}

TEST_F(GraphParameters, NameTheBodiesOfAClonedCondition) {
  Node condition = of(conditional_type);
  condition.conditional = {0, 0, 2, nullptr, context};
  ASSERT_EQ(cuGraphConditionalHandleCreate(&condition.conditional.handle, graph, context, 0, 0),
            success);
  Handle node = nullptr, clone = nullptr, cloned = nullptr;
  ASSERT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &condition), success);
  Node found;
  ASSERT_EQ(cuGraphNodeGetParams(node, &found), success);
  EXPECT_EQ(found.conditional.handle, condition.conditional.handle);
  EXPECT_EQ(found.conditional.size, 2u);
  EXPECT_EQ(found.conditional.bodies, condition.conditional.bodies);
  ASSERT_EQ(cuGraphClone(&clone, graph), success);
  std::size_t count = 1;
  ASSERT_EQ(cuGraphGetNodes(clone, &cloned, &count), success);
  ASSERT_EQ(cuGraphNodeGetParams(cloned, &found), success);
  ASSERT_NE(found.conditional.bodies, nullptr);
  EXPECT_NE(found.conditional.bodies[1], condition.conditional.bodies[1]);
  EXPECT_EQ(cuGraphGetNodes(found.conditional.bodies[1], nullptr, &count), success);
}

TEST_F(GraphParameters, NeedANodeAndAPlace) {
  Node found;
  EXPECT_EQ(cuGraphNodeGetParams(nullptr, &found), invalid_value);
  EXPECT_EQ(cuGraphNodeGetParams(graph, &found), invalid_value);
}

// Set before the process's first call reads it. Each test has its own process.
TEST(NewerDriver, FindsFunctionsOfItsVersion) {
  setenv("INFLIGHT_DRIVER", "13.4", 1);
  int version = 0, query = -1;
  ASSERT_EQ(cuDriverGetVersion(&version), success);
  if (version != 13040) GTEST_SKIP() << "another test of this process chose the version";
  void* address = nullptr;
  EXPECT_EQ(cuGetProcAddress_v2("cuGraphNodeGetParams", &address, 13020, 0, &query), success);
  EXPECT_EQ(query, 0);
  EXPECT_EQ(address, reinterpret_cast<void*>(cuGraphNodeGetParams));
  EXPECT_EQ(cuGetProcAddress_v2("cuGraphNodeGetParams", &address, 13010, 0, &query), success);
  EXPECT_EQ(query, 2) << "the program asks for an older one";
}

TEST(OlderDriver, LacksThem) {
  int query = -1;
  void* address = &query;
  EXPECT_EQ(cuGetProcAddress_v2("cuGraphNodeGetParams", &address, 13020, 0, &query), success);
  EXPECT_EQ(query, 1);
  EXPECT_EQ(address, nullptr);
}

}  // namespace
