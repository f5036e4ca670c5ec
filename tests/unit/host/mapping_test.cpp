// Addresses of the heap, of stacks and of variables are told apart.
#include "gpu/host/mapping.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <thread>

namespace inflight::host {
namespace {

std::uint64_t at(const void* place) { return reinterpret_cast<std::uint64_t>(place); }

int set = 1, zero[4096];

TEST(Mapping, TellsHeapStackAndVariablesApart) {
  EXPECT_EQ(place_of(at(__builtin_frame_address(0))), "on the host's stack");
  EXPECT_EQ(place_of(at(sbrk(4096))), "in the host's heap");
#ifndef __SANITIZE_ADDRESS__  // which has its own heap and moves variables out of the stack
  const int local = 0;
  const auto small = std::make_unique<int>(0);
  EXPECT_EQ(place_of(at(&local)), "on the host's stack");
  EXPECT_EQ(place_of(at(small.get())), "in the host's heap");
#endif
  EXPECT_EQ(place_of(at(&set)), "in the code or data of unit_host");
  EXPECT_EQ(place_of(at(&zero[2048])), "in the code or data of unit_host");
}

TEST(Mapping, SaysThatOtherMemoryIsTheHostS) {
  const std::string mapped =
      "in memory that the host has mapped, such as a large malloc or the stack of a thread";
  const auto large = std::make_unique<char[]>(8 << 20);
  EXPECT_EQ(place_of(at(large.get())), mapped);
  std::thread([&] {
    const int local = 0;
    EXPECT_EQ(place_of(at(&local)), mapped);
  }).join();
}

TEST(Mapping, SaysNothingWhereNothingCanBeRead) {
  void* const place =
      mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  EXPECT_EQ(place_of(at(place) + 4096), "");
  munmap(place, 8192);
  EXPECT_EQ(place_of(0), "");
  EXPECT_EQ(place_of(~std::uint64_t{0}), "");
}

}  // namespace
}  // namespace inflight::host
