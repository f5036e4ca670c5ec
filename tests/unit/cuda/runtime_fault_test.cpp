// Kernels that fail: the program gets the code, and the context stays unusable.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/cuda/runtime_calls.hpp"

namespace inflight::cuda::testing {
namespace {

void expect_dead(int code) {
  void* d = nullptr;
  int count = 0;
  EXPECT_EQ(cudaPeekAtLastError(), 0) << "an asynchronous error waits for the next call";
  EXPECT_EQ(cudaDeviceSynchronize(), code);
  EXPECT_EQ(cudaGetLastError(), code);
  EXPECT_EQ(cudaGetLastError(), 0);
  EXPECT_EQ(cudaMalloc(&d, 4), code);
  EXPECT_EQ(cudaFree(nullptr), code);
  EXPECT_EQ(cudaStreamQuery(nullptr), code);
  EXPECT_EQ(launch_add(nullptr, 1, 1), code);
  EXPECT_EQ(cudaGetDeviceCount(&count), 0) << "questions about devices still work";
  EXPECT_EQ(cudaSetDevice(0), 0);
  EXPECT_EQ(cudaDeviceReset(), 0);
  EXPECT_EQ(cudaMalloc(&d, 4), 46) << "as on an H200, the process gets no context again";
}

TEST(RuntimeFault, IllegalAddress) {
  void* nowhere = nullptr;
  void* arguments[] = {&nowhere};
  ASSERT_EQ(cudaLaunchKernel(kernel("fault"), {}, {}, arguments, 0, nullptr), 0);
  expect_dead(700);
}

TEST(RuntimeFault, PastTheEndOfAnAllocation) {
  void* d = nullptr;
  ASSERT_EQ(cudaMalloc(&d, 1000), 0);
  void* past = static_cast<char*>(d) + 1000;
  void* arguments[] = {&past};
  ASSERT_EQ(cudaLaunchKernel(kernel("fault"), {}, {}, arguments, 0, nullptr), 0);
  expect_dead(700);
}

TEST(RuntimeFault, FreedMemory) {
  void* d = nullptr;
  ASSERT_EQ(cudaMalloc(&d, 1000), 0);
  ASSERT_EQ(cudaFree(d), 0);
  void* arguments[] = {&d};
  ASSERT_EQ(cudaLaunchKernel(kernel("fault"), {}, {}, arguments, 0, nullptr), 0);
  expect_dead(700);
}

TEST(RuntimeFault, PlainHostMemory) {
  int plain = 0;
  void* pointer = &plain;
  void* arguments[] = {&pointer};
  ASSERT_EQ(cudaLaunchKernel(kernel("fault"), {}, {}, arguments, 0, nullptr), 0);
  expect_dead(700);
  EXPECT_EQ(plain, 0);
}

TEST(RuntimeFault, Misaligned) {
  void* d = nullptr;
  ASSERT_EQ(cudaMalloc(&d, 1000), 0);
  void* odd = static_cast<char*>(d) + 2;
  void* arguments[] = {&odd};
  ASSERT_EQ(cudaLaunchKernel(kernel("fault"), {}, {}, arguments, 0, nullptr), 0);
  expect_dead(716);
}

TEST(RuntimeFault, Trap) {
  ASSERT_EQ(cudaLaunchKernel(kernel("stop"), {}, {}, nullptr, 0, nullptr), 0);
  expect_dead(719);
}

TEST(RuntimeFault, LeavesLaterWorkUndone) {
  void *numbers = nullptr, *stream = nullptr;
  ASSERT_EQ(cudaMallocManaged(&numbers, 4, 1), 0);
  *static_cast<unsigned*>(numbers) = 0;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  ASSERT_EQ(cudaLaunchKernel(kernel("stop"), {}, {}, nullptr, 0, stream), 0);
  launch_add(numbers, 1, 1, stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), 719);
  EXPECT_EQ(*static_cast<unsigned*>(numbers), 0u);
}

// Programs abort when a call fails, and abort() runs no atexit function.
void time_out_and_abort() {
  setenv("INFLIGHT_STATS", "1", 1);
  setenv("INFLIGHT_TIMEOUT", "0.2", 1);
  void* flag = nullptr;
  cudaMalloc(&flag, 4);
  cudaMemset(flag, 0, 4);
  void* arguments[] = {&flag};
  cudaLaunchKernel(kernel("spin"), {}, {}, arguments, 0, nullptr);
  if (cudaDeviceSynchronize() == 702) std::abort();
}

TEST(RuntimeFaultDeathTest, StatisticsAreToldThoughTheProgramAborts) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(time_out_and_abort(), "spin: 1 launch, 1 block");
}

}  // namespace
}  // namespace inflight::cuda::testing
