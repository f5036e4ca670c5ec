// Several devices: INFLIGHT_DEVICES and peer access.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/cuda/runtime_calls.hpp"

namespace inflight::cuda::testing {
namespace {

// Set before the process's first call reads it. Each test has its own process.
class RuntimePeer : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("INFLIGHT_DEVICES", "2", 1);
    int count = 0;
    cudaGetDeviceCount(&count);
    if (count != 2) GTEST_SKIP() << "another test of this process chose the devices";
  }
};

TEST_F(RuntimePeer, DevicesHaveTheirOwnCurrentState) {
  int device = -1;
  EXPECT_EQ(cudaSetDevice(1), 0);
  EXPECT_EQ(cudaGetDevice(&device), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(2), 101);
  void* d = nullptr;
  cudaMalloc(&d, 4);
  abi::PointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, d);
  EXPECT_EQ(attributes.device, 1);
}

TEST_F(RuntimePeer, AccessNeedsPermission) {
  int can = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), 0);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 5), 101);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), 705);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), 217);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), 0);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), 704);
  void* remote = nullptr;
  cudaSetDevice(1);
  cudaMalloc(&remote, 400);
  cudaMemset(remote, 0, 400);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  EXPECT_EQ(launch_add(remote, 100, 3), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), 0);
  EXPECT_EQ(launch_add(remote, 100, 3), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 700) << "without permission it is an illegal address";
}

TEST_F(RuntimePeer, LinksAreAsTheDriverSays) {
  int rank = -1;
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&rank, 1, 0, 1), 0);
  EXPECT_EQ(rank, 0);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&rank, 1, 1, 1), 101);
  EXPECT_EQ(cudaGetLastError(), 101);
  const int swap = 9;
  unsigned forms = 9;
  EXPECT_EQ(cudaDeviceGetP2PAtomicCapabilities(&forms, &swap, 1, 0, 1), 0);
  EXPECT_EQ(forms, 0u);
  forms = 9;
  EXPECT_EQ(cudaDeviceGetHostAtomicCapabilities(&forms, &swap, 1, 0), 0);
  EXPECT_EQ(forms, 0u);
}

TEST_F(RuntimePeer, NoticesHaveHandles) {
  void* handle = nullptr;
  const auto function = +[](void*, void*, void*) { FAIL(); };
  EXPECT_EQ(cudaDeviceRegisterAsyncNotification(2, function, nullptr, &handle), 101);
  ASSERT_EQ(cudaDeviceRegisterAsyncNotification(1, function, nullptr, &handle), 0);
  EXPECT_EQ(cudaDeviceUnregisterAsyncNotification(0, handle), 1) << "of another device";
  EXPECT_EQ(cudaDeviceUnregisterAsyncNotification(1, handle), 0);
}

TEST_F(RuntimePeer, CopiesNeedNone) {
  void *here = nullptr, *there = nullptr;
  cudaMalloc(&here, 4);
  cudaSetDevice(1);
  cudaMalloc(&there, 4);
  unsigned sent = 77, received = 0;
  cudaMemcpy(there, &sent, 4, 1);
  EXPECT_EQ(cudaMemcpyPeer(here, 0, there, 1, 4), 0);
  cudaMemcpy(&received, here, 4, 2);
  EXPECT_EQ(received, 77u);
  EXPECT_EQ(cudaMemcpyPeer(here, 0, there, 9, 4), 101);
}

}  // namespace
}  // namespace inflight::cuda::testing
