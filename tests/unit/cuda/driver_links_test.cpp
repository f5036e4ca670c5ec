// The capabilities of links between devices, and results of calls for features that no device has.
#include <gtest/gtest.h>

#include <cstdlib>

using Handle = void*;

extern "C" {
int cuInit(unsigned);
int cuDeviceGetCount(int*);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetP2PAttribute(int*, int, int, int);
int cuDeviceGetP2PAtomicCapabilities(unsigned*, const int*, unsigned, int, int);
int cuDeviceGetHostAtomicCapabilities(unsigned*, const int*, unsigned, int);
int cuDeviceRegisterAsyncNotification(int, void (*)(void*, void*, Handle), void*, Handle*);
int cuDeviceUnregisterAsyncNotification(int, Handle);
int cuDeviceGetExecAffinitySupport(int*, int, int);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuCtxGetExecAffinity(void*, int);
int cuCtxCreate_v3(Handle*, const void*, int, unsigned, int);
int cuCtxCreate_v4(Handle*, const void*, unsigned, int);
int cuCtxDestroy_v2(Handle);
int cuGetErrorName(int, const char**);
int cuArrayCreate_v2(Handle*, const void*);
int cuArrayDestroy(Handle);
int cuArrayGetPlane(Handle*, Handle, unsigned);
int cuArrayGetSparseProperties(void*, Handle);
int cuArrayGetMemoryRequirements(void*, Handle, int);
int cuMipmappedArrayCreate(Handle*, const void*, unsigned);
int cuMipmappedArrayDestroy(Handle);
int cuMipmappedArrayGetSparseProperties(void*, Handle);
int cuMipmappedArrayGetMemoryRequirements(void*, Handle, int);
int cuLibraryLoadData(Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetUnifiedFunction(void**, Handle, const char*);
}

namespace {

constexpr int success = 0, invalid_value = 1, invalid_device = 101, unsupported_affinity = 224,
              invalid_handle = 400, not_found = 500, not_supported = 801;

class DriverLinks : public testing::Test {
 protected:
  void SetUp() override {
    setenv("INFLIGHT_DEVICES", "2", 1);
    ASSERT_EQ(cuInit(0), success);
    int count = 0;
    cuDeviceGetCount(&count);
    if (count != 2) GTEST_SKIP() << "another test of this process chose the devices";
  }
  static int attribute(int which) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetP2PAttribute(&value, which, 0, 1), success);
    return value;
  }
};

TEST_F(DriverLinks, PeersAreReachedByTheBestLink) {
  EXPECT_EQ(attribute(1), 0);  // rank
  EXPECT_EQ(attribute(2), 1);  // access
  EXPECT_EQ(attribute(3), 1);  // all atomics
  EXPECT_EQ(attribute(4), 1);  // arrays
  EXPECT_EQ(attribute(5), 0);  // some atomics alone
  int value = 0;
  EXPECT_EQ(cuDeviceGetP2PAttribute(&value, 6, 0, 1), invalid_value);
  EXPECT_EQ(cuDeviceGetP2PAttribute(nullptr, 1, 0, 1), invalid_value);
  EXPECT_EQ(cuDeviceGetP2PAttribute(&value, 1, 0, 0), invalid_device);
  EXPECT_EQ(cuDeviceGetP2PAttribute(&value, 1, 0, 2), invalid_device);
}

// Like an H200's NVLink, whose attribute reports all atomics.
TEST_F(DriverLinks, NoFormOfAnAtomicIsTold) {
  const int operations[] = {0, 3, 9, 10, 12};
  unsigned forms[5] = {9, 9, 9, 9, 9};
  ASSERT_EQ(cuDeviceGetP2PAtomicCapabilities(forms, operations, 5, 0, 1), success);
  for (const unsigned each : forms) EXPECT_EQ(each, 0u);
  const int wrong = 13;
  forms[0] = 9;
  EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(forms, &wrong, 1, 0, 1), invalid_value);
  EXPECT_EQ(forms[0], 0u);
  EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(forms, operations, 0, 0, 1), invalid_value);
  EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(nullptr, operations, 1, 0, 1), invalid_value);
  EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(forms, operations, 1, 1, 1), invalid_device);
}

// CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, and its attribute for only some atomics.
TEST_F(DriverLinks, TheHostsAtomicsAreAsItsAttributesSay) {
  const int operations[] = {0, 9};
  unsigned forms[2] = {9, 9};
  ASSERT_EQ(cuDeviceGetHostAtomicCapabilities(forms, operations, 2, 0), success);
  for (const int attribute : {86, 147}) {
    int value = -1;
    ASSERT_EQ(cuDeviceGetAttribute(&value, attribute, 0), success);
    EXPECT_EQ(value != 0, forms[0] != 0);
    EXPECT_EQ(value != 0, forms[1] != 0);
  }
  EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(forms, nullptr, 2, 0), invalid_value);
  EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(forms, operations, 2, 2), invalid_device);
}

class DriverWithoutFeature : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context_), success);
  }
  Handle context_ = nullptr;
};

TEST_F(DriverWithoutFeature, NoContextIsMadeWithAnAffinity) {
  struct Affinity {
    int type;
    unsigned count;
  } affinity{0, 8};
  struct {
    Affinity* affinity;
    int count;
    const void* shared;
  } parameters{&affinity, 1, nullptr};
  int supported = -1;
  ASSERT_EQ(cuDeviceGetExecAffinitySupport(&supported, 0, 0), success);
  EXPECT_EQ(supported, 0);
  int all = -1;
  ASSERT_EQ(cuDeviceGetAttribute(&all, 16, 0), success);
  Affinity told{9, 9};
  EXPECT_EQ(cuCtxGetExecAffinity(&told, 0), success);
  EXPECT_EQ(told.type, 0);
  EXPECT_EQ(told.count, unsigned(all)) << "the context has all multiprocessors";
  EXPECT_EQ(cuCtxGetExecAffinity(&told, 7), unsupported_affinity);
  EXPECT_EQ(cuCtxGetExecAffinity(nullptr, 0), invalid_value);
  Handle made = nullptr;
  EXPECT_EQ(cuCtxCreate_v3(&made, &affinity, 1, 0, 0), unsupported_affinity);
  EXPECT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 0), unsupported_affinity);
  parameters = {nullptr, 0, &affinity};
  EXPECT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 0), not_supported);
  ASSERT_EQ(cuCtxCreate_v4(&made, nullptr, 0, 0), success);
  EXPECT_EQ(cuCtxDestroy_v2(made), success);
  const char* name = nullptr;
  ASSERT_EQ(cuGetErrorName(unsupported_affinity, &name), success);
  EXPECT_STREQ(name, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY");
}

// No device has a memory budget, so the function is never called.
TEST_F(DriverWithoutFeature, NoticesHaveHandles) {
  Handle first = nullptr, second = nullptr;
  const auto function = +[](void*, void*, Handle) { FAIL(); };
  ASSERT_EQ(cuDeviceRegisterAsyncNotification(0, function, nullptr, &first), success);
  ASSERT_EQ(cuDeviceRegisterAsyncNotification(0, function, nullptr, &second), success);
  EXPECT_NE(first, second);
  EXPECT_EQ(cuDeviceRegisterAsyncNotification(0, nullptr, nullptr, &second), invalid_value);
  EXPECT_EQ(cuDeviceRegisterAsyncNotification(0, function, nullptr, nullptr), invalid_value);
  EXPECT_EQ(cuDeviceRegisterAsyncNotification(99, function, nullptr, &second), invalid_device);
  EXPECT_EQ(cuDeviceUnregisterAsyncNotification(99, first), invalid_device);
  EXPECT_EQ(cuDeviceUnregisterAsyncNotification(0, first), success);
  EXPECT_EQ(cuDeviceUnregisterAsyncNotification(0, first), invalid_value);
  EXPECT_EQ(cuDeviceUnregisterAsyncNotification(0, second), success);
}

TEST_F(DriverWithoutFeature, NoArrayIsSparseOrHasPlanes) {
  const struct {
    std::size_t width, height;
    unsigned format, channels;
  } plain{16, 16, 0x20, 1};
  const struct {
    std::size_t width, height, depth;
    unsigned format, channels, flags;
  } levels{16, 16, 0, 0x20, 1, 0};
  Handle array = nullptr, mipmapped = nullptr, plane = nullptr;
  std::size_t properties[16] = {};
  ASSERT_EQ(cuArrayCreate_v2(&array, &plain), success);
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &levels, 2), success);
  EXPECT_EQ(cuArrayGetSparseProperties(properties, array), invalid_value);
  EXPECT_EQ(cuArrayGetMemoryRequirements(properties, array, 0), invalid_value);
  EXPECT_EQ(cuArrayGetPlane(&plane, array, 0), invalid_value);
  EXPECT_EQ(cuArrayGetPlane(&plane, nullptr, 0), invalid_handle);
  EXPECT_EQ(cuMipmappedArrayGetSparseProperties(properties, mipmapped), invalid_value);
  EXPECT_EQ(cuMipmappedArrayGetMemoryRequirements(properties, mipmapped, 0), invalid_value);
  EXPECT_EQ(cuMipmappedArrayGetMemoryRequirements(properties, array, 0), invalid_handle);
  EXPECT_EQ(cuArrayDestroy(array), success);
  EXPECT_EQ(cuMipmappedArrayDestroy(mipmapped), success);
}

TEST_F(DriverWithoutFeature, NoFunctionIsUnified) {
  Handle library = nullptr;
  const char* const text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() { ret; }\n";
  ASSERT_EQ(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0), success);
  void* function = nullptr;
  EXPECT_EQ(cuLibraryGetUnifiedFunction(&function, library, "kernel"), not_found);
  EXPECT_EQ(cuLibraryGetUnifiedFunction(nullptr, library, "kernel"), invalid_value);
}

}  // namespace
