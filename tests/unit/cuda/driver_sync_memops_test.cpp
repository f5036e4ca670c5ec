// Memory and contexts whose synchronous operations always wait for completion.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <thread>

using Handle = void*;
using Address = unsigned long long;

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
int cuCtxSetCurrent(Handle);
int cuCtxSynchronize();
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemAllocManaged(Address*, std::size_t, unsigned);
int cuMemFree_v2(Address);
int cuMemsetD32_v2(Address, unsigned, std::size_t);
int cuPointerGetAttribute(void*, int, Address);
int cuPointerSetAttribute(const void*, int, Address);
int cuStreamCreate(Handle*, unsigned);
int cuStreamQuery(Handle);
int cuStreamWaitValue32_v2(Handle, Address, unsigned, unsigned);
int cuStreamWriteValue32_v2(Handle, Address, unsigned, unsigned);
int cuStreamSynchronize(Handle);
}

namespace {

constexpr int success = 0, invalid_value = 1, not_ready = 600, sync_memops = 6, mapped = 13;
constexpr unsigned equal = 1, sync_memops_flag = 0x80;

class DriverSyncMemops : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context_), success);
    ASSERT_EQ(cuMemAlloc_v2(&memory_, 64), success);
    ASSERT_EQ(cuMemAlloc_v2(&flag_, 4), success);
    ASSERT_EQ(cuStreamCreate(&stream_, 1), success);
    ASSERT_EQ(cuMemsetD32_v2(flag_, 0, 1), success);
    ASSERT_EQ(cuCtxSynchronize(), success);
  }
  void set(unsigned value) {
    EXPECT_EQ(cuPointerSetAttribute(&value, sync_memops, memory_ + 8), success);
  }
  static unsigned get(Address memory) {
    unsigned value = 9;
    EXPECT_EQ(cuPointerGetAttribute(&value, sync_memops, memory), success);
    return value;
  }
  // The default stream's status after `call` returns, while the stream waits for a value. Another
  // thread writes it at once or, if the call returns first, after the status is known.
  int default_stream_after(const std::function<void()>& call, bool at_once) {
    EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, flag_, 1, equal), success);
    const auto write = [this] {
      EXPECT_EQ(cuCtxSetCurrent(context_), success);
      EXPECT_EQ(cuStreamWriteValue32_v2(stream_, flag_, 1, 0), success);
      EXPECT_EQ(cuStreamSynchronize(stream_), success);
    };
    std::thread other;
    if (at_once) other = std::thread(write);
    call();
    const int now = cuStreamQuery(nullptr);
    if (at_once)
      other.join();
    else
      write();
    EXPECT_EQ(cuStreamSynchronize(nullptr), success);
    EXPECT_EQ(cuMemsetD32_v2(flag_, 0, 1), success);
    EXPECT_EQ(cuCtxSynchronize(), success);
    return now;
  }
  void fill() { EXPECT_EQ(cuMemsetD32_v2(memory_, 7, 16), success); }

  Handle context_ = nullptr, stream_ = nullptr;
  Address memory_ = 0, flag_ = 0;
};

TEST_F(DriverSyncMemops, AFillReturnsEarly) {
  EXPECT_EQ(default_stream_after([&] { fill(); }, false), not_ready);
}

TEST_F(DriverSyncMemops, AFillOfSuchMemoryWaits) {
  set(1);
  EXPECT_EQ(default_stream_after([&] { fill(); }, true), success);
  set(0);
  EXPECT_EQ(default_stream_after([&] { fill(); }, false), not_ready);
}

TEST_F(DriverSyncMemops, AFillInSuchAContextWaits) {
  ASSERT_EQ(cuDevicePrimaryCtxSetFlags_v2(0, sync_memops_flag), success);
  EXPECT_EQ(default_stream_after([&] { fill(); }, true), success);
}

TEST_F(DriverSyncMemops, ToSetItWaitsForWhatWasBegunBefore) {
  EXPECT_EQ(default_stream_after([&] { fill(), set(1); }, true), success);
}

TEST_F(DriverSyncMemops, TheAttributeIsKeptUntilTheMemoryIsFreed) {
  EXPECT_EQ(get(memory_), 0u);
  set(1);
  EXPECT_EQ(get(memory_), 1u);
  EXPECT_EQ(get(memory_ + 60), 1u);
  EXPECT_EQ(get(flag_), 0u);
  ASSERT_EQ(cuMemFree_v2(memory_), success);
  ASSERT_EQ(cuMemAlloc_v2(&memory_, 64), success);
  EXPECT_EQ(get(memory_), 0u);
  Address managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), success);
  EXPECT_EQ(get(managed), 1u);
  const unsigned one = 1;
  EXPECT_EQ(cuPointerSetAttribute(&one, mapped, memory_), invalid_value);
  EXPECT_EQ(cuPointerSetAttribute(nullptr, sync_memops, memory_), invalid_value);
  EXPECT_EQ(cuPointerSetAttribute(&one, sync_memops, 64), invalid_value);
}

}  // namespace
