// Programs that create, use and destroy for days: their memory does not grow. Each kind is repeated
// INFLIGHT_SOAK times, 5,000 if it is not set, with the driver's calls, as programs make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

using Handle = void*;
using Address = unsigned long long;

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuCtxSynchronize();
int cuCtxCreate_v2(Handle*, unsigned, int);
int cuCtxDestroy_v2(Handle);
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemFree_v2(Address);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuMemFreeHost(void*);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemsetD8_v2(Address, unsigned char, std::size_t);
int cuMemAllocAsync(Address*, std::size_t, Handle);
int cuMemFreeAsync(Address, Handle);
int cuMemPoolCreate(Handle*, const void*);
int cuMemPoolDestroy(Handle);
int cuMemAllocFromPoolAsync(Address*, std::size_t, Handle, Handle);
int cuModuleLoadData(Handle*, const void*);
int cuModuleUnload(Handle);
int cuModuleGetFunction(Handle*, Handle, const char*);
int cuLibraryLoadData(Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryUnload(Handle);
int cuLibraryGetKernel(Handle*, Handle, const char*);
int cuKernelGetFunction(Handle*, Handle);
int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**);
int cuLaunchHostFunc(Handle, void (*)(void*), void*);
int cuStreamCreate(Handle*, unsigned);
int cuStreamDestroy_v2(Handle);
int cuStreamSynchronize(Handle);
int cuStreamWaitEvent(Handle, Handle, unsigned);
int cuStreamBeginCapture_v2(Handle, int);
int cuStreamEndCapture(Handle, Handle*);
int cuEventCreate(Handle*, unsigned);
int cuEventRecord(Handle, Handle);
int cuEventDestroy_v2(Handle);
int cuGraphCreate(Handle*, unsigned);
int cuGraphDestroy(Handle);
int cuGraphAddEmptyNode(Handle*, Handle, const Handle*, std::size_t);
int cuGraphAddHostNode(Handle*, Handle, const Handle*, std::size_t, const void*);
int cuGraphInstantiateWithFlags(Handle*, Handle, unsigned long long);
int cuGraphLaunch(Handle, Handle);
int cuGraphExecDestroy(Handle);
int cuUserObjectCreate(Handle*, void*, void (*)(void*), unsigned, unsigned);
int cuUserObjectRelease(Handle, unsigned);
int cuGraphRetainUserObject(Handle, Handle, unsigned, unsigned);
int cuArrayCreate_v2(Handle*, const void*);
int cuArrayDestroy(Handle);
int cuTexObjectCreate(unsigned long long*, const void*, const void*, const void*);
int cuTexObjectDestroy(unsigned long long);
int cuSurfObjectCreate(unsigned long long*, const void*);
int cuSurfObjectDestroy(unsigned long long);
int cuLinkCreate_v2(unsigned, int*, void**, Handle*);
int cuLinkAddData_v2(Handle, int, void*, std::size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(Handle, void**, std::size_t*);
int cuLinkDestroy(Handle);
int cuDeviceGetDevResource(int, void*, int);
int cuDevSmResourceSplitByCount(void*, unsigned*, const void*, void*, unsigned, unsigned);
int cuDevResourceGenerateDesc(Handle*, void*, unsigned);
int cuGreenCtxCreate(Handle*, Handle, int, unsigned);
int cuGreenCtxDestroy(Handle);
int cuGreenCtxStreamCreate(Handle*, Handle, unsigned, int);
int cuGreenCtxWaitEvent(Handle, Handle);
int cuCtxWaitEvent(Handle, Handle);
}

namespace {

constexpr unsigned non_blocking = 1;
const Handle per_thread_stream = reinterpret_cast<Handle>(2);

const std::string text = R"(
.version 8.5
.target sm_90
.address_size 64
.visible .global .align 8 .b8 room[64];
.visible .entry add(.param .u64 to) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  atom.global.add.u32 %r1, [%rd1], 1;
  ret;
})";

unsigned long repeats() {
  const char* const given = std::getenv("INFLIGHT_SOAK");
  return given ? std::strtoul(given, nullptr, 10) : 5000;
}

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// What a process takes of its host.
struct Taken {
  std::size_t heap, resident, files, maps;
};
Taken taken() {
  // Threads of destroyed streams end on their own.
  std::size_t threads = 0, unchanged = 0;
  for (int i = 0; i < 500 && unchanged < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::size_t now = entries("/proc/self/task");
    unchanged = now == threads ? unchanged + 1 : 0;
    threads = now;
  }
  const auto info = mallinfo2();
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  std::ifstream maps("/proc/self/maps");
  const auto lines = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  return {info.uordblks + info.hblkhd, resident * 4096, entries("/proc/self/fd"),
          static_cast<std::size_t>(lines)};
}

class Soak : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(context), 0);
    ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), 0);
    ASSERT_EQ(cuModuleGetFunction(&add, module, "add"), 0);
    ASSERT_EQ(cuMemAlloc_v2(&memory, 4096), 0);
    ASSERT_EQ(cuMemsetD8_v2(memory, 0, 4096), 0);
    ASSERT_EQ(cuCtxSynchronize(), 0);
  }

  int launch(Handle function, Handle stream) {
    void* parameters[] = {&memory};
    return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr);
  }

  // Repeats `each`, and compares what the process takes in the middle and at the end. `divisor`:
  // of the number of repeats, for what takes long.
  void repeat(const std::function<void(unsigned long)>& each, unsigned long divisor = 1) {
    const unsigned long half = std::max(repeats() / divisor / 2, 50ul);
    for (unsigned long i = 0; i < half && !HasFailure(); ++i) each(i);
    cuCtxSynchronize();
    const Taken middle = taken();
    for (unsigned long i = 0; i < half && !HasFailure(); ++i) each(half + i);
    cuCtxSynchronize();
    const Taken end = taken();
    // Tables that grow by doubling take a step now and then.
    constexpr std::size_t slack = 192 << 10, of_each = 8;  // bytes
    EXPECT_LT(end.heap, middle.heap + slack + of_each * half)
        << "bytes each: " << double(end.heap - middle.heap) / double(half);
    EXPECT_LT(end.resident, middle.resident + (4 << 20) + of_each * half);
    EXPECT_LE(end.files, middle.files);
    EXPECT_LE(end.maps, middle.maps + 40);
  }

  Handle context = nullptr, module = nullptr, add = nullptr;
  Address memory = 0;
};

TEST_F(Soak, Launches) {
  repeat([&](unsigned long i) {
    EXPECT_EQ(launch(add, nullptr), 0);
    if (i % 100 == 0) EXPECT_EQ(cuCtxSynchronize(), 0);
  });
}

TEST_F(Soak, Streams) {
  repeat([&](unsigned long i) {
    Handle stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, i % 2), 0);
    EXPECT_EQ(launch(add, stream), 0);
    EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
    if (i % 50 == 0) EXPECT_EQ(cuCtxSynchronize(), 0);
  });
}

TEST_F(Soak, HostThreads) {
  repeat([&](unsigned long) {
    std::thread([&] {
      EXPECT_EQ(cuCtxSetCurrent(context), 0);
      EXPECT_EQ(launch(add, per_thread_stream), 0);
      EXPECT_EQ(cuStreamSynchronize(per_thread_stream), 0);
      EXPECT_EQ(launch(add, nullptr), 0);
      EXPECT_EQ(cuStreamSynchronize(nullptr), 0);
    }).join();
  });
}

TEST_F(Soak, Events) {
  repeat([&](unsigned long i) {
    Handle event = nullptr;
    ASSERT_EQ(cuEventCreate(&event, i % 3 ? 2 : 0), 0);
    EXPECT_EQ(cuEventRecord(event, nullptr), 0);
    EXPECT_EQ(cuStreamWaitEvent(nullptr, event, 0), 0);
    EXPECT_EQ(cuEventDestroy_v2(event), 0);
    if (i % 100 == 0) EXPECT_EQ(cuCtxSynchronize(), 0);
  });
}

// Destroying a context destroys what was made in it.
TEST_F(Soak, Contexts) {
  repeat([&](unsigned long) {
    Handle made = nullptr, loaded = nullptr, stream = nullptr, event = nullptr, function = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), 0);
    Address here = 0;
    void* pinned = nullptr;
    EXPECT_EQ(cuMemAlloc_v2(&here, 4096), 0);
    EXPECT_EQ(cuMemHostAlloc(&pinned, 4096, 0), 0);
    EXPECT_EQ(cuModuleLoadData(&loaded, text.c_str()), 0);
    EXPECT_EQ(cuModuleGetFunction(&function, loaded, "add"), 0);
    EXPECT_EQ(cuStreamCreate(&stream, 0), 0);
    EXPECT_EQ(cuEventCreate(&event, 0), 0);
    EXPECT_EQ(launch(function, stream), 0);
    EXPECT_EQ(cuEventRecord(event, stream), 0);
    EXPECT_EQ(cuCtxWaitEvent(made, event), 0);
    EXPECT_EQ(cuCtxDestroy_v2(made), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), 0);
  });
}

TEST_F(Soak, GreenContexts) {
  repeat([&](unsigned long) {
    alignas(8) char all[144] = {}, part[144] = {};
    unsigned parts = 1;
    Handle described = nullptr, green = nullptr, stream = nullptr, event = nullptr;
    constexpr int multiprocessors = 1;
    ASSERT_EQ(cuDeviceGetDevResource(0, all, multiprocessors), 0);
    ASSERT_EQ(cuDevSmResourceSplitByCount(part, &parts, all, nullptr, 0, 8), 0);
    ASSERT_EQ(cuDevResourceGenerateDesc(&described, part, 1), 0);
    ASSERT_EQ(cuGreenCtxCreate(&green, described, 0, 1), 0);
    ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, non_blocking, 0), 0);
    EXPECT_EQ(launch(add, stream), 0);
    ASSERT_EQ(cuEventCreate(&event, 0), 0);
    EXPECT_EQ(cuEventRecord(event, stream), 0);
    EXPECT_EQ(cuGreenCtxWaitEvent(green, event), 0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    EXPECT_EQ(cuEventDestroy_v2(event), 0);
    EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
    EXPECT_EQ(cuGreenCtxDestroy(green), 0);
  });
}

TEST_F(Soak, Modules) {
  repeat(
      [&](unsigned long i) {
        Handle loaded = nullptr, function = nullptr;
        ASSERT_EQ(
            cuModuleLoadData(&loaded, (text + (i % 2 ? "" : "// " + std::to_string(i))).c_str()),
            0);
        EXPECT_EQ(cuModuleGetFunction(&function, loaded, "add"), 0);
        EXPECT_EQ(launch(function, nullptr), 0);
        EXPECT_EQ(cuModuleUnload(loaded), 0);
      },
      5);
}

TEST_F(Soak, Libraries) {
  repeat(
      [&](unsigned long i) {
        Handle loaded = nullptr, kernel = nullptr, function = nullptr;
        const std::string new_text = text + "// " + std::to_string(i);
        ASSERT_EQ(
            cuLibraryLoadData(&loaded, new_text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            0);
        EXPECT_EQ(cuLibraryGetKernel(&kernel, loaded, "add"), 0);
        EXPECT_EQ(cuKernelGetFunction(&function, kernel), 0);
        EXPECT_EQ(launch(function, nullptr), 0);
        EXPECT_EQ(cuLibraryUnload(loaded), 0);
      },
      5);
}

TEST_F(Soak, ModulesThatCannotBeLoaded) {
  testing::internal::CaptureStderr();
  repeat(
      [&](unsigned long i) {
        Handle loaded = nullptr;
        EXPECT_NE(cuModuleLoadData(&loaded, (text + "nonsense" + std::to_string(i)).c_str()), 0);
      },
      2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("nonsense0"));
}

TEST_F(Soak, Links) {
  repeat(
      [&](unsigned long i) {
        constexpr int ptx = 1;
        Handle state = nullptr, loaded = nullptr;
        void* image = nullptr;
        std::size_t bytes = 0;
        std::string input = text + "// " + std::to_string(i);
        ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &state), 0);
        EXPECT_EQ(
            cuLinkAddData_v2(state, ptx, input.data(), input.size() + 1, "a", 0, nullptr, nullptr),
            0);
        EXPECT_EQ(cuLinkComplete(state, &image, &bytes), 0);
        EXPECT_EQ(cuModuleLoadData(&loaded, image), 0);
        EXPECT_EQ(cuModuleUnload(loaded), 0);
        EXPECT_EQ(cuLinkDestroy(state), 0);
      },
      5);
}

TEST_F(Soak, Graphs) {
  struct HostNode {
    void (*function)(void*);
    void* data;
  } const host{[](void*) {}, nullptr};
  repeat([&](unsigned long i) {
    Handle graph = nullptr, first = nullptr, second = nullptr, exec = nullptr, object = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
    EXPECT_EQ(cuGraphAddEmptyNode(&first, graph, nullptr, 0), 0);
    EXPECT_EQ(cuGraphAddHostNode(&second, graph, &first, 1, &host), 0);
    constexpr unsigned no_sync = 1, move = 1;
    EXPECT_EQ(cuUserObjectCreate(
                  &object, nullptr, [](void*) {}, 1, no_sync),
              0);
    EXPECT_EQ(cuGraphRetainUserObject(graph, object, 1, move), 0);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT_EQ(cuGraphLaunch(exec, nullptr), 0);
    EXPECT_EQ(cuGraphExecDestroy(exec), 0);
    EXPECT_EQ(cuGraphDestroy(graph), 0);
    if (i % 100 == 0) EXPECT_EQ(cuCtxSynchronize(), 0);
  });
}

TEST_F(Soak, Captures) {
  Handle stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, non_blocking), 0);
  repeat([&](unsigned long i) {
    constexpr int relaxed = 2;
    Handle graph = nullptr, exec = nullptr;
    ASSERT_EQ(cuStreamBeginCapture_v2(stream, relaxed), 0);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(launch(add, stream), 0);
    ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT_EQ(cuGraphLaunch(exec, stream), 0);
    EXPECT_EQ(cuGraphExecDestroy(exec), 0);
    EXPECT_EQ(cuGraphDestroy(graph), 0);
    if (i % 100 == 0) EXPECT_EQ(cuStreamSynchronize(stream), 0);
  });
  EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
}

TEST_F(Soak, Memory) {
  alignas(4096) static char registered[4096];
  repeat(
      [&](unsigned long i) {
        Address made = 0;
        void* pinned = nullptr;
        ASSERT_EQ(cuMemAlloc_v2(&made, std::size_t{1} << i % 16), 0);
        EXPECT_EQ(cuMemFree_v2(made), 0);
        ASSERT_EQ(cuMemHostAlloc(&pinned, std::size_t{1} << i % 16, 0), 0);
        EXPECT_EQ(cuMemFreeHost(pinned), 0);
        ASSERT_EQ(cuMemHostRegister_v2(registered, sizeof registered, 0), 0);
        EXPECT_EQ(cuMemHostUnregister(registered), 0);
      },
      10);
}

TEST_F(Soak, Pools) {
  struct Properties {  // CUmemPoolProps
    int allocation = 1, handles = 0, location = 1, device = 0;
    char more[80] = {};
  } const properties;
  repeat([&](unsigned long i) {
    Handle pool = nullptr;
    Address made = 0, other = 0;
    ASSERT_EQ(cuMemPoolCreate(&pool, &properties), 0);
    EXPECT_EQ(cuMemAllocFromPoolAsync(&made, 4096, pool, nullptr), 0);
    EXPECT_EQ(cuMemFreeAsync(made, nullptr), 0);
    EXPECT_EQ(cuMemAllocAsync(&other, std::size_t{1} << i % 16, nullptr), 0);
    EXPECT_EQ(cuMemFreeAsync(other, nullptr), 0);
    EXPECT_EQ(cuMemPoolDestroy(pool), 0);
    if (i % 100 == 0) EXPECT_EQ(cuCtxSynchronize(), 0);
  });
}

TEST_F(Soak, TexturesAndSurfaces) {
  struct Description {  // CUDA_ARRAY_DESCRIPTOR
    std::size_t width = 16, height = 16;
    int format = 0x20;
    unsigned channels = 1;
  } const description;
  struct Resource {  // CUDA_RESOURCE_DESC
    int kind = 0;
    Handle array = nullptr;
    char more[128] = {};
  } resource;
  const char sampling[104] = {};
  repeat(
      [&](unsigned long) {
        ASSERT_EQ(cuArrayCreate_v2(&resource.array, &description), 0);
        unsigned long long texture = 0, surface = 0;
        ASSERT_EQ(cuTexObjectCreate(&texture, &resource, sampling, nullptr), 0);
        ASSERT_EQ(cuSurfObjectCreate(&surface, &resource), 0);
        EXPECT_EQ(launch(add, nullptr), 0);
        EXPECT_EQ(cuTexObjectDestroy(texture), 0);
        EXPECT_EQ(cuSurfObjectDestroy(surface), 0);
        EXPECT_EQ(cuArrayDestroy(resource.array), 0);
      },
      5);
}

TEST_F(Soak, HostFunctions) {
  repeat([&](unsigned long i) {
    EXPECT_EQ(cuLaunchHostFunc(
                  nullptr, [](void*) {}, nullptr),
              0);
    if (i % 100 == 0) EXPECT_EQ(cuCtxSynchronize(), 0);
  });
}

}  // namespace
