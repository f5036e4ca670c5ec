// CUDA 12's runtime: programs that call only libcudart.so.12, in the forms of CUDA 12.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

extern "C" {
int cudaDeviceSynchronize();
int cudaDriverGetVersion(int*);
int cudaEventCreate(void**);
int cudaEventElapsedTime_v2(float*, void*, void*);
int cudaEventRecord(void*, void*);
int cudaFree(void*);
int cudaGetDeviceProperties(void*, int);
int cudaGetDeviceProperties_v2(void*, int);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaGraphAddDependencies(void*, void* const*, void* const*, std::size_t);
int cudaGraphAddEmptyNode(void**, void*, void* const*, std::size_t);
int cudaGraphAddNode(void**, void*, void* const*, std::size_t, abi::GraphNode*);
int cudaGraphCreate(void**, unsigned);
int cudaGraphGetEdges(void*, void**, void**, std::size_t*);
int cudaGraphNodeGetDependencies(void*, void**, std::size_t*);
int cudaGraphNodeGetDependentNodes(void*, void**, std::size_t*);
int cudaGraphRemoveDependencies(void*, void* const*, void* const*, std::size_t);
int cudaLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned);
int cudaMalloc(void**, std::size_t);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMemAdvise(const void*, std::size_t, int, int);
int cudaMemAdvise_v2(const void*, std::size_t, int, abi::Location);
int cudaMemPrefetchAsync(const void*, std::size_t, int, void*);
int cudaMemPrefetchAsync_ptsz(const void*, std::size_t, int, void*);
int cudaMemRangeGetAttribute(void*, std::size_t, int, const void*, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyBatchAsync(void**, void**, std::size_t*, std::size_t, abi::CopyAttributes*,
                         std::size_t*, std::size_t, std::size_t*, void*);
int cudaPointerGetAttributes(abi::PointerAttributes12*, const void*);
int cudaRuntimeGetVersion(int*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamEndCapture(void*, void**);
int cudaStreamGetCaptureInfo(void*, int*, unsigned long long*);
int cudaStreamGetCaptureInfo_v2(void*, int*, unsigned long long*, void**, void* const**,
                                std::size_t*);
int cudaStreamSynchronize(void*);
int cudaStreamUpdateCaptureDependencies(void*, void**, std::size_t, unsigned);
int cudaThreadGetLimit(std::size_t*, int);
int cudaThreadSetLimit(int, std::size_t);
int cudaThreadSynchronize();
}

constexpr int ok = 0, invalid_value = 1, invalid_device = 101;
constexpr int not_supported = int(Status::not_supported);

TEST(Runtime12, ExportsEveryNameOfItsVersionAndNoOther) {
  void* library = dlopen("libcudart.so.12", RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  std::ifstream list(INFLIGHT_EXPORTS "/runtime12.txt");
  int count = 0;
  for (std::string name; list >> name; ++count)
    EXPECT_TRUE(dlvsym(library, name.c_str(), "libcudart.so.12")) << name;
  EXPECT_EQ(count, 435);
  for (const char* newer : {"cudaMemGetMemPool", "cudaLogsCurrent", "cudaMemDiscardBatchAsync",
                            "inflight_13_cudaRuntimeGetVersion"})
    EXPECT_FALSE(dlsym(library, newer)) << newer;
}

TEST(Runtime12, SaysTheVersionThatItStandsInFor) {
  int runtime = 0, driver = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&runtime), ok);
  EXPECT_EQ(cudaDriverGetVersion(&driver), ok);
  EXPECT_EQ(runtime, 12090);
  EXPECT_EQ(driver, 13000);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), invalid_value);
}

// Field offsets measured with CUDA 12's headers (12 kept the first 728 bytes of 11).
TEST(Runtime12, LaysPropertiesOutAsCuda12) {
  std::array<unsigned char, 1100> bytes;
  auto at = [&](std::size_t offset) {
    int value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  auto untouched_from = [&](std::size_t end) {
    return bytes[end] == 0xa5 && bytes[end - 1] != 0xa5;
  };
  bytes.fill(0xa5);
  ASSERT_EQ(cudaGetDeviceProperties_v2(bytes.data(), 0), ok);
  EXPECT_STREQ(reinterpret_cast<char*>(bytes.data()), "NVIDIA H200");
  EXPECT_EQ(at(348), 1980000);    // clockRate
  EXPECT_EQ(at(352), 65536);      // totalConstMem
  EXPECT_EQ(at(360), 9);          // major
  EXPECT_EQ(at(384), 1);          // deviceOverlap
  EXPECT_EQ(at(388), 132);        // multiProcessorCount
  EXPECT_EQ(at(416), 268435456);  // maxTexture1DLinear
  EXPECT_EQ(at(608), 3201000);    // memoryClockRate
  EXPECT_EQ(at(616), 60 << 20);   // l2CacheSize
  EXPECT_EQ(at(668), 2);          // singleToDoublePrecisionPerfRatio
  EXPECT_EQ(at(688), 1);          // cooperativeLaunch
  EXPECT_EQ(at(696), 227 << 10);  // sharedMemPerBlockOptin
  EXPECT_EQ(at(712), 32);         // maxBlocksPerMultiProcessor
  EXPECT_EQ(at(720), 1024);       // reservedSharedMemPerBlock
  EXPECT_EQ(at(728), 1);          // hostRegisterSupported
  EXPECT_EQ(at(772), 1);          // clusterLaunch
  EXPECT_TRUE(untouched_from(1032));

  bytes.fill(0xa5);
  ASSERT_EQ(cudaGetDeviceProperties(bytes.data(), 0), ok);
  EXPECT_EQ(at(348), 1980000);
  EXPECT_EQ(at(720), 1024);
  EXPECT_TRUE(untouched_from(728));
  EXPECT_EQ(cudaGetDeviceProperties_v2(bytes.data(), 9), invalid_device);
}

TEST(Runtime12, WritesNoMoreOfAPointersAttributesThanCuda12Has) {
  struct {
    abi::PointerAttributes12 attributes;
    long behind = 0x5a5a;
  } place;
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), ok);
  ASSERT_EQ(cudaPointerGetAttributes(&place.attributes, memory), ok);
  EXPECT_EQ(place.attributes.type, 2);
  EXPECT_EQ(place.attributes.device_pointer, memory);
  EXPECT_EQ(place.behind, 0x5a5a);
  EXPECT_EQ(cudaPointerGetAttributes(nullptr, memory), invalid_value);
}

TEST(Runtime12, TakesDevicesByNumberWhereCuda13TakesPlaces) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, 4096, 1), ok);
  auto read = [&](int attribute) {
    int value = -9;
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, 4096), ok);
    return value;
  };
  constexpr int read_mostly = 1, preferred = 2, last_prefetch = 4, host = -1;
  constexpr int set_read_mostly = 1, set_preferred = 3;
  EXPECT_EQ(cudaMemAdvise(memory, 4096, set_read_mostly, 77), ok);  // which ignores the device
  EXPECT_EQ(read(read_mostly), 1);
  EXPECT_EQ(cudaMemAdvise(memory, 4096, set_preferred, 0), ok);
  EXPECT_EQ(read(preferred), 0);
  EXPECT_EQ(cudaMemAdvise(memory, 4096, set_preferred, host), ok);
  EXPECT_EQ(read(preferred), host);
  EXPECT_EQ(cudaMemAdvise_v2(memory, 4096, set_preferred, {abi::location_device, 0}), ok);
  EXPECT_EQ(read(preferred), 0);
  EXPECT_EQ(cudaMemAdvise(memory, 4096, set_preferred, 77), invalid_device);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, 0, nullptr), ok);
  EXPECT_EQ(read(last_prefetch), 0);
  EXPECT_EQ(cudaMemPrefetchAsync_ptsz(memory, 4096, host, nullptr), ok);
  EXPECT_EQ(read(last_prefetch), host);
}

TEST(Runtime12, BuildsGraphsWithoutDataOfEdges) {
  void *graph = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), ok);
  abi::GraphNode empty{};
  empty.type = abi::node_empty;
  ASSERT_EQ(cudaGraphAddNode(&a, graph, nullptr, 0, &empty), ok);
  ASSERT_EQ(cudaGraphAddNode(&b, graph, &a, 1, &empty), ok);
  ASSERT_EQ(cudaGraphAddEmptyNode(&c, graph, nullptr, 0), ok);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &b, &c, 1), ok);

  std::array<void*, 2> from{}, to{};
  std::size_t count = 2;
  ASSERT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), &count), ok);
  EXPECT_EQ(count, 2u);
  EXPECT_THAT(from, ElementsAre(a, b));
  EXPECT_THAT(to, ElementsAre(b, c));
  void* found = nullptr;
  count = 1;
  EXPECT_EQ(cudaGraphNodeGetDependencies(b, &found, &count), ok);
  EXPECT_EQ(found, a);
  count = 1;
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(b, &found, &count), ok);
  EXPECT_EQ(found, c);
  ASSERT_EQ(cudaGraphRemoveDependencies(graph, &b, &c, 1), ok);
  EXPECT_EQ(cudaGraphNodeGetDependencies(c, nullptr, &count), ok);
  EXPECT_EQ(count, 0u);
}

TEST(Runtime12, CapturesByTheOlderForms) {
  void *stream = nullptr, *graph = nullptr, *captured = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), ok);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), ok);
  int state = -1;
  unsigned long long id = 0, same = 0;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream, &state, &id), ok);
  EXPECT_EQ(state, 1);
  void* const* tips = nullptr;
  std::size_t count = 9;
  EXPECT_EQ(cudaStreamGetCaptureInfo_v2(stream, &state, &same, &captured, &tips, &count), ok);
  EXPECT_EQ(same, id);
  EXPECT_EQ(count, 0u);
  void* node = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&node, captured, nullptr, 0), ok);
  ASSERT_EQ(cudaStreamUpdateCaptureDependencies(stream, &node, 1, 1), ok);
  EXPECT_EQ(cudaStreamGetCaptureInfo_v2(stream, &state, nullptr, nullptr, &tips, &count), ok);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(tips[0], node);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), ok);
}

TEST(Runtime12, NamesTheCopyOfABatchThatIsRefused) {
  void *memory = nullptr, *stream = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), ok);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), ok);
  int first = 11, second = 22, read[2]{};
  auto* numbers = static_cast<int*>(memory);
  void *to[] = {numbers, numbers + 1}, *from[] = {&first, &second};
  std::size_t bytes[] = {4, 4}, starts[] = {0}, failed = 9;
  abi::CopyAttributes attributes{1, {}, {}, 0};
  ASSERT_EQ(cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, starts, 1, &failed, stream), ok);
  ASSERT_EQ(cudaStreamSynchronize(stream), ok);
  ASSERT_EQ(cudaMemcpy(read, memory, 8, 2), ok);
  EXPECT_THAT(read, ElementsAre(11, 22));
  to[1] = nullptr;
  EXPECT_NE(cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, starts, 1, &failed, stream), ok);
  EXPECT_EQ(failed, 1u);
}

TEST(Runtime12, KeepsWhatCuda13Removed) {
  std::size_t limit = 0;
  EXPECT_EQ(cudaThreadSetLimit(0, 4096), ok);
  EXPECT_EQ(cudaThreadGetLimit(&limit, 0), ok);
  EXPECT_EQ(limit, 4096u);
  EXPECT_EQ(cudaThreadSynchronize(), ok);
  void *begin = nullptr, *end = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(cudaEventCreate(&begin), ok);
  ASSERT_EQ(cudaEventCreate(&end), ok);
  ASSERT_EQ(cudaEventRecord(begin, nullptr), ok);
  ASSERT_EQ(cudaEventRecord(end, nullptr), ok);
  ASSERT_EQ(cudaDeviceSynchronize(), ok);
  EXPECT_EQ(cudaEventElapsedTime_v2(&milliseconds, begin, end), ok);
  EXPECT_GE(milliseconds, 0);

  EXPECT_EQ(cudaLaunchCooperativeKernelMultiDevice(nullptr, 0, 0), invalid_value);
}

// The driver's entry points have the forms of CUDA 12.9: cuCtxCreate takes parameters since 12.5.
TEST(Runtime12, FindsTheDriversFormsOfItsOwnVersion) {
  void *found = nullptr, *driver = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_TRUE(driver) << dlerror();
  int query = -1;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuCtxGetDevice", &found, 0, &query), ok);
  EXPECT_EQ(found, dlsym(driver, "cuCtxGetDevice"));  // its second form came with 13.0
  ASSERT_EQ(cudaGetDriverEntryPoint("cuCtxCreate", &found, 0, &query), ok);
  EXPECT_EQ(found, dlsym(driver, "cuCtxCreate_v4"));
}

// A process may load libraries built with either release. They share one device.
TEST(Runtime12, SharesItsMemoryWithCuda13) {
  void *memory = nullptr, *newer = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(newer) << dlerror();
  auto fill = reinterpret_cast<int (*)(void*, int, std::size_t)>(dlsym(newer, "cudaMemset"));
  ASSERT_EQ(cudaMalloc(&memory, 4), ok);
  ASSERT_EQ(fill(memory, 7, 4), ok);
  int read = 0;
  ASSERT_EQ(cudaMemcpy(&read, memory, 4, 2), ok);
  EXPECT_EQ(read, 0x07070707);
  EXPECT_EQ(cudaFree(memory), ok);
}

}  // namespace
}  // namespace inflight::cuda::testing
