// Driver calls without a current context. Those that name an object run in its context. Those that
// create one or use a default stream return an error. None makes a context current.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

extern "C" int cuInit(unsigned);

namespace {

using Handle = void*;
using Address = unsigned long long;
using Z = std::size_t;
constexpr int ok = 0, no_context = 201;

// Calls an entry point by name with arguments of exactly its parameters' types.
template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  void* found = dlsym(RTLD_DEFAULT, name);
  EXPECT_NE(found, nullptr) << name;
  if (!found) return -1;
  return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
}

struct Row {
  const char* name;
  int expected;
  std::function<int()> run;
};
#define ROW(expected, name, ...)                                            \
  Row {                                                                     \
#    name, expected, [&] { return call(#name __VA_OPT__(, ) __VA_ARGS__); } \
  }

struct Location {
  int type, id;
};
struct CopyAttributes {
  int order;
  Location from, to;
  unsigned flags;
};
struct Operand {
  int type;
  Address pointer;
  Z row, layer;
  Location hint;
};
struct Box {
  Operand from, to;
  Z width, height, depth;
  int order;
  unsigned flags;
};
struct FillNode {
  Address to;
  Z pitch;
  unsigned value, element;
  Z width, height;
};
struct HostNode {
  void (*function)(void*);
  void* data;
};
struct KernelNode {
  Handle function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra;
  Handle kernel, context;
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  Handle stream;
  void* attributes;
  unsigned count;
};
struct PoolProperties {
  int allocation, handles;
  Location location;
  void* security;
  Z most;
  unsigned char rest[56];
};
static_assert(sizeof(Box) == 2 * sizeof(Operand) + 32 && sizeof(PoolProperties) == 88);

constexpr const char* text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .u32 variable;
.visible .entry k() { ret; }
)";

void nothing(void*) {}
void no_callback(Handle, int, void*) {}

class NoContext : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), ok);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), ok);
    ASSERT_EQ(call("cuCtxSetCurrent", context), ok);
    ASSERT_EQ(call("cuStreamCreate", &stream, 1u), ok);
    for (Handle* each : {&event, &later}) ASSERT_EQ(call("cuEventCreate", each, 0u), ok);
    for (Address* each : {&to, &from}) ASSERT_EQ(call("cuMemAlloc_v2", each, Z{4096}), ok);
    ASSERT_EQ(call("cuMemAllocManaged", &managed, Z{4096}, 1u), ok);
    ASSERT_EQ(call("cuMemHostAlloc", &pinned, Z{4096}, 0u), ok);
    ASSERT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(own.data()), own.size(), 0u), ok);
    ASSERT_EQ(call("cuDeviceGetDefaultMemPool", &pool, 0), ok);
    ASSERT_EQ(call("cuModuleLoadData", &module, text), ok);
    ASSERT_EQ(call("cuModuleGetFunction", &function, module, "k"), ok);
    ASSERT_EQ(call("cuLibraryLoadData", &library, text, nullptr, nullptr, 0u, nullptr, nullptr, 0u),
              ok);
    ASSERT_EQ(call("cuLibraryGetKernel", &kernel, library, "k"), ok);
    ASSERT_EQ(call("cuLinkCreate_v2", 0u, nullptr, nullptr, &link), ok);
  }

  void play(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      ASSERT_EQ(call("cuCtxSetCurrent", Handle{}), ok);
      EXPECT_EQ(row.run(), row.expected) << row.name;
      Handle current = nullptr;
      ASSERT_EQ(call("cuCtxGetCurrent", &current), ok);
      EXPECT_EQ(current, nullptr) << row.name << " left a context current";
    }
  }

  Handle context{}, stream{}, event{}, later{}, pool{}, module{}, function{}, library{}, kernel{},
      link{}, other{}, graph{}, node{}, exec{};
  Address to{}, from{}, managed{}, made{};
  void* pinned{};
  std::array<char, 4096> own{};
  char bytes[256]{};
  int number{};
  unsigned word{};
  Z size{}, size2{};
  float milliseconds{};
  std::uint64_t wide[8]{};
  const char* name{};
};

TEST_F(NoContext, StreamsAndEventsHaveTheirs) {
  play({
      ROW(ok, cuStreamGetCtx, stream, &other),
      ROW(ok, cuStreamGetCtx_v2, stream, &other, &graph),
      ROW(ok, cuStreamGetId, stream, &wide[0]),
      ROW(ok, cuStreamGetDevice, stream, &number),
      ROW(ok, cuStreamGetPriority, stream, &number),
      ROW(ok, cuStreamGetFlags, stream, &word),
      ROW(ok, cuStreamIsCapturing, stream, &number),
      ROW(ok, cuStreamQuery, stream),
      ROW(ok, cuStreamSynchronize, stream),
      ROW(ok, cuStreamSynchronize_ptsz, stream),
      ROW(ok, cuStreamGetAttribute, stream, 8, static_cast<void*>(bytes)),
      ROW(ok, cuStreamSetAttribute, stream, 8, static_cast<void*>(bytes)),
      ROW(ok, cuStreamCopyAttributes, stream, stream),
      ROW(ok, cuEventRecord, event, stream),
      ROW(ok, cuEventRecordWithFlags, later, stream, 0u),
      ROW(ok, cuStreamWaitEvent, stream, event, 0u),
      ROW(ok, cuEventSynchronize, later),
      ROW(ok, cuEventQuery, later),
      ROW(ok, cuEventElapsedTime_v2, &milliseconds, event, later),
      ROW(ok, cuLaunchHostFunc, stream, nothing, Handle{}),
      ROW(ok, cuStreamAddCallback, stream, no_callback, Handle{}, 0u),
      ROW(ok, cuStreamWriteValue32_v2, stream, to, 1u, 0u),
      ROW(ok, cuStreamWriteValue64_v2, stream, to, std::uint64_t{1}, 0u),
      ROW(ok, cuStreamWaitValue32_v2, stream, to, 1u, 0u),
      ROW(ok, cuStreamWaitValue64_v2, stream, to, std::uint64_t{1}, 0u),
      ROW(ok, cuStreamAttachMemAsync, stream, managed, Z{0}, 4u),
      ROW(ok, cuStreamBeginCapture_v2, stream, 2),
      ROW(ok, cuStreamGetCaptureInfo_v3, stream, &number, &wide[0], &graph, Handle{}, Handle{},
          Handle{}),
      ROW(ok, cuStreamEndCapture, stream, &graph),
      // Default streams belong to the current context.
      ROW(no_context, cuStreamSynchronize, Handle{}),
      ROW(no_context, cuStreamQuery, Handle{}),
      ROW(no_context, cuStreamSynchronize_ptsz, Handle{}),
      ROW(no_context, cuEventRecord, event, Handle{}),
      ROW(no_context, cuLaunchHostFunc, Handle{}, nothing, Handle{}),
      ROW(no_context, cuCtxSynchronize),
      ROW(ok, cuCtxSynchronize_v2, context),
      ROW(no_context, cuStreamCreate, &other, 1u),
      ROW(no_context, cuEventCreate, &other, 0u),
      ROW(ok, cuEventDestroy_v2, event),
      ROW(ok, cuStreamDestroy_v2, stream),
      ROW(400, cuStreamQuery, stream),
  });
}

TEST_F(NoContext, AStreamNamesTheContextThatItWasMadeIn) {
  Handle mine = nullptr, in = nullptr;
  ASSERT_EQ(call("cuCtxCreate_v4", &mine, Handle{}, 0u, 0), ok);
  ASSERT_EQ(call("cuStreamCreate", &stream, 0u), ok);
  ASSERT_EQ(call("cuCtxPopCurrent_v2", &other), ok);
  EXPECT_EQ(call("cuStreamGetCtx", stream, &in), ok);
  EXPECT_EQ(in, mine);
  ASSERT_EQ(call("cuCtxSetCurrent", Handle{}), ok);
  EXPECT_EQ(call("cuStreamGetCtx", stream, &in), ok);
  EXPECT_EQ(in, mine);
}

TEST_F(NoContext, MemoryAndPoolsHaveTheirs) {
  const Address targets[] = {to}, sources[] = {from}, ranges[] = {managed};
  const Z sizes[] = {64}, starts[] = {0};
  const CopyAttributes attributes[] = {{1, {}, {}, 0}};
  const Location places[] = {{1, 0}};
  Location device{1, 0}, host{2, 0}, nowhere{0, 0};
  Box box{{1, from, 0, 0, {}}, {1, to, 0, 0, {}}, 16, 2, 1, 1, 0};
  PoolProperties properties{1, 0, {1, 0}, nullptr, 0, {}};
  int attribute[] = {2};
  void* answers[] = {&word};
  play({
      ROW(ok, cuMemGetDefaultMemPool, &other, &device, 1),
      ROW(ok, cuMemGetDefaultMemPool, &other, &host, 1),
      ROW(ok, cuMemGetDefaultMemPool, &other, &nowhere, 2),
      ROW(ok, cuMemGetMemPool, &other, &device, 1),
      ROW(ok, cuMemSetMemPool, &device, 1, pool),
      ROW(ok, cuDeviceGetDefaultMemPool, &other, 0),
      ROW(ok, cuDeviceGetMemPool, &other, 0),
      ROW(ok, cuDeviceSetMemPool, 0, pool),
      ROW(ok, cuMemPoolCreate, &other, &properties),
      ROW(ok, cuMemPoolTrimTo, other, Z{0}),
      ROW(ok, cuMemPoolGetAttribute, other, 4, static_cast<void*>(wide)),
      ROW(ok, cuMemPoolSetAttribute, other, 4, static_cast<void*>(wide)),
      ROW(ok, cuMemPoolGetAccess, &number, other, &device),
      ROW(ok, cuMemPoolDestroy, other),
      ROW(ok, cuMemAllocFromPoolAsync, &made, Z{256}, pool, stream),
      ROW(ok, cuMemFreeAsync, made, stream),
      ROW(ok, cuMemAllocAsync, &made, Z{256}, stream),
      ROW(ok, cuMemFreeAsync, made, stream),
      ROW(no_context, cuMemAllocAsync, &made, Z{256}, Handle{}),
      ROW(no_context, cuMemAllocFromPoolAsync, &made, Z{256}, pool, Handle{}),
      ROW(ok, cuMemcpyAsync, to, from, Z{64}, stream),
      ROW(ok, cuMemcpyDtoDAsync_v2, to, from, Z{64}, stream),
      ROW(ok, cuMemcpyHtoDAsync_v2, to, static_cast<void*>(bytes), Z{64}, stream),
      ROW(ok, cuMemcpyDtoHAsync_v2, static_cast<void*>(bytes), from, Z{64}, stream),
      ROW(ok, cuMemcpyPeerAsync, to, context, from, context, Z{64}, stream),
      ROW(ok, cuMemcpyBatchAsync_v2, targets, sources, sizes, Z{1}, attributes, starts, Z{1},
          stream),
      ROW(ok, cuMemcpyBatchAsync, targets, sources, sizes, Z{1}, attributes, starts, Z{1}, &size,
          stream),
      ROW(ok, cuMemcpy3DBatchAsync_v2, Z{1}, &box, 0ull, stream),
      ROW(ok, cuMemPrefetchBatchAsync, ranges, sizes, Z{1}, places, starts, Z{1}, 0ull, stream),
      ROW(ok, cuMemDiscardBatchAsync, ranges, sizes, Z{1}, 0ull, stream),
      ROW(ok, cuMemDiscardAndPrefetchBatchAsync, ranges, sizes, Z{1}, places, starts, Z{1}, 0ull,
          stream),
      ROW(ok, cuMemPrefetchAsync_v2, managed, Z{64}, device, 0u, stream),
      ROW(ok, cuMemAdvise_v2, managed, Z{64}, 1, device),
      ROW(ok, cuMemRangeGetAttribute, static_cast<void*>(&number), Z{4}, 1, managed, Z{64}),
      ROW(ok, cuMemsetD8Async, to, static_cast<unsigned char>(1), Z{64}, stream),
      ROW(ok, cuMemsetD16Async, to, static_cast<unsigned short>(1), Z{32}, stream),
      ROW(ok, cuMemsetD32Async, to, 1u, Z{16}, stream),
      ROW(ok, cuMemsetD2D8Async, to, Z{64}, static_cast<unsigned char>(1), Z{8}, Z{2}, stream),
      ROW(ok, cuPointerGetAttribute, static_cast<void*>(wide), 2, to),
      ROW(ok, cuPointerGetAttributes, 1u, attribute, answers, to),
      ROW(no_context, cuMemGetAddressRange_v2, &made, &size, to),
      ROW(ok, cuMemHostGetDevicePointer_v2, &made, pinned, 0u),
      ROW(ok, cuMemHostGetFlags, &word, pinned),
      ROW(no_context, cuMemcpyDtoH_v2, static_cast<void*>(bytes), to, Z{64}),
      ROW(no_context, cuMemcpyHtoD_v2, to, static_cast<void*>(bytes), Z{64}),
      ROW(no_context, cuMemcpy, to, from, Z{64}),
      ROW(no_context, cuMemcpyAsync, to, from, Z{64}, Handle{}),
      ROW(no_context, cuMemsetD8_v2, to, static_cast<unsigned char>(0), Z{64}),
      ROW(no_context, cuMemAlloc_v2, &made, Z{64}),
      ROW(no_context, cuMemAllocManaged, &made, Z{64}, 1u),
      ROW(no_context, cuMemHostAlloc, &other, Z{64}, 0u),
      ROW(no_context, cuMemGetInfo_v2, &size, &size2),
      ROW(ok, cuMemHostUnregister, static_cast<void*>(own.data())),
      ROW(ok, cuMemFreeHost, pinned),
      ROW(ok, cuMemFree_v2, managed),
      ROW(ok, cuMemFree_v2, to),
      ROW(1, cuMemFree_v2, to),
  });
}

TEST_F(NoContext, ModulesFunctionsAndLinksHaveTheirs) {
  LaunchConfig config{{1, 1, 1}, {1, 1, 1}, 0, stream, nullptr, 0};
  LaunchConfig nowhere{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
  Handle none = nullptr;
  play({
      ROW(ok, cuModuleGetFunction, &other, module, "k"),
      ROW(ok, cuModuleGetFunctionCount, &word, module),
      ROW(ok, cuModuleEnumerateFunctions, &other, 1u, module),
      ROW(ok, cuModuleGetGlobal_v2, &made, &size, module, "variable"),
      ROW(ok, cuFuncGetAttribute, &number, 0, function),
      ROW(ok, cuFuncSetAttribute, function, 8, 1024),
      ROW(ok, cuFuncSetCacheConfig, function, 1),
      ROW(ok, cuFuncGetModule, &other, function),
      ROW(ok, cuFuncGetName, &name, function),
      ROW(1, cuFuncGetParamInfo, function, Z{0}, &size, &size),
      ROW(ok, cuFuncIsLoaded, &number, function),
      ROW(ok, cuFuncLoad, function),
      ROW(no_context, cuOccupancyMaxActiveBlocksPerMultiprocessor, &number, function, 32, Z{0}),
      ROW(no_context, cuOccupancyAvailableDynamicSMemPerBlock, &size, function, 1, 32),
      ROW(ok, cuLaunchKernel, function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, none, none),
      ROW(ok, cuLaunchKernelEx, &config, function, none, none),
      ROW(ok, cuLaunchCooperativeKernel, function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, none),
      ROW(no_context, cuLaunchKernel, function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, none, none, none),
      ROW(no_context, cuLaunchKernelEx, &nowhere, function, none, none),
      ROW(ok, cuLibraryGetKernelCount, &word, library),
      ROW(ok, cuKernelGetName, &name, kernel),
      ROW(no_context, cuKernelGetParamInfo, kernel, Z{0}, &size, &size),
      ROW(ok, cuKernelGetLibrary, &other, kernel),
      ROW(ok, cuKernelGetAttribute, &number, 0, kernel, 0),
      ROW(500, cuLibraryGetManaged, &made, &size, library, "variable"),
      // These return the current context's part of a library.
      ROW(no_context, cuKernelGetFunction, &other, kernel),
      ROW(no_context, cuLibraryGetModule, &other, library),
      ROW(no_context, cuLibraryGetGlobal, &made, &size, library, "variable"),
      ROW(no_context, cuModuleLoadData, &other, text),
      ROW(no_context, cuLinkCreate_v2, 0u, none, none, &other),
      ROW(ok, cuLinkAddData_v2, link, 1, static_cast<const void*>(text), Z{100}, "", 0u, none,
          none),
      ROW(ok, cuLinkDestroy, link),
      ROW(ok, cuLibraryUnload, library),
      ROW(ok, cuModuleUnload, module),
  });
}

TEST_F(NoContext, GraphsNeedOneToBeInstantiatedOnly) {
  FillNode fill{to, 0, 0, 1, 64, 1};
  HostNode host{nothing, nullptr};
  KernelNode launch{function, {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, nullptr, nullptr};
  std::uint64_t mark = 0;
  const Handle none = nullptr;
  play({
      ROW(ok, cuGraphCreate, &graph, 0u),
      ROW(ok, cuGraphAddEmptyNode, &node, graph, none, Z{0}),
      ROW(ok, cuGraphAddMemsetNode, &node, graph, none, Z{0}, &fill, context),
      ROW(ok, cuGraphAddHostNode, &node, graph, none, Z{0}, &host),
      ROW(ok, cuGraphAddKernelNode_v2, &node, graph, none, Z{0}, &launch),
      ROW(ok, cuGraphKernelNodeGetParams_v2, node, &launch),
      ROW(ok, cuGraphGetNodes, graph, none, &size),
      ROW(ok, cuGraphNodeGetType, node, &number),
      ROW(ok, cuGraphClone, &other, graph),
      ROW(ok, cuGraphDestroy, other),
      ROW(no_context, cuGraphInstantiateWithFlags, &exec, graph, 0ull),
  });
  ASSERT_EQ(call("cuCtxPushCurrent_v2", context), ok);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), ok);
  ASSERT_EQ(call("cuCtxPopCurrent_v2", &other), ok);
  play({
      ROW(ok, cuGraphUpload, exec, stream),
      ROW(ok, cuGraphLaunch, exec, stream),
      ROW(no_context, cuGraphLaunch, exec, none),
      ROW(ok, cuStreamSynchronize, stream),
      ROW(ok, cuUserObjectCreate, &other, none, nothing, 1u, 1u),
      ROW(ok, cuGraphRetainUserObject, graph, other, 1u, 1u),
      ROW(ok, cuGraphReleaseUserObject, graph, other, 1u),
      ROW(ok, cuDeviceGetGraphMemAttribute, 0, 0, static_cast<void*>(&mark)),
      ROW(ok, cuDeviceSetGraphMemAttribute, 0, 1, static_cast<void*>(&mark)),
      ROW(ok, cuDeviceGraphMemTrim, 0),
      ROW(ok, cuGraphExecDestroy, exec),
      ROW(ok, cuGraphDestroy, graph),
  });
}

// A host function may call little, whatever it names, because it would wait for itself.
struct Called {
  Handle stream, context;
  Address from;
  char bytes[64];
  int without = -1, with = -1, current = -1;
};
void call_from_stream(void* data) {
  auto& called = *static_cast<Called*>(data);
  const auto copy = [&] {
    return call("cuMemcpyDtoHAsync_v2", static_cast<void*>(called.bytes), called.from, Z{64},
                called.stream);
  };
  Handle before = nullptr;
  called.current = call("cuCtxGetCurrent", &before);
  call("cuCtxSetCurrent", Handle{});
  called.without = copy();
  call("cuCtxSetCurrent", called.context);
  called.with = copy();
  call("cuCtxSetCurrent", Handle{});
}

TEST_F(NoContext, HostFunctionsMayNotCall) {
  constexpr int not_permitted = 800;
  Called called{stream, context, from, {}};
  ASSERT_EQ(call("cuLaunchHostFunc", stream, call_from_stream, static_cast<void*>(&called)), ok);
  ASSERT_EQ(call("cuStreamSynchronize", stream), ok);
  EXPECT_EQ(called.without, not_permitted);
  EXPECT_EQ(called.with, not_permitted);
  EXPECT_EQ(called.current, not_permitted);
}

TEST_F(NoContext, AnObjectsContextIsNotTheRuntimesUse) {
  ASSERT_EQ(call("cuCtxSetCurrent", Handle{}), ok);
  ASSERT_EQ(call("cuStreamQuery", stream), ok);
  ASSERT_EQ(call("cuGraphCreate", &graph, 0u), ok);
  unsigned flags = 0;
  int active = -1;
  ASSERT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), ok);
  EXPECT_EQ(call("cuDevicePrimaryCtxGetState", 0, &flags, &active), ok);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), no_context);
  EXPECT_EQ(call("cuGraphCreate", &graph, 0u), ok);
  EXPECT_EQ(call("cuDevicePrimaryCtxGetState", 0, &flags, &active), ok);
  EXPECT_EQ(active, 0);
  // The current context is destroyed until it is retained again.
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &other, 0), ok);
  EXPECT_EQ(other, context);
  ASSERT_EQ(call("cuCtxSetCurrent", context), ok);
  EXPECT_EQ(call("cuCtxSynchronize"), ok);
  ASSERT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), ok);
  EXPECT_EQ(call("cuCtxSynchronize"), 709);
}

}  // namespace
