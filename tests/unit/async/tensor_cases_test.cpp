// Runs the model on every case of tests/gpu/tensor_truth.cu: the generator's legal cases are legal
// here, and lines parse back to the same cases.
#include <gtest/gtest.h>

#include "tests/unit/async/tensor_player.hpp"

namespace inflight::async {
namespace {

using tensor_truth::Case;
using tensor_truth::Kind;

TEST(TensorCases, EveryLineReadsBack) {
  for (const Case& c : tensor_truth::all_cases()) {
    Case again;
    std::string answer;
    const std::string text = to_text(c);
    ASSERT_TRUE(tensor_truth::from_text("7 " + text + " = 16 abc", again, answer)) << text;
    ASSERT_EQ(to_text(again), text);
    ASSERT_EQ(answer, "16 abc");
  }
}

// The runs end at touched_bytes(), whatever the swizzle does with the last line.
bool touches_what_it_says(const TensorMap& m, const Case& c) {
  const TensorPlace place = TensorPlayer::place(c);
  std::uint64_t end = 0, begin = ~std::uint64_t{0};
  for_each_run(m, place, TensorDirection::load, [&](const TensorRun& run) {
    end = std::max(end, std::uint64_t{run.shared} + run.bytes);
    begin = std::min(begin, std::uint64_t{run.shared});
  });
  return begin >= place.shared && end <= place.shared + touched_bytes(m, place.shared);
}

TEST(TensorCases, RandomCasesAreLegalAndCountTheirBox) {
  TensorPlayer player;
  std::uint32_t copies = 0, faults = 0;
  for (const Case& c : tensor_truth::all_cases()) {
    if (c.kind != Kind::load && c.kind != Kind::store && c.kind != Kind::reduce) continue;
    const auto map = player.encode(c.map);
    ASSERT_TRUE(map) << map.error().sentence() << " in " << to_text(c);
    if (tensor_violation(*map, TensorPlayer::place(c), TensorPlayer::direction_of(c)) !=
        Violation::none) {
      ++faults;
      continue;
    }
    ASSERT_EQ(box_of(*map).tx_bytes(), tensor_truth::box_bytes(c.map)) << to_text(c);
    ASSERT_TRUE(touches_what_it_says(*map, c)) << to_text(c);
    ASSERT_LE(c.shared + box_of(*map).shared_bytes(), tensor_truth::shared_bytes) << to_text(c);
    ASSERT_TRUE(player.stays_inside(c, *map)) << to_text(c);
    ++copies;
  }
  EXPECT_GT(copies, 2400u);
  EXPECT_LT(faults, 100u) << "each costs the device a context";
}

}  // namespace
}  // namespace inflight::async
