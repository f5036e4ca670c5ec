// Copies and fills compared with simple loops, and CUDA's checks of them.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "gpu/cuda/core/calls/batch.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/calls/managed.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda {
namespace {

class Transfers : public testing::Test {
 protected:
  machine::Memory& memory = Core::get().memory;
  std::vector<std::uint64_t> made;
  char* device_bytes(std::uint64_t size) {
    made.push_back(memory.allocate(0, size, machine::AllocationKind::device).value());
    return reinterpret_cast<char*>(made.back());
  }
  void TearDown() override {
    for (std::uint64_t base : made) memory.release(base);
  }
};

TEST_F(Transfers, MoveEveryByteOfABoxOnce) {
  std::mt19937 random(3);
  auto below = [&](unsigned n) { return random() % n; };
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t width = 1 + below(40), height = 1 + below(5), depth = 1 + below(4);
    Copy copy;
    copy.width = width;
    copy.height = height;
    copy.depth = depth;
    copy.to_pitch = width + below(4);
    copy.to_rows = height + below(3);
    copy.from_pitch = width + below(4);
    copy.from_rows = height + below(3);
    std::vector<char> from(copy.from_pitch * copy.from_rows * depth);
    for (char& c : from) c = char(random());
    std::vector<char> to(copy.to_pitch * copy.to_rows * depth, 'x'), expected = to;
    for (std::uint64_t z = 0; z < depth; ++z)
      for (std::uint64_t y = 0; y < height; ++y)
        for (std::uint64_t x = 0; x < width; ++x)
          expected[(z * copy.to_rows + y) * copy.to_pitch + x] =
              from[(z * copy.from_rows + y) * copy.from_pitch + x];
    copy.to = to.data();
    copy.from = from.data();
    perform(copy);
    ASSERT_EQ(to, expected);
  }
}

TEST_F(Transfers, FillElementsOfEverySize) {
  for (unsigned element : {1u, 2u, 4u}) {
    char bytes[64];
    std::memset(bytes, 'x', sizeof bytes);
    perform(Fill{.to = bytes,
                 .value = 0x01020304,
                 .element = element,
                 .width = 3,
                 .height = 2,
                 .depth = 1,
                 .pitch = 20,
                 .rows = 2});
    for (int row = 0; row < 2; ++row)
      for (unsigned i = 0; i < 3 * element; ++i)
        EXPECT_EQ(bytes[row * 20 + i], char(4 - i % element));
    EXPECT_EQ(bytes[3 * element], 'x');
    EXPECT_EQ(bytes[20 + 3 * element], 'x');
  }
}

TEST_F(Transfers, AreCheckedAsOnAnH200) {
  using D = Direction;
  char* d = device_bytes(1000);
  char* e = device_bytes(1000);
  char h[4096];
  auto answer = [](void* to, const void* from, std::uint64_t bytes, D direction) {
    return check(linear(to, from, bytes, direction));
  };
  EXPECT_EQ(answer(d, h, 1000, D::host_to_device), Status::success);
  EXPECT_EQ(answer(d, h, 1001, D::host_to_device), Status::invalid_value);
  EXPECT_EQ(answer(h, d, 1025, D::device_to_host), Status::invalid_value);
  EXPECT_EQ(answer(d, h, 100, D::device_to_host), Status::invalid_value);
  EXPECT_EQ(answer(h, d, 100, D::host_to_device), Status::invalid_value);
  EXPECT_EQ(answer(d, h, 100, D::device_to_device), Status::invalid_value);
  EXPECT_EQ(answer(d, e, 100, D::host_to_device), Status::success);
  EXPECT_EQ(answer(d, e, 100, D::device_to_host), Status::success);
  EXPECT_EQ(answer(d, e, 100, D::host_to_host), Status::success);
  EXPECT_EQ(answer(h + 2000, h, 100, D::by_address), Status::success);
  EXPECT_EQ(answer(h + 2000, h, 100, D::device_to_device), Status::invalid_value);
  EXPECT_EQ(answer(d, h, 100, D(7)), Status::invalid_direction);
  EXPECT_EQ(answer(nullptr, h, 100, D::host_to_device), Status::invalid_value);
  EXPECT_EQ(answer(nullptr, nullptr, 0, D::by_address), Status::success);
  Copy rows{.to = d,
            .from = h,
            .width = 15,
            .height = 2,
            .depth = 1,
            .to_pitch = 10,
            .to_rows = 2,
            .from_pitch = 20,
            .from_rows = 2,
            .direction = D::host_to_device};
  EXPECT_EQ(check(rows), Status::invalid_pitch);
  rows.to_pitch = 512;
  rows.width = 489;
  rows.from_pitch = 512;
  EXPECT_EQ(check(rows), Status::invalid_value) << "the last row ends past the allocation";
  Fill fill{.to = d,
            .value = 1,
            .element = 1,
            .width = 1001,
            .height = 1,
            .depth = 1,
            .pitch = 1001,
            .rows = 1};
  EXPECT_EQ(check(fill), Status::invalid_value);
  fill.width = 1000;
  EXPECT_EQ(check(fill), Status::success);
  fill.to = h;
  EXPECT_EQ(check(fill), Status::invalid_value);
}

TEST_F(Transfers, FillNoSlicesThatLieInEachOther) {
  Fill fill{.to = device_bytes(1000),
            .value = 1,
            .element = 1,
            .width = 1,
            .height = 1,
            .depth = std::uint64_t{1} << 62,
            .pitch = 1,
            .rows = 0};
  EXPECT_EQ(check(fill), Status::invalid_value);
  fill.width = 0;
  EXPECT_EQ(check(fill), Status::success);
  fill.width = 1, fill.height = 0;
  EXPECT_EQ(check(fill), Status::success);
  perform(fill);
}

// As the second slice of each would lie before the first, or where memory that may be accessed is.
TEST_F(Transfers, AreRefusedIfTheirSlicesOrPositionsWrap) {
  char* const d = device_bytes(1000);
  char* const e = device_bytes(1000);
  const std::uint64_t most = ~std::uint64_t{0};
  const Fill fill{.to = d,
                  .value = 1,
                  .element = 1,
                  .width = 16,
                  .height = 2,
                  .depth = 2,
                  .pitch = 64,
                  .rows = most};
  EXPECT_EQ(check(fill), Status::invalid_value);
  Copy copy{.to = d,
            .from = e,
            .width = 16,
            .height = 2,
            .depth = 2,
            .to_pitch = 64,
            .to_rows = 2,
            .from_pitch = 64,
            .from_rows = 2,
            .direction = Direction::device_to_device};
  EXPECT_EQ(check(copy), Status::success);
  copy.from_rows = most;
  EXPECT_EQ(check(copy), Status::invalid_value);
  copy.from_rows = 2, copy.to_rows = most / 64 + 1;
  EXPECT_EQ(check(copy), Status::invalid_value);

  abi::Copy3D box{};
  box.to = {d, 64, 64, 4}, box.from = {e, 64, 64, 4};
  box.extent = {16, 2, 2};
  box.kind = int(Direction::device_to_device);
  EXPECT_EQ(check(*copy_of(&box)), Status::success);
  for (const abi::Position& at : {abi::Position{most, 0, 0}, {0, most / 64 + 1, 0}, {0, 0, most}}) {
    box.from_position = at;
    EXPECT_EQ(check(*copy_of(&box)), Status::invalid_value);
  }
}

// As an H100, which also returns another status than for a single prefetch.
TEST_F(Transfers, ABatchThatIsRefusedPrefetchesNothing) {
  auto stream = Core::get().device(0).create_stream(true, 0);
  void* ranges[2];
  for (void*& each : ranges) {
    made.push_back(memory.allocate(0, 4096, machine::AllocationKind::managed).value());
    each = reinterpret_cast<void*>(made.back());
  }
  const std::size_t bytes[] = {4096, 4096}, starts[] = {0, 1};
  const auto prefetched = [&] {
    constexpr int last_prefetch_location = 4;
    std::vector<int> places(2);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(range_attribute(&places[i], sizeof(int), last_prefetch_location, ranges[i], 4096),
                Status::success);
    return places;
  };
  constexpr int nowhere = -2;
  const abi::Location device{abi::location_device, 0};
  for (const abi::Location bad : {abi::Location{abi::location_device, 99}, abi::Location{9, 0},
                                  abi::Location{abi::location_none, 0}}) {
    const abi::Location locations[] = {device, bad};
    EXPECT_EQ(prefetch_batch(*stream, {ranges, bytes, 2, locations, starts, 2}, 0),
              Status::invalid_value);
    EXPECT_EQ(prefetched(), (std::vector<int>{nowhere, nowhere}));
  }
  const abi::Location locations[] = {device, {abi::location_host, 0}};
  EXPECT_EQ(prefetch_batch(*stream, {ranges, bytes, 2, locations, starts, 2}, 0), Status::success);
  EXPECT_EQ(prefetched(), (std::vector<int>{0, -1}));
}

TEST_F(Transfers, TakePageableSourcesAtTheCall) {
  auto stream = Core::get().device(0).create_stream(true, 0);
  char* d = device_bytes(1000);
  std::vector<char> h(1000, 'a');
  ASSERT_EQ(copy(*stream, linear(d, h.data(), 1000, Direction::host_to_device), true),
            Status::success);
  std::fill(h.begin(), h.end(), 'b');
  ASSERT_EQ(copy(*stream, linear(h.data(), d, 1000, Direction::device_to_host), true),
            Status::success);
  EXPECT_EQ(h, std::vector<char>(1000, 'a'));
}

}  // namespace
}  // namespace inflight::cuda
