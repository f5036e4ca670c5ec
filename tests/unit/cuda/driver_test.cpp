// Programs that call the driver API only through libcuda.so.1, as users do.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using Handle = void*;
using Address = unsigned long long;
enum Code {
  success = 0,
  invalid_value = 1,
  not_initialized = 3,
  invalid_image = 200,
  invalid_context = 201,
  no_binary = 209,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  context_destroyed = 709,
  not_supported = 801
};

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetName(char*, int, int);
int cuDeviceGetPCIBusId(char*, int, int);
int cuDeviceGetByPCIBusId(int*, const char*);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxCreate_v2(Handle*, unsigned, int);
int cuCtxDestroy_v2(Handle);
int cuCtxSetCurrent(Handle);
int cuCtxGetCurrent(Handle*);
int cuCtxPushCurrent_v2(Handle);
int cuCtxPopCurrent_v2(Handle*);
int cuCtxSynchronize();
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemFree_v2(Address);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuMemcpyHtoD_v2(Address, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, Address, std::size_t);
int cuMemsetD8_v2(Address, unsigned char, std::size_t);
int cuMemsetD16_v2(Address, unsigned short, std::size_t);
int cuMemsetD32_v2(Address, unsigned, std::size_t);
int cuMemsetD2D32_v2(Address, std::size_t pitch, unsigned, std::size_t, std::size_t);
int cuMemGetAddressRange_v2(Address*, std::size_t*, Address);
int cuPointerGetAttribute(void*, int, Address);
int cuModuleLoadData(Handle*, const void*);
int cuModuleLoadDataEx(Handle*, const void*, unsigned, int*, void**);
int cuModuleUnload(Handle);
int cuModuleGetFunction(Handle*, Handle, const char*);
int cuModuleGetFunctionCount(unsigned*, Handle);
int cuModuleGetGlobal_v2(Address*, std::size_t*, Handle, const char*);
int cuFuncGetParamInfo(Handle, std::size_t, std::size_t*, std::size_t*);
int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**);
int cuLinkCreate_v2(unsigned, int*, void**, Handle*);
int cuLinkAddData_v2(Handle, int, void*, std::size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(Handle, void**, std::size_t*);
int cuLinkDestroy(Handle);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuGetProcAddress_v2_ptsz(const char*, void**, int, unsigned long long, int*);
int cuGetExportTable(const void**, const void*);
int cuGetErrorName(int, const char**);
int cuMemAddressReserve(Address*, std::size_t, std::size_t, Address, unsigned long long);
int cuMemAddressFree(Address, std::size_t);
int cuMemCreate(unsigned long long*, std::size_t, const void*, unsigned long long);
int cuMemGetInfo_v2(std::size_t*, std::size_t*);
int cuMemRelease(unsigned long long);
int cuMemMap(Address, std::size_t, std::size_t, unsigned long long, unsigned long long);
int cuMemUnmap(Address, std::size_t);
int cuMemSetAccess(Address, std::size_t, const void*, std::size_t);
int cuMemcpy2D_v2(const void*);
int cuCtxCreate_v4(Handle*, void*, unsigned, int);
int cuMemcpyDtoA_v2(Handle, std::size_t, Address, std::size_t);
int cuTexRefCreate(Handle*);
int cuStreamCreate(Handle*, unsigned);
int cuStreamQuery(Handle);
int cuStreamSynchronize(Handle);
int cuStreamDestroy_v2(Handle);
int cuStreamWaitValue32_v2(Handle, Address, unsigned, unsigned);
int cuStreamWriteValue32_v2(Handle, Address, unsigned, unsigned);
}

namespace {

// out[i] = in[i] + scale * extra, where `extra` is a variable of the module.
constexpr const char* scale_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 extra = 5;
.visible .entry scale(.param .u64 out, .param .u64 in, .param .u32 factor) {
  .reg .u32 %r<6>;
  .reg .u64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  ld.global.u32 %r4, [extra];
  mad.lo.u32 %r5, %r1, %r4, %r3;
  add.u64 %rd5, %rd1, %rd3;
  st.global.u32 [%rd5], %r5;
  ret;
}
)";

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context_), success);
  }
  Address allocate(std::size_t bytes) {
    Address address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), success);
    return address;
  }
  Handle load(const void* image) {
    Handle module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, image), success);
    return module;
  }
  Handle function(Handle module, const char* name) {
    Handle result = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&result, module, name), success);
    return result;
  }
  template <class T>
  std::vector<T> read(Address from, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), from, count * sizeof(T)), success);
    return values;
  }
  Handle context_ = nullptr;
};

TEST(DriverBegin, NothingWorksBeforeInit) {
  int device = 0;
  EXPECT_EQ(cuDeviceGet(&device, 0), not_initialized);
  ASSERT_EQ(cuInit(0), success);
  EXPECT_EQ(cuInit(1), invalid_value);
  EXPECT_EQ(cuDeviceGet(&device, 0), success);
  Address address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 4), invalid_context);
}

TEST_F(Driver, ContextsStack) {
  Handle made = nullptr, top = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), success);
  EXPECT_EQ(cuCtxGetCurrent(&top), success);
  EXPECT_EQ(top, made);
  EXPECT_EQ(cuCtxPopCurrent_v2(&top), success);
  EXPECT_EQ(top, made);
  EXPECT_EQ(cuCtxGetCurrent(&top), success);
  EXPECT_EQ(top, context_);
  EXPECT_EQ(cuCtxPushCurrent_v2(made), success);
  EXPECT_EQ(cuCtxPushCurrent_v2(made), success);
  EXPECT_EQ(cuCtxDestroy_v2(made), success);
  EXPECT_EQ(cuCtxSynchronize(), context_destroyed);
  EXPECT_EQ(cuCtxDestroy_v2(made), invalid_context);
  EXPECT_EQ(cuCtxPushCurrent_v2(made), invalid_context);
}

TEST_F(Driver, AContextTakesWhatWasMadeInItAlong) {
  Handle made = nullptr, module = nullptr;
  Address memory = 0, outside = 0;
  ASSERT_EQ(cuMemAlloc_v2(&outside, 4096), success);
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), success);
  ASSERT_EQ(cuMemAlloc_v2(&memory, 4096), success);
  ASSERT_EQ(cuModuleLoadData(&module, ".version 7.0\n.target sm_80\n.address_size 64\n"), success);
  ASSERT_EQ(cuCtxDestroy_v2(made), success);
  ASSERT_EQ(cuCtxSetCurrent(context_), success);
  EXPECT_EQ(cuMemGetAddressRange_v2(nullptr, nullptr, outside), success);
  EXPECT_EQ(cuMemFree_v2(outside), success);
  EXPECT_EQ(cuMemFree_v2(memory), invalid_value);
  EXPECT_EQ(cuModuleUnload(module), invalid_handle);
}

TEST_F(Driver, DevicesAreFoundByTheirAddress) {
  char text[32], name[8];
  int device = -1;
  ASSERT_EQ(cuDeviceGetPCIBusId(text, sizeof text, 0), success);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, text), success);
  EXPECT_EQ(device, 0);
  unsigned domain = 0, bus = 0, slot = 0;
  ASSERT_EQ(std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot), 3);
  for (const char* form : {"%x:%x:%x", "%04x:%02x:%02x", "%X:%X:%X.0", "%04X:%02X:%02x.0"}) {
    std::snprintf(text, sizeof text, form, domain, bus, slot);
    device = -1;
    EXPECT_EQ(cuDeviceGetByPCIBusId(&device, text), success) << text;
    EXPECT_EQ(device, 0) << text;
  }
  std::snprintf(text, sizeof text, "%x:%x.0", bus, slot);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, text), success) << text;
  EXPECT_NE(cuDeviceGetByPCIBusId(&device, "ffff:ff:ff.0"), success);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "no address"), invalid_value);
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, 0), success);
  EXPECT_STREQ(name, "NVIDIA ");
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, 10, 0), success);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 9999, 0), invalid_value);
}

TEST_F(Driver, AKernelOfPtxTextRuns) {
  Handle module = load(scale_ptx);
  Handle scale = function(module, "scale");
  std::vector<int> in(32);
  std::iota(in.begin(), in.end(), 0);
  Address from = allocate(128), to = allocate(128);
  ASSERT_EQ(cuMemcpyHtoD_v2(from, in.data(), 128), success);
  unsigned factor = 2;
  void* arguments[] = {&to, &from, &factor};
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), success);
  std::vector<int> out = read<int>(to, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i + 10);

  // The same with parameters in one buffer and another value of the variable.
  Address extra = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&extra, &bytes, module, "extra"), success);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(read<int>(extra, 1)[0], 5);
  ASSERT_EQ(cuMemsetD32_v2(extra, 7, 1), success);
  struct {
    Address to, from;
    unsigned factor;
  } packed{to, from, 3};
  std::size_t size = sizeof packed;
  void* list[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &size, nullptr};
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, list), success);
  EXPECT_EQ(read<int>(to, 32)[31], 31 + 21);
  // The buffer may be shorter: NCCL passes only the bytes that a launch uses. The rest is zero
  // here.
  size = 16;
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, list), success);
  EXPECT_EQ(read<int>(to, 32)[31], 31);
}

TEST_F(Driver, ModulesTellWhatTheyHold) {
  Handle module = load(scale_ptx), kernel = nullptr;
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module), success);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cuModuleGetFunction(&kernel, module, "other"), not_found);
  EXPECT_EQ(cuModuleGetGlobal_v2(nullptr, nullptr, module, "extra"), invalid_value);
  std::size_t offset = 0, size = 0;
  Handle scale = function(module, "scale");
  EXPECT_EQ(cuFuncGetParamInfo(scale, 2, &offset, &size), success);
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(scale, 3, &offset, &size), invalid_value);
  EXPECT_EQ(cuModuleUnload(module), success);
  EXPECT_EQ(cuModuleUnload(module), invalid_handle);
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), invalid_handle);
}

TEST_F(Driver, BadImagesAreRefused) {
  Handle module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), invalid_value);
  EXPECT_EQ(cuModuleLoadData(&module, "no image at all"), invalid_image);
  EXPECT_EQ(cuModuleLoadData(&module, ""), invalid_image);
  char log[200] = "";
  int options[] = {5, 6};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_80\n.visible .entry k( {\n", 2,
                               options, values),
            invalid_ptx);
  EXPECT_NE(std::string(log), "");
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::string(log).size());
}

TEST_F(Driver, MemoryIsFilledByElement) {
  Address memory = allocate(64);
  ASSERT_EQ(cuMemsetD8_v2(memory, 0x11, 64), success);
  ASSERT_EQ(cuMemsetD16_v2(memory + 4, 0x2233, 2), success);
  ASSERT_EQ(cuMemsetD2D32_v2(memory + 16, 16, 0x44556677, 2, 2), success);
  std::vector<unsigned> words = read<unsigned>(memory, 16);
  EXPECT_THAT(
      std::vector(words.begin(), words.begin() + 12),
      testing::ElementsAre(0x11111111, 0x22332233, 0x11111111, 0x11111111, 0x44556677, 0x44556677,
                           0x11111111, 0x11111111, 0x44556677, 0x44556677, 0x11111111, 0x11111111));
  EXPECT_EQ(cuMemsetD32_v2(memory + 2, 0, 1), invalid_value);
  EXPECT_EQ(cuMemsetD8_v2(memory, 0, 65), invalid_value);
}

TEST_F(Driver, PointersAreKnown) {
  Address memory = allocate(1000), base = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, memory + 999), success);
  EXPECT_EQ(base, memory);
  EXPECT_EQ(bytes, 1000u);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, 2, memory), success);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(cuPointerGetAttribute(&type, 2, reinterpret_cast<Address>(&type)), invalid_value);
  EXPECT_EQ(cuMemFree_v2(memory), success);
  EXPECT_EQ(cuMemFree_v2(memory), invalid_value);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, memory), not_found);
}

struct Side2D {
  std::size_t x, y;
  unsigned type;
  const void* host;
  Address device;
  Handle array;
  std::size_t pitch;
};
struct Copy2D {
  Side2D from, to;
  std::size_t width, height;
};

TEST_F(Driver, ABoxIsCopiedOutOfRows) {
  Address memory = allocate(16);
  std::array<char, 16> host{};
  std::iota(host.begin(), host.end(), 'a');
  Copy2D copy{{1, 1, 1, host.data(), 0, nullptr, 4}, {0, 0, 2, nullptr, memory, nullptr, 2}, 2, 3};
  ASSERT_EQ(cuMemcpy2D_v2(&copy), success);
  EXPECT_THAT(read<char>(memory, 6), testing::ElementsAre('f', 'g', 'j', 'k', 'n', 'o'));
  copy.to.pitch = 1;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), invalid_value);
  copy.to.type = 3;  // an array, which is missing
  EXPECT_EQ(cuMemcpy2D_v2(&copy), invalid_value);
}

// Host memory that is not registered is no device memory, and neither is memory that is nobody's.
TEST_F(Driver, ABoxOfDeviceMemoryLiesInAnAllocation) {
  constexpr unsigned host_type = 1, device_type = 2;
  Address memory = allocate(16);
  std::array<char, 16> host{};
  for (Address wrong : {reinterpret_cast<Address>(host.data()), Address{1} << 46}) {
    const Side2D ours{0, 0, device_type, nullptr, memory, nullptr, 4},
        plain{0, 0, host_type, host.data(), 0, nullptr, 4},
        theirs{0, 0, device_type, nullptr, wrong, nullptr, 4};
    for (const Copy2D& copy : {Copy2D{theirs, ours, 4, 4}, Copy2D{ours, theirs, 4, 4},
                               Copy2D{plain, theirs, 4, 4}, Copy2D{theirs, plain, 4, 4}})
      EXPECT_EQ(cuMemcpy2D_v2(&copy), invalid_value);
  }
}

TEST_F(Driver, TheLinkerLooksBeforeItReads) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  Handle link = nullptr;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), success);
  constexpr int invalid_value = 1;
  EXPECT_EQ(cuLinkAddData_v2(link, 1, text.data(), std::size_t{1} << 46, "", 0, nullptr, nullptr),
            invalid_value);
  EXPECT_EQ(cuLinkAddData_v2(link, 1, reinterpret_cast<void*>(8), 64, "", 0, nullptr, nullptr),
            invalid_value);
  EXPECT_EQ(cuLinkDestroy(link), success);
}

TEST_F(Driver, TwoTextsLinkIntoOneImage) {
  std::string caller = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .u32 result) triple(.param .u32 value);
.visible .entry run(.param .u64 out) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 14;
  { .param .u32 given; .param .u32 got;
    st.param.u32 [given], %r1;
    call (got), triple, (given);
    ld.param.u32 %r2, [got]; }
  st.global.u32 [%rd1], %r2;
  ret;
})";
  std::string callee = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .u32 result) triple(.param .u32 value) {
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [value];
  mul.lo.u32 %r2, %r1, 3;
  st.param.u32 [result], %r2;
  ret;
})";
  Handle link = nullptr;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), success);
  for (std::string* text : {&caller, &callee}) {
    ASSERT_EQ(
        cuLinkAddData_v2(link, 1, text->data(), text->size() + 1, "text", 0, nullptr, nullptr),
        success);
  }
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(cuLinkComplete(link, &image, &bytes), success);
  std::string copy(static_cast<char*>(image), bytes);
  EXPECT_EQ(cuLinkDestroy(link), success);
  Handle run = function(load(copy.data()), "run");
  Address to = allocate(4);
  void* arguments[] = {&to};
  ASSERT_EQ(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), success);
  EXPECT_EQ(read<int>(to, 1)[0], 42);
}

struct Location {
  int type, id;
};
struct Properties {
  int type, handles;
  Location location;
  void* win32;
  unsigned char flags[8];
};
struct Access {
  Location location;
  int flags;
};

TEST_F(Driver, TwoMappingsMakeOneRange) {
  constexpr std::size_t step = 2 << 20;
  Properties properties{1, 0, {1, 0}, nullptr, {}};
  Access access{{1, 0}, 3};
  Address base = 0;
  unsigned long long handles[2];
  const auto free_bytes = [] {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&free, &total), success);
    return free;
  };
  const std::size_t free = free_bytes();
  ASSERT_EQ(cuMemAddressReserve(&base, 2 * step, 0, 0, 0), success);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuMemCreate(&handles[i], step, &properties, 0), success);
    ASSERT_EQ(cuMemMap(base + i * step, step, 0, handles[i], 0), success);
    EXPECT_EQ(cuMemRelease(handles[i]), success);
  }
  EXPECT_NE(cuMemsetD8_v2(base, 1, step), success);
  ASSERT_EQ(cuMemSetAccess(base, 2 * step, &access, 1), success);
  ASSERT_EQ(cuMemsetD8_v2(base, 0x5a, 2 * step), success);
  EXPECT_EQ(read<unsigned char>(base + 2 * step - 1, 1)[0], 0x5a);
  EXPECT_EQ(cuMemAddressFree(base, 2 * step), invalid_value);
  EXPECT_EQ(free_bytes() + 2 * step, free);  // although the handles are released
  EXPECT_EQ(cuMemUnmap(base, 2 * step), success);
  EXPECT_EQ(free_bytes(), free);
  EXPECT_NE(cuMemsetD8_v2(base, 1, step), success);
  EXPECT_EQ(cuMemAddressFree(base, 2 * step), success);
  EXPECT_EQ(cuMemCreate(&handles[0], step + 1, &properties, 0), invalid_value);
}

TEST_F(Driver, AStreamWaitsForAValue) {
  Handle waiter = nullptr, writer = nullptr;
  ASSERT_EQ(cuStreamCreate(&waiter, 1), success);
  ASSERT_EQ(cuStreamCreate(&writer, 1), success);
  Address memory = allocate(8);
  ASSERT_EQ(cuMemsetD32_v2(memory, 0, 2), success);
  ASSERT_EQ(cuCtxSynchronize(), success);  // non-blocking streams do not wait for the memset
  ASSERT_EQ(cuStreamWaitValue32_v2(waiter, memory, 5, 0), success);
  EXPECT_EQ(cuStreamQuery(waiter), not_ready);
  ASSERT_EQ(cuStreamWriteValue32_v2(writer, memory, 4, 0), success);
  ASSERT_EQ(cuStreamSynchronize(writer), success);
  EXPECT_EQ(cuStreamQuery(waiter), not_ready);
  ASSERT_EQ(cuStreamWriteValue32_v2(writer, memory, 6, 0), success);
  EXPECT_EQ(cuStreamSynchronize(waiter), success);
  EXPECT_EQ(cuStreamWaitValue32_v2(waiter, memory + 2, 5, 0), invalid_value);
  EXPECT_EQ(cuStreamWaitValue32_v2(waiter, memory + 8, 5, 0), invalid_value);
  EXPECT_EQ(cuStreamDestroy_v2(waiter), success);
}

// The checker looks at objects that another thread is loading only when the loader has finished
// them.
TEST(DriverCheck, LibrariesCanBeLoadedMeanwhile) {
  setenv("INFLIGHT_CHECK", "1", 1);
  setenv("INFLIGHT_ERROR_EXITCODE", "0", 1);
  ASSERT_EQ(cuInit(0), success);
  Handle context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
  ASSERT_EQ(cuCtxSetCurrent(context), success);
  void* watched = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&watched, 4096, 0), success);
  std::atomic<bool> over{false};
  std::thread loading([&] {
    while (!over)
      if (void* const library = dlopen(INFLIGHT_SLOW_TO_LOAD, RTLD_NOW)) dlclose(library);
  });
#ifdef __SANITIZE_ADDRESS__
  constexpr int times = 300;  // it slows the loader down
#else
  constexpr int times = 3000;
#endif
  for (int i = 0; i < times; ++i) {
    EXPECT_EQ(cuMemsetD8_v2(reinterpret_cast<Address>(watched), 1, 4096), success);
    if (i % 4 == 0) EXPECT_EQ(cuCtxSynchronize(), success);
  }
  over = true;
  loading.join();
}

TEST(DriverLookup, TheVersionDecides) {
  void *found = nullptr, *other = nullptr;
  int query = -1;
  ASSERT_EQ(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &query), success);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(query, 0);
  ASSERT_EQ(cuGetProcAddress_v2("cuCtxCreate", &found, 11000, 0, &query), success);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuCtxCreate_v2));
  ASSERT_EQ(cuGetProcAddress_v2("cuCtxCreate", &found, 13000, 0, &query), success);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuCtxCreate_v4));
  ASSERT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &found, 13000, 0, &query), success);
  ASSERT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &other, 13000, 2, &query), success);
  EXPECT_NE(found, other);
  // cuda.h's name for it in programs with per-thread default streams, where these are the default.
  ASSERT_EQ(cuGetProcAddress_v2_ptsz("cuLaunchKernel", &found, 12090, 0, &query), success);
  EXPECT_EQ(found, other);
  ASSERT_EQ(cuGetProcAddress_v2_ptsz("cuLaunchKernel", &found, 12090, 1, &query), success);
  EXPECT_NE(found, other);
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &found, 13000, 0, &query), success);
  EXPECT_EQ(query, 1);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &found, 13000, 0, nullptr), not_found);
}

// driver_names.h100.txt: the names of CUDA's headers that a driver of CUDA 13.0 (580.159.04)
// exports, and what its cuGetProcAddress says of each: 0 if it finds it, else 1.
TEST(DriverLookup, FindsWhatADriverFinds) {
  std::ifstream list(INFLIGHT_RECORDS "/driver_names.h100.txt");
  int names = 0, found = 0;
  std::string name;
  for (int expected = 0; list >> name >> expected; ++names) {
    void* address = nullptr;
    int query = -1;
    EXPECT_EQ(cuGetProcAddress_v2(name.c_str(), &address, 13000, 0, &query), success);
    EXPECT_EQ(query, expected) << name;
    EXPECT_EQ(address != nullptr, expected == 0) << name;
    found += expected == 0;
    EXPECT_NE(dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
  }
  EXPECT_EQ(names, 671);
  EXPECT_EQ(found, 477);
}

TEST(DriverRefusals, AreSaidOnceByName) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuTexRefCreate(nullptr), not_supported);
  EXPECT_EQ(cuTexRefCreate(nullptr), not_supported);
  const void* table = &table;
  // Of another purpose than the runtime's, as compilers request it.
  const std::array<std::uint8_t, 16> other{0xda, 0x91, 0x51, 0xd3};
  EXPECT_EQ(cuGetExportTable(&table, other.data()), not_supported);
  EXPECT_EQ(cuGetExportTable(&table, nullptr), not_supported);
  EXPECT_EQ(table, nullptr);
  const std::string before = testing::internal::GetCapturedStderr();
  EXPECT_EQ(before.find("runtime"), before.npos);
  testing::internal::CaptureStderr();
  const std::array<std::uint8_t, 16> of_the_runtime{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                    0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
  EXPECT_EQ(cuGetExportTable(&table, of_the_runtime.data()), not_supported);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(before, testing::HasSubstr("cuTexRefCreate is not supported"));
  EXPECT_EQ(before.find("cuTexRefCreate"), before.rfind("cuTexRefCreate"));
  EXPECT_THAT(text, testing::HasSubstr("NVCC_APPEND_FLAGS=\"-cudart shared\""));
}

// cuFFT stops at a table of the driver's, and reports an internal error without a reason.
TEST(DriverRefusals, CuFftIsRefusedByName) {
  void* library = dlopen(INFLIGHT_LIKE_CUFFT, RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  auto* ask = reinterpret_cast<int (*)(const void*)>(dlsym(library, "ask"));
  ASSERT_TRUE(ask);
  const std::array<std::uint8_t, 16> table{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48};
  testing::internal::CaptureStderr();
  EXPECT_EQ(ask(table.data()), not_supported);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::ContainsRegex("libcufft.* undocumented tables"));
  EXPECT_EQ(dlclose(library), 0);
}

TEST(DriverErrors, HaveNames) {
  const char* name = nullptr;
  EXPECT_EQ(cuGetErrorName(700, &name), success);
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorName(123456, &name), invalid_value);
  EXPECT_EQ(name, nullptr);
}

}  // namespace
