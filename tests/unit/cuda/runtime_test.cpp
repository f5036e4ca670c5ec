// The runtime from a program's view: memory, streams, events, launches. Results match an H200.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tests/unit/cuda/runtime_calls.hpp"

namespace inflight::cuda::testing {
namespace {

using ::testing::Each;

constexpr int to_device = 1, to_host = 2;

std::vector<unsigned> numbers_at(void* device, unsigned count) {
  std::vector<unsigned> result(count);
  EXPECT_EQ(cudaMemcpy(result.data(), device, count * 4, to_host), 0);
  return result;
}

TEST(Runtime, RunsKernelsInStreamOrder) {
  constexpr unsigned count = 1000;
  void* numbers = nullptr;
  ASSERT_EQ(cudaMalloc(&numbers, count * 4), 0);
  ASSERT_EQ(cudaMemset(numbers, 0, count * 4), 0);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(launch_add(numbers, count, 3), 0);
  EXPECT_THAT(numbers_at(numbers, count), Each(15u));
  EXPECT_EQ(cudaFree(numbers), 0);
}

TEST(Runtime, MovesPinnedMemoryAsynchronously) {
  constexpr unsigned count = 4096;
  void *host = nullptr, *device = nullptr, *stream = nullptr;
  ASSERT_EQ(cudaMallocHost(&host, count * 4), 0);
  ASSERT_EQ(cudaMalloc(&device, count * 4), 0);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
  auto* numbers = static_cast<unsigned*>(host);
  for (unsigned i = 0; i < count; ++i) numbers[i] = i;
  EXPECT_EQ(cudaMemcpyAsync(device, host, count * 4, to_device, stream), 0);
  EXPECT_EQ(launch_add(device, count, 7, stream), 0);
  EXPECT_EQ(cudaMemcpyAsync(host, device, count * 4, to_host, stream), 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), 0);
  for (unsigned i = 0; i < count; ++i) ASSERT_EQ(numbers[i], i + 7);
  EXPECT_EQ(cudaStreamDestroy(stream), 0);
  EXPECT_EQ(cudaFreeHost(host), 0);
}

TEST(Runtime, HostCodeSeesManagedMemory) {
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 400, 1), 0);
  auto* numbers = static_cast<unsigned*>(managed);
  std::fill(numbers, numbers + 100, 1u);
  ASSERT_EQ(launch_add(managed, 100, 41), 0);
  ASSERT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(numbers[99], 42u);
  EXPECT_EQ(cudaFreeHost(managed), 1);
  EXPECT_EQ(cudaFree(managed), 0);
}

TEST(Runtime, AnswersFreesAsAnH200) {
  char plain[8];
  void *d = nullptr, *h = nullptr;
  cudaMalloc(&d, 1000);
  cudaMallocHost(&h, 100);
  EXPECT_EQ(cudaFree(static_cast<char*>(d) + 4), 1);
  EXPECT_EQ(cudaFree(plain), 1);
  EXPECT_EQ(cudaFree(nullptr), 0);
  EXPECT_EQ(cudaFree(h), 1);
  EXPECT_EQ(cudaFreeHost(d), 1);
  EXPECT_EQ(cudaFreeHost(nullptr), 0);
  EXPECT_EQ(cudaFree(d), 0);
  EXPECT_EQ(cudaFree(d), 1);
  EXPECT_EQ(cudaFreeHost(h), 0);
  EXPECT_EQ(cudaMalloc(&d, 0), 0);
  EXPECT_EQ(d, nullptr);
  EXPECT_EQ(cudaMalloc(nullptr, 10), 1);
  EXPECT_EQ(cudaMalloc(&d, 1ull << 50), 2);
  EXPECT_EQ(cudaGetLastError(), 2);
  EXPECT_EQ(cudaGetLastError(), 0);
}

TEST(Runtime, FreesInStreamOrder) {
  void* d = nullptr;
  ASSERT_EQ(cudaMallocAsync(&d, 400, nullptr), 0);
  EXPECT_EQ(cudaMemsetAsync(d, 0, 400, nullptr), 0);
  EXPECT_EQ(launch_add(d, 100, 2), 0);
  EXPECT_EQ(cudaFreeAsync(d, nullptr), 0);
  EXPECT_EQ(cudaFreeAsync(d, nullptr), 1);
  EXPECT_EQ(cudaFreeAsync(nullptr, nullptr), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  std::size_t before = 0, after = 0, total = 0;
  cudaMemGetInfo(&before, &total);
  cudaMallocAsync(&d, 1 << 20, nullptr);
  cudaMemGetInfo(&after, &total);
  EXPECT_LE(after + (1 << 20), before);
  EXPECT_EQ(cudaFree(d), 0) << "pool memory may be freed at once, too";
}

TEST(Runtime, PitchesRowsBy512Bytes) {
  struct Case {
    std::size_t width, pitch;
  };
  for (Case c : {Case{1, 512}, Case{512, 512}, Case{513, 1024}, Case{100000, 100352}}) {
    void* d = nullptr;
    std::size_t pitch = 0;
    EXPECT_EQ(cudaMallocPitch(&d, &pitch, c.width, 4), 0);
    EXPECT_EQ(pitch, c.pitch);
    EXPECT_EQ(cudaFree(d), 0);
  }
}

TEST(Runtime, KnowsWhatAPointerIs) {
  struct Expected {
    int type, device;
    bool device_pointer, host_pointer;
  };
  auto expect = [](void* pointer, Expected e) {
    abi::PointerAttributes a{};
    EXPECT_EQ(cudaPointerGetAttributes(&a, pointer), 0);
    EXPECT_EQ(a.type, e.type);
    EXPECT_EQ(a.device, e.device);
    EXPECT_EQ(a.device_pointer, e.device_pointer ? pointer : nullptr);
    EXPECT_EQ(a.host_pointer, e.host_pointer ? pointer : nullptr);
  };
  char plain[4];
  void *device = nullptr, *host = nullptr, *managed = nullptr;
  cudaMalloc(&device, 1000);
  cudaMallocHost(&host, 100);
  cudaMallocManaged(&managed, 100, 1);
  expect(plain, {0, -2, false, true});
  expect(device, {2, 0, true, false});
  expect(static_cast<char*>(device) + 500, {2, 0, true, false});
  expect(static_cast<char*>(device) + 1001, {0, -2, false, true});
  expect(host, {1, 0, true, true});
  expect(managed, {3, 0, true, true});
}

TEST(Runtime, RegistersMemoryOfTheProgram) {
  void* memory = std::aligned_alloc(4096, 8192);
  void* same = nullptr;
  unsigned flags = 0;
  EXPECT_EQ(cudaHostRegister(memory, 8192, 0), 0);
  EXPECT_EQ(cudaHostRegister(memory, 8192, 0), 712);
  EXPECT_EQ(cudaHostGetDevicePointer(&same, memory, 0), 0);
  EXPECT_EQ(same, memory);
  EXPECT_EQ(cudaHostGetDevicePointer(&same, memory, 1), 1);
  std::fill_n(static_cast<unsigned*>(memory), 2048, 0u);
  EXPECT_EQ(launch_add(memory, 2048, 9), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(static_cast<unsigned*>(memory)[2047], 9u);
  EXPECT_EQ(cudaHostUnregister(memory), 0);
  EXPECT_EQ(cudaHostUnregister(memory), 713);
  EXPECT_EQ(cudaHostRegister(nullptr, 10, 0), 1);
  EXPECT_EQ(cudaHostGetFlags(&flags, memory), 1);
  std::free(memory);
}

TEST(Runtime, ChecksLaunchesAsAnH200) {
  auto launch = [](abi::Dim3 grid, abi::Dim3 block, std::size_t shared) {
    return cudaLaunchKernel(kernel("dynamic"), grid, block, nullptr, shared, nullptr);
  };
  EXPECT_EQ(launch({0, 1, 1}, {1, 1, 1}, 0), 1);
  EXPECT_EQ(launch({1, 1, 1}, {0, 1, 1}, 0), 1);
  EXPECT_EQ(launch({1, 1, 1}, {1025, 1, 1}, 0), 1);
  EXPECT_EQ(launch({1, 1, 1}, {1, 1, 65}, 0), 1);
  EXPECT_EQ(launch({1, 70000, 1}, {1, 1, 1}, 0), 1);
  EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 49152), 0);
  EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 49153), 1);
  constexpr int max_dynamic_shared = 8;
  EXPECT_EQ(cudaFuncSetAttribute(kernel("dynamic"), max_dynamic_shared, 232449), 1);
  EXPECT_EQ(cudaFuncSetAttribute(kernel("dynamic"), max_dynamic_shared, 232448), 0);
  EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 232448), 0);
  EXPECT_EQ(launch({1, 1, 1}, {32, 1, 1}, 232449), 1);
  EXPECT_EQ(cudaLaunchCooperativeKernel(kernel("dynamic"), {100000, 1, 1}, {128, 1, 1}, nullptr, 0,
                                        nullptr),
            720);
  int no_kernel = 0;
  EXPECT_EQ(cudaLaunchKernel(&no_kernel, {}, {}, nullptr, 0, nullptr), 400);
  EXPECT_EQ(cudaLaunchKernel(nullptr, {}, {}, nullptr, 0, nullptr), 98);
  EXPECT_EQ(cudaLaunchKernel(kernel("add"), {}, {}, nullptr, 0, nullptr), 1);
  EXPECT_EQ(cudaDeviceSynchronize(), 0) << "refused launches leave the context alive";
}

TEST(Runtime, TakesLaunchAttributes) {
  void* numbers = nullptr;
  cudaMalloc(&numbers, 400);
  cudaMemset(numbers, 0, 400);
  unsigned count = 100, value = 1;
  void* arguments[] = {&numbers, &count, &value};
  abi::LaunchAttribute attribute{};
  abi::LaunchConfig config{{1, 1, 1}, {128, 1, 1}, 0, nullptr, &attribute, 1};
  auto launch = [&](int id, int integer) {
    attribute.id = id;
    attribute.value.integer = integer;
    return cudaLaunchKernelExC(&config, kernel("add"), arguments);
  };
  EXPECT_EQ(launch(abi::launch_programmatic_serialization, 1), 0);
  EXPECT_EQ(launch(abi::launch_cooperative, 1), 0);
  EXPECT_EQ(launch(abi::launch_priority, -2), 0);
  EXPECT_EQ(launch(77, 0), 1);
  attribute.value.cluster = {2, 1, 1};
  attribute.id = abi::launch_cluster;
  config.grid = {3, 1, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&config, kernel("add"), arguments), 912);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, kernel("add"), arguments), 1);
  EXPECT_THAT(numbers_at(numbers, 100), Each(3u));
}

TEST(Runtime, TellsOfKernels) {
  abi::FunctionAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel("add")), 0);
  EXPECT_EQ(attributes.max_threads, 1024);
  EXPECT_EQ(attributes.ptx_version, 80);
  EXPECT_EQ(attributes.binary_version, 90);
  EXPECT_EQ(attributes.max_dynamic_shared, 49152);
  EXPECT_EQ(attributes.constant_bytes, 0u);
  EXPECT_GT(attributes.registers, 0);
  std::size_t offset = 0, size = 0;
  EXPECT_EQ(cudaFuncGetParamInfo(kernel("add"), 2, &offset, &size), 0);
  EXPECT_EQ(offset, 12u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cudaFuncGetParamInfo(kernel("add"), 3, &offset, &size), 1);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("add"), 128, 0), 0);
  EXPECT_EQ(blocks, 16);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("add"), 128, 100000), 0);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("add"), 2048, 0), 0);
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("add"), 0, 0), 1);
}

TEST(Runtime, LibrariesHaveVariables) {
  void* counter = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(cudaLibraryGetGlobal(&counter, &bytes, library(), "counter"), 0);
  EXPECT_EQ(bytes, 4u);
  EXPECT_THAT(numbers_at(counter, 1), Each(5u));
  EXPECT_EQ(cudaLibraryGetGlobal(&counter, &bytes, library(), "nothing"), 500);
  void* missing = nullptr;
  EXPECT_EQ(cudaLibraryGetKernel(&missing, library(), "nothing"), 500);
}

TEST(Runtime, EventsAnswerAsAnH200) {
  void *a = nullptr, *b = nullptr, *untimed = nullptr, *bad = nullptr, *stream = nullptr;
  float milliseconds = 0;
  cudaEventCreateWithFlags(&a, 0);
  cudaEventCreateWithFlags(&b, 0);
  cudaEventCreateWithFlags(&untimed, 2);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, a, b), 400);
  EXPECT_EQ(cudaEventQuery(a), 0);
  EXPECT_EQ(cudaEventCreateWithFlags(&bad, 99), 1);
  EXPECT_EQ(cudaEventCreateWithFlags(&bad, 4), 1);
  EXPECT_EQ(cudaEventDestroy(nullptr), 400);
  cudaGetLastError();

  cudaStreamCreateWithFlags(&stream, 1);
  void* flag = nullptr;
  cudaMallocManaged(&flag, 4, 1);
  *static_cast<volatile unsigned*>(flag) = 0;
  void* arguments[] = {&flag};
  EXPECT_EQ(cudaEventRecord(a, stream), 0);
  EXPECT_EQ(cudaLaunchKernel(kernel("spin"), {}, {}, arguments, 0, stream), 0);
  EXPECT_EQ(cudaEventRecord(b, stream), 0);
  EXPECT_EQ(cudaEventQuery(b), 600);
  EXPECT_EQ(cudaStreamQuery(stream), 600);
  EXPECT_EQ(cudaPeekAtLastError(), 0) << "not ready is no error";
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, a, b), 600);
  *static_cast<volatile unsigned*>(flag) = 1;
  EXPECT_EQ(cudaEventSynchronize(b), 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, a, b), 0);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(cudaStreamDestroy(nullptr), 400);
}

TEST(Runtime, HostFunctionsMayNotCallCuda) {
  static int answer;
  auto function = [](void*) {
    void* d = nullptr;
    answer = cudaMalloc(&d, 4);
  };
  EXPECT_EQ(cudaLaunchHostFunc(nullptr, function, nullptr), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(answer, 800);
  EXPECT_EQ(cudaLaunchHostFunc(nullptr, nullptr, nullptr), 1);
}

TEST(Runtime, StreamsWaitForEvents) {
  void *first = nullptr, *second = nullptr, *event = nullptr, *numbers = nullptr, *flag = nullptr;
  cudaStreamCreateWithFlags(&first, 1);
  cudaStreamCreateWithFlags(&second, 1);
  cudaEventCreateWithFlags(&event, 2);
  cudaMallocManaged(&flag, 4, 1);
  cudaMallocManaged(&numbers, 4, 1);
  *static_cast<volatile unsigned*>(flag) = 0;
  *static_cast<volatile unsigned*>(numbers) = 0;
  void* arguments[] = {&flag};
  cudaLaunchKernel(kernel("spin"), {}, {}, arguments, 0, first);
  cudaEventRecord(event, first);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), 0);
  launch_add(numbers, 1, 1, second);
  EXPECT_EQ(cudaStreamQuery(second), 600);
  EXPECT_EQ(*static_cast<volatile unsigned*>(numbers), 0u);
  *static_cast<volatile unsigned*>(flag) = 1;
  EXPECT_EQ(cudaStreamSynchronize(second), 0);
  EXPECT_EQ(*static_cast<volatile unsigned*>(numbers), 1u);
}

// Two ways to the driver's entry points, and a driver call in the runtime's context.
TEST(Runtime, GivesTheDriversEntryPoints) {
  void *encode = nullptr, *same = nullptr, *numbers = nullptr;
  int query = -1;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, 0, &query), 0);
  EXPECT_EQ(query, 0);
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &same, 12000, 0, &query), 0);
  EXPECT_EQ(query, 0);
  EXPECT_EQ(same, encode);
  ASSERT_EQ(cudaMalloc(&numbers, 4096), 0);
  alignas(64) unsigned char map[128] = {};
  const std::uint64_t dims[] = {64, 16}, strides[] = {64};
  const std::uint32_t box[] = {16, 4}, steps[] = {1, 1};
  const auto call = reinterpret_cast<int (*)(
      void*, unsigned, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
      const std::uint32_t*, const std::uint32_t*, unsigned, unsigned, unsigned, unsigned)>(encode);
  EXPECT_EQ(call(map, 0, 2, numbers, dims, strides, box, steps, 0, 0, 0, 0), 0);
  EXPECT_NE(std::count(map, map + sizeof map, 0), 128);

  constexpr int too_old = 2, no_symbol = 1;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &same, 11000, 0, &query), 0);
  EXPECT_EQ(query, too_old);
  EXPECT_EQ(same, nullptr);
  EXPECT_EQ(cudaGetDriverEntryPoint("cuNothing", &same, 0, &query), 0);
  EXPECT_EQ(query, no_symbol);
  void *older = nullptr, *newer = nullptr;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuCtxCreate", &older, 11000, 0, &query), 0);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuCtxCreate", &newer, 13000, 0, &query), 0);
  EXPECT_NE(older, newer);
}

}  // namespace
}  // namespace inflight::cuda::testing
