// Memory, modules, captures, links and user objects that end while something still uses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

using Handle = void*;
using Address = unsigned long long;

struct Location {
  int type, id;
};
// CUmemPoolProps and CUDA_MEM_ALLOC_NODE_PARAMS.
struct PoolProperties {
  int allocation, handles;
  Location location;
  void* security;
  std::size_t most;
  unsigned short usage;
  unsigned char reserved[54];
};
struct AllocateNode {
  PoolProperties pool;
  const void* access;
  std::size_t access_count, bytes;
  Address address;
};
// CUmemAllocationProp and CUmemAccessDesc.
struct PhysicalProperties {
  int type, handles;
  Location location;
  void* security;
  unsigned char flags[8];
};
struct Access {
  Location location;
  int flags;
};

constexpr int success = 0, invalid_value = 1, invalid_ptx = 218, invalid_handle = 400,
              illegal_state = 401, not_found = 500, illegal_address = 700;
constexpr unsigned non_blocking = 1;
constexpr int relaxed = 2, global_mode = 0;
const Handle per_thread_stream = reinterpret_cast<Handle>(std::uintptr_t{2});

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuCtxSynchronize();
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemFreeAsync(Address, Handle);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuMemFreeHost(void*);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemcpyHtoD_v2(Address, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, Address, std::size_t);
int cuMemsetD8_v2(Address, unsigned char, std::size_t);
int cuMemsetD8Async(Address, unsigned char, std::size_t, Handle);
int cuMemAddressReserve(Address*, std::size_t, std::size_t, Address, unsigned long long);
int cuMemCreate(unsigned long long*, std::size_t, const void*, unsigned long long);
int cuMemMap(Address, std::size_t, std::size_t, unsigned long long, unsigned long long);
int cuMemUnmap(Address, std::size_t);
int cuMemAddressFree(Address, std::size_t);
int cuMemcpy(Address, Address, std::size_t);
int cuMemcpyAsync(Address, Address, std::size_t, Handle);
int cuMemSetAccess(Address, std::size_t, const void*, std::size_t);
int cuModuleLoadData(Handle*, const void*);
int cuModuleUnload(Handle);
int cuModuleGetFunction(Handle*, Handle, const char*);
int cuModuleGetGlobal_v2(Address*, std::size_t*, Handle, const char*);
int cuModuleGetFunctionCount(unsigned*, Handle);
int cuLibraryLoadData(Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryUnload(Handle);
int cuLibraryGetKernel(Handle*, Handle, const char*);
int cuLibraryGetGlobal(Address*, std::size_t*, Handle, const char*);
int cuLibraryGetKernelCount(unsigned*, Handle);
int cuKernelGetFunction(Handle*, Handle);
int cuKernelGetAttribute(int*, int, Handle, int);
int cuFuncGetAttribute(int*, int, Handle);
int cuFuncGetParamInfo(Handle, std::size_t, std::size_t*, std::size_t*);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, Handle, int, std::size_t);
int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**);
int cuLinkCreate_v2(unsigned, int*, void**, Handle*);
int cuLinkAddData_v2(Handle, int, void*, std::size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(Handle, void**, std::size_t*);
int cuLinkDestroy(Handle);
int cuStreamCreate(Handle*, unsigned);
int cuStreamDestroy_v2(Handle);
int cuStreamSynchronize(Handle);
int cuStreamWaitEvent(Handle, Handle, unsigned);
int cuStreamWaitValue32_v2(Handle, Address, unsigned, unsigned);
int cuStreamBeginCapture_v2(Handle, int);
int cuStreamBeginCaptureToGraph(Handle, Handle, Handle*, const void*, std::size_t, int);
int cuStreamEndCapture(Handle, Handle*);
int cuStreamIsCapturing(Handle, int*);
int cuStreamGetCaptureInfo_v3(Handle, int*, unsigned long long*, Handle*, Handle**, const void**,
                              std::size_t*);
int cuEventCreate(Handle*, unsigned);
int cuEventRecord(Handle, Handle);
int cuEventDestroy_v2(Handle);
int cuGraphCreate(Handle*, unsigned);
int cuGraphDestroy(Handle);
int cuGraphDestroyNode(Handle);
int cuGraphAddEmptyNode(Handle*, Handle, Handle*, std::size_t);
int cuGraphAddMemAllocNode(Handle*, Handle, Handle*, std::size_t, AllocateNode*);
int cuGraphInstantiateWithFlags(Handle*, Handle, unsigned long long);
int cuGraphExecDestroy(Handle);
int cuGraphLaunch(Handle, Handle);
int cuUserObjectCreate(Handle*, void*, void (*)(void*), unsigned, unsigned);
int cuUserObjectRetain(Handle, unsigned);
int cuUserObjectRelease(Handle, unsigned);
int cuGraphRetainUserObject(Handle, Handle, unsigned, unsigned);
int cuGraphReleaseUserObject(Handle, Handle, unsigned);
}

namespace {

// store(p): writes its parameter at p. wait(flag, from, to): copies 16 bytes asynchronously, says
// so in flag[1], waits for flag[0], and then for the copy.
constexpr const char* text = R"(
.version 8.5
.target sm_90
.address_size 64
.visible .global .align 8 .b8 variable[64];
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.global.u64 [%rd1], %rd1;
  ret;
}
.visible .entry wait(.param .u64 flag, .param .u64 from, .param .u64 to) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<5>;
  .reg .pred %p;
  .shared .align 16 .b8 place[16];
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [from];
  ld.param.u64 %rd3, [to];
  mov.u32 %r1, place;
  cp.async.ca.shared.global [%r1], [%rd2], 16;
  mov.u32 %r2, 1;
  st.volatile.global.u32 [%rd1+4], %r2;
AGAIN:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.eq.u32 %p, %r3, 0;
  @%p bra AGAIN;
  cp.async.wait_all;
  ld.shared.u32 %r4, [%r1];
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

class DriverLifetimes : public testing::Test {
 protected:
  void SetUp() override {
    setenv("INFLIGHT_DEVICES", "2", 1);
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    use();
  }
  void use() const { ASSERT_EQ(cuCtxSetCurrent(context_), success); }
  static Address allocate(std::size_t bytes) {
    Address address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), success);
    return address;
  }
  static Handle stream() {
    Handle made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, non_blocking), success);
    return made;
  }
  static Handle function(const char* name) {
    Handle module = nullptr, found = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, text), success);
    EXPECT_EQ(cuModuleGetFunction(&found, module, name), success);
    return found;
  }
  static int launch(Handle function, Handle stream, std::vector<void*> arguments) {
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.data(), nullptr);
  }
  // Pinned words, which are 0.
  static std::atomic<unsigned>* flags() {
    void* made = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&made, 4096, 0), success);
    return static_cast<std::atomic<unsigned>*>(made);
  }
  static Address address(const void* p) { return reinterpret_cast<Address>(p); }

  // For a while calls `maker` again and again, and meanwhile each of `users`.
  template <class Maker, class... Users>
  void race(Maker maker, Users... users) const {
    constexpr std::chrono::milliseconds time{600};
    std::atomic<unsigned> begun{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    const auto start = [&](auto user) {
      threads.emplace_back([&, user] {
        use();
        for (++begun; !over;) user();
      });
    };
    (start(users), ...);
    while (begun != sizeof...(users)) std::this_thread::yield();
    for (const auto end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end;)
      maker();
    over = true;
    for (std::thread& each : threads) each.join();
  }
  Handle context_ = nullptr;
};

// What a call with the handle of a module, kernel or stream may return while another thread ends
// it.
constexpr auto found_or_not = [](int code) {
  EXPECT_THAT(code, testing::AnyOf(success, invalid_handle, not_found)) << "another code";
  return code == success;
};

TEST_F(DriverLifetimes, ModulesEndBesideCallsThatNameTheirKernels) {
  std::atomic<Handle> module{nullptr}, function{nullptr};
  const Address place = allocate(64);
  race(
      [&] {
        Handle loaded = nullptr, found = nullptr;
        ASSERT_EQ(cuModuleLoadData(&loaded, text), success);
        ASSERT_EQ(cuModuleGetFunction(&found, loaded, "store"), success);
        module = loaded, function = found;
        std::this_thread::yield();
        ASSERT_EQ(cuModuleUnload(loaded), success);
      },
      [&] {
        int value = 0;
        std::size_t offset = 0, size = 0;
        found_or_not(cuFuncGetAttribute(&value, 4, function));
        found_or_not(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 64, 0));
        found_or_not(cuFuncGetParamInfo(function, 0, &offset, &size));
      },
      [&] {
        void* arguments[] = {const_cast<Address*>(&place)};
        found_or_not(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
      },
      [&] {
        Address address = 0;
        std::size_t bytes = 0;
        unsigned count = 0;
        found_or_not(cuModuleGetGlobal_v2(&address, &bytes, module, "variable"));
        found_or_not(cuModuleGetFunctionCount(&count, module));
      });
  EXPECT_EQ(cuCtxSynchronize(), success);
}

TEST_F(DriverLifetimes, LibrariesEndBesideCallsThatNameTheirKernels) {
  std::atomic<Handle> library{nullptr}, kernel{nullptr};
  const Address place = allocate(64);
  race(
      [&] {
        Handle loaded = nullptr, found = nullptr;
        ASSERT_EQ(cuLibraryLoadData(&loaded, text, nullptr, nullptr, 0, nullptr, nullptr, 0),
                  success);
        ASSERT_EQ(cuLibraryGetKernel(&found, loaded, "store"), success);
        library = loaded, kernel = found;
        std::this_thread::yield();
        ASSERT_EQ(cuLibraryUnload(loaded), success);
      },
      [&] {
        Handle function = nullptr;
        void* arguments[] = {const_cast<Address*>(&place)};
        if (found_or_not(cuKernelGetFunction(&function, kernel)))
          found_or_not(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
        int value = 0;
        found_or_not(cuKernelGetAttribute(&value, 4, kernel, 0));
      },
      [&] {
        Address address = 0;
        std::size_t bytes = 0;
        unsigned count = 0;
        found_or_not(cuLibraryGetGlobal(&address, &bytes, library, "variable"));
        found_or_not(cuLibraryGetKernelCount(&count, library));
      });
  EXPECT_EQ(cuCtxSynchronize(), success);
}

TEST_F(DriverLifetimes, CapturesEndBesideCallsThatAddToThem) {
  const Handle captured = stream();
  const Address place = allocate(64);
  race(
      [&] {
        cuStreamBeginCapture_v2(captured, relaxed);
        cuMemsetD8Async(place, 1, 8, captured);
        Handle graph = nullptr;
        cuStreamEndCapture(captured, &graph);
        if (graph) EXPECT_EQ(cuGraphDestroy(graph), success);
      },
      [&] {
        int status = 0;
        unsigned long long id = 0;
        Handle graph = nullptr, *nodes = nullptr;
        const void* edges = nullptr;
        std::size_t count = 0;
        cuMemsetD8Async(place, 2, 16, captured);
        cuStreamGetCaptureInfo_v3(captured, &status, &id, &graph, &nodes, &edges, &count);
      },
      [&] {
        Handle event = nullptr;
        EXPECT_EQ(cuEventCreate(&event, 0), success);
        cuEventRecord(event, captured);
        cuStreamWaitEvent(captured, event, 0);
        EXPECT_EQ(cuEventDestroy_v2(event), success);
      },
      [&] {
        Handle graph = nullptr;
        cuStreamEndCapture(captured, &graph);
        if (graph) EXPECT_EQ(cuGraphDestroy(graph), success);
      });
  EXPECT_EQ(cuCtxSynchronize(), success);
}

// As on an H200.
TEST_F(DriverLifetimes, AGraphAndItsNodesCannotBeDestroyedDuringTheirCapture) {
  const Handle captured = stream(), other = stream();
  const Address place = allocate(64);
  Handle event = nullptr, graph = nullptr, *nodes = nullptr;
  int status = 0;
  unsigned long long id = 0;
  const void* edges = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(cuEventCreate(&event, 2), success);
  ASSERT_EQ(cuStreamBeginCapture_v2(captured, relaxed), success);
  ASSERT_EQ(cuMemsetD8Async(place, 1, 16, captured), success);
  ASSERT_EQ(cuEventRecord(event, captured), success);
  ASSERT_EQ(cuStreamGetCaptureInfo_v3(captured, &status, &id, &graph, &nodes, &edges, &count),
            success);
  ASSERT_EQ(count, 1u);
  const Handle node = nodes[0];
  EXPECT_EQ(cuGraphDestroyNode(node), illegal_state);
  EXPECT_EQ(cuGraphDestroy(graph), illegal_state);
  EXPECT_EQ(cuStreamWaitEvent(other, event, 0), success);
  EXPECT_EQ(cuMemsetD8Async(place, 2, 16, other), success);
  EXPECT_EQ(cuGraphDestroyNode(node), illegal_state);
  EXPECT_EQ(cuEventRecord(event, other), success);
  EXPECT_EQ(cuStreamWaitEvent(captured, event, 0), success);
  EXPECT_EQ(cuStreamIsCapturing(captured, &status), success);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(cuStreamEndCapture(captured, &graph), success);
  EXPECT_EQ(cuGraphDestroyNode(node), success);
  EXPECT_EQ(cuGraphDestroy(graph), success);
}

TEST_F(DriverLifetimes, AGraphCannotBeDestroyedWhileACaptureAddsToIt) {
  const Handle captured = stream();
  Handle graph = nullptr, foreign = nullptr, node = nullptr, other = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), success);
  ASSERT_EQ(cuGraphCreate(&foreign, 0), success);
  ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), success);
  ASSERT_EQ(cuGraphAddEmptyNode(&other, foreign, nullptr, 0), success);
  EXPECT_EQ(cuStreamBeginCaptureToGraph(captured, graph, &other, nullptr, 1, relaxed),
            invalid_value)
      << "a node of another graph";
  ASSERT_EQ(cuStreamBeginCaptureToGraph(captured, graph, &node, nullptr, 1, relaxed), success);
  EXPECT_EQ(cuGraphDestroyNode(node), illegal_state);
  EXPECT_EQ(cuGraphDestroy(graph), illegal_state);
  EXPECT_EQ(cuGraphDestroyNode(other), success);
  Handle same = nullptr;
  EXPECT_EQ(cuStreamEndCapture(captured, &same), success);
  EXPECT_EQ(same, graph);
  EXPECT_EQ(cuGraphDestroyNode(node), success);
  EXPECT_EQ(cuGraphDestroy(graph), success);
}

TEST_F(DriverLifetimes, ACaptureEndsWithTheThreadWhoseStreamBeganIt) {
  std::thread([&] {
    use();
    EXPECT_EQ(cuStreamBeginCapture_v2(per_thread_stream, global_mode), success);
  }).join();
  Address place = 0;
  EXPECT_EQ(cuMemAlloc_v2(&place, 64), success) << "no capture is left that it could disturb";
}

// The address of a graph's memory, which a launch has allocated.
struct GraphAllocation {
  Handle graph = nullptr, exec = nullptr;
  Address address = 0;
  explicit GraphAllocation(Handle stream) {
    AllocateNode node{};
    Handle made = nullptr;
    node.pool.allocation = 1;
    node.pool.location = {1, 0};
    node.bytes = 1 << 16;
    EXPECT_EQ(cuGraphCreate(&graph, 0), success);
    EXPECT_EQ(cuGraphAddMemAllocNode(&made, graph, nullptr, 0, &node), success);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), success);
    EXPECT_EQ(cuGraphLaunch(exec, stream), success);
    EXPECT_EQ(cuStreamSynchronize(stream), success);
    address = node.address;
  }
  void destroy() {
    EXPECT_EQ(cuGraphExecDestroy(exec), success);
    EXPECT_EQ(cuGraphDestroy(graph), success);
  }
};

TEST_F(DriverLifetimes, AGraphsMemoryStaysWhileAKernelCopiesFromIt) {
  const Handle user = stream(), other = stream();
  GraphAllocation memory(user);
  std::atomic<unsigned>* flag = flags();
  Address flag_address = address(flag), to = allocate(64);
  ASSERT_EQ(launch(function("wait"), user, {&flag_address, &memory.address, &to}), success);
  while (flag[1] == 0) std::this_thread::yield();
  EXPECT_EQ(cuMemFreeAsync(memory.address, other), success);
  EXPECT_EQ(cuStreamSynchronize(other), success);
  memory.destroy();
  flag[0] = 1;
  EXPECT_EQ(cuStreamSynchronize(user), success);
}

TEST_F(DriverLifetimes, AFillOfAGraphsFreedMemoryDoesNotReachTheProgramsOwn) {
  const Handle user = stream(), other = stream();
  GraphAllocation memory(user);
  std::atomic<unsigned>* flag = flags();
  ASSERT_EQ(cuStreamWaitValue32_v2(user, address(flag), 1, 1), success);
  ASSERT_EQ(cuMemsetD8Async(memory.address, 0x41, 1 << 16, user), success);
  EXPECT_EQ(cuMemFreeAsync(memory.address, other), success);
  EXPECT_EQ(cuStreamSynchronize(other), success);
  memory.destroy();
  void* const own = mmap(reinterpret_cast<void*>(memory.address), 1 << 16, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(own, MAP_FAILED) << "the addresses are still in use";
  flag[0] = 1;
  EXPECT_EQ(cuStreamSynchronize(user), illegal_address);
  if (own == MAP_FAILED) return;
  const auto* const bytes = static_cast<const char*>(own);
  EXPECT_EQ(std::count(bytes, bytes + (1 << 16), '\0'), 1 << 16);
}

// Blocks a stream of device 1. Whatever frees host memory waits for it.
class DriverLifetimesOfHostMemory : public DriverLifetimes {
 protected:
  void SetUp() override {
    DriverLifetimes::SetUp();
    flag_ = flags();
    Handle second = nullptr;
    if (cuDevicePrimaryCtxRetain(&second, 1) != success)
      GTEST_SKIP() << "another test of this process chose the devices";
    ASSERT_EQ(cuCtxSetCurrent(second), success);
    stream_ = stream();
    ASSERT_EQ(cuStreamWaitValue32_v2(stream_, address(flag_), 1, 1), success);
    use();
  }
  template <class Free>
  void expect_wait(Free free) {
    auto freed = std::async(std::launch::async, [&] {
      use();
      return free();
    });
    EXPECT_EQ(freed.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    flag_[0] = 1;
    EXPECT_EQ(freed.get(), success);
    EXPECT_EQ(cuCtxSynchronize(), success);
  }
  std::atomic<unsigned>* flag_ = nullptr;
  Handle stream_ = nullptr;
};

TEST_F(DriverLifetimesOfHostMemory, FreeingWaitsForEachDevice) {
  void* memory = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&memory, 4096, 0), success);
  expect_wait([&] { return cuMemFreeHost(memory); });
}

TEST_F(DriverLifetimesOfHostMemory, UnregisteringWaitsForEachDevice) {
  std::vector<char> memory(8192);
  ASSERT_EQ(cuMemHostRegister_v2(memory.data(), memory.size(), 0), success);
  expect_wait([&] { return cuMemHostUnregister(memory.data()); });
}

TEST_F(DriverLifetimes, PinnedMemoryEndsBesideCopiesThatNameIt) {
  std::atomic<void*> pinned{nullptr};
  const Handle copies = stream();
  race(
      [&] {
        void* memory = nullptr;
        if (cuMemHostAlloc(&memory, 1 << 16, 0) != success) return;
        pinned = memory;
        std::this_thread::yield();
        pinned = nullptr;
        cuMemFreeHost(memory);
      },
      [&] {
        // If the memory is freed after the call and before the copy, the copy is an error.
        if (void* const to = pinned) cuMemsetD8Async(address(to), 1, 1 << 16, copies);
      });
  EXPECT_THAT(cuCtxSynchronize(), testing::AnyOf(success, illegal_address));
}

TEST_F(DriverLifetimes, MappingsEndBesideFillsThatNameThem) {
  constexpr std::size_t bytes = 2 << 20;
  const PhysicalProperties properties{1, 0, {1, 0}, nullptr, {}};
  const Access access{{1, 0}, 3};
  Address place = 0;
  unsigned long long memory = 0;
  ASSERT_EQ(cuMemAddressReserve(&place, bytes, 0, 0, 0), success);
  ASSERT_EQ(cuMemCreate(&memory, bytes, &properties, 0), success);
  const Handle fills = stream();
  race(
      [&] {
        if (cuMemMap(place, bytes, 0, memory, 0) != success) return;
        cuMemSetAccess(place, bytes, &access, 1);
        std::this_thread::yield();
        cuMemUnmap(place, bytes);
      },
      [&] { cuMemsetD8Async(place, 1, 4096, fills); });
  EXPECT_THAT(cuCtxSynchronize(), testing::AnyOf(success, illegal_address));
}

TEST_F(DriverLifetimes, ReservedAddressesWithoutMemoryAreNoneOfTheHost) {
  constexpr std::size_t bytes = 2 << 20;
  const PhysicalProperties properties{1, 0, {1, 0}, nullptr, {}};
  const Access access{{1, 0}, 3};
  const Address known = allocate(4096);
  Address place = 0;
  unsigned long long memory = 0;
  char own[64] = {};
  ASSERT_EQ(cuMemAddressReserve(&place, bytes, 0, 0, 0), success);
  const auto expect_copies = [&](int code) {
    EXPECT_EQ(cuMemcpy(place, known, sizeof own), code);
    EXPECT_EQ(cuMemcpy(known, place, sizeof own), code);
    EXPECT_EQ(cuMemcpy(place, address(own), sizeof own), code);
    EXPECT_EQ(cuMemcpyAsync(address(own), place, sizeof own, nullptr), code);
  };
  expect_copies(invalid_value);
  ASSERT_EQ(cuMemCreate(&memory, bytes, &properties, 0), success);
  ASSERT_EQ(cuMemMap(place, bytes, 0, memory, 0), success);
  expect_copies(invalid_value);
  ASSERT_EQ(cuMemSetAccess(place, bytes, &access, 1), success);
  expect_copies(success);
  ASSERT_EQ(cuMemUnmap(place, bytes), success);
  expect_copies(invalid_value);
  ASSERT_EQ(cuMemAddressFree(place, bytes), success);
}

TEST_F(DriverLifetimes, ALinkNeedsOnlyTheValuesOfItsOptions) {
  std::string log(1000, '\0');
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  Handle link = nullptr;
  ASSERT_EQ(cuLinkCreate_v2(2, options, values, &link), success);
  options[0] = options[1] = 0;
  char garbage[] = "\x01garbage";
  EXPECT_EQ(cuLinkAddData_v2(link, 1, garbage, sizeof garbage, "input", 0, nullptr, nullptr),
            invalid_ptx);
  EXPECT_THAT(log.c_str(), testing::HasSubstr("input"));
  EXPECT_EQ(cuLinkDestroy(link), success);
}

TEST_F(DriverLifetimes, ThreadsMayShareALink) {
  const auto part = [](const std::string& name) {
    return ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry " + name + "(){ret;}\n";
  };
  for (int round = 0; round < 30; ++round) {
    Handle link = nullptr;
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), success);
    std::atomic<int> begun{0};
    const auto add = [&](char name) {
      use();
      for (++begun; begun != 2;) {
      }
      for (int i = 0; i < 100; ++i) {
        std::string text = part(name + std::to_string(i));
        EXPECT_EQ(
            cuLinkAddData_v2(link, 1, text.data(), text.size() + 1, "part", 0, nullptr, nullptr),
            success);
      }
      void* image = nullptr;
      std::size_t bytes = 0;
      EXPECT_EQ(cuLinkComplete(link, &image, &bytes), success);
      EXPECT_GT(bytes, 100 * part("a00").size());
    };
    std::thread first(add, 'a'), second(add, 'b');
    first.join();
    second.join();
    EXPECT_EQ(cuLinkDestroy(link), success);
  }
}

TEST_F(DriverLifetimes, TheCountOfAUserObjectDoesNotWrap) {
  constexpr unsigned most_at_once = 0x7fffffff;
  static std::atomic<int> destroyed{0};
  Handle object = nullptr, graph = nullptr;
  ASSERT_EQ(cuUserObjectCreate(
                &object, nullptr, [](void*) { ++destroyed; }, most_at_once, 1),
            success);
  ASSERT_EQ(cuGraphCreate(&graph, 0), success);
  // As on an H200, up to here.
  EXPECT_EQ(cuUserObjectRetain(object, most_at_once + 1), invalid_value);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, most_at_once + 1, 0), invalid_value);
  EXPECT_EQ(cuUserObjectRelease(object, most_at_once + 1), invalid_value);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, most_at_once + 1), invalid_value);
  EXPECT_EQ(cuUserObjectRetain(object, 1), success);
  EXPECT_EQ(cuUserObjectRetain(object, most_at_once), success);
  // There, the count would be 0 now, and the object destroyed.
  EXPECT_EQ(cuUserObjectRetain(object, 1), invalid_value);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, 1, 0), invalid_value);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuUserObjectRelease(object, most_at_once), success);
  EXPECT_EQ(cuUserObjectRelease(object, most_at_once), success);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuUserObjectRelease(object, 1), success);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cuUserObjectRetain(object, 1), invalid_value) << "it has ended";
  EXPECT_EQ(destroyed, 1);
}

// Registered memory of the program, which changes it without unregistering it.
class RegisteredMemory : public DriverLifetimes {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer does not follow a handler that jumps out of a fault";
#endif
    DriverLifetimes::SetUp();
  }
  static constexpr std::size_t bytes = 1 << 16;
  void* map(int flags = MAP_ANONYMOUS, int file = -1) {
    void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            (file < 0 ? MAP_PRIVATE : MAP_SHARED) | flags, file, 0);
    EXPECT_NE(made, MAP_FAILED);
    EXPECT_EQ(cuMemHostRegister_v2(made, bytes, 0), success);
    return made;
  }
};

TEST_F(RegisteredMemory, ThatIsUnmappedMakesACopyFail) {
  void* const memory = map();
  const Address place = allocate(bytes);
  munmap(memory, bytes);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemcpyHtoD_v2(place, memory, bytes), illegal_address);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("unmapped, protected or truncated since"));
}

TEST_F(RegisteredMemory, ThatIsProtectedMakesAFillFail) {
  void* const memory = map();
  mprotect(memory, bytes, PROT_READ);
  EXPECT_EQ(cuMemsetD8_v2(address(memory) + 100, 1, 100), illegal_address);
}

TEST_F(RegisteredMemory, WhoseFileIsTruncatedMakesACopyFail) {
  const int file = memfd_create("registered", 0);
  ASSERT_EQ(ftruncate(file, bytes), 0);
  void* const memory = map(0, file);
  const Address place = allocate(bytes);
  ASSERT_EQ(ftruncate(file, 0), 0);
  EXPECT_EQ(cuMemcpyDtoH_v2(memory, place, bytes), illegal_address);
}

TEST_F(RegisteredMemory, ThatIsProtectedIsNamedBeforeAKernelEndsTheProcess) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer's handler of SIGSEGV counts as the program's own";
#endif
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        void* const memory = map();
        Address place = address(memory);
        mprotect(memory, bytes, PROT_READ);
        launch(function("store"), nullptr, {&place});
        cuCtxSynchronize();
      },
      "a kernel accesses 0x.* that the program registered .* protected or truncated since");
}

}  // namespace
