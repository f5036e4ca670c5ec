// The model on every case of tests/gpu/tensor_truth.cu: the generator's legal cases are legal here,
// and lines read back as they were written.
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
    ASSERT_LE(c.shared + box_of(*map).shared_bytes(), tensor_truth::shared_bytes) << to_text(c);
    ASSERT_TRUE(player.stays_inside(c, *map)) << to_text(c);
    ++copies;
  }
  EXPECT_GT(copies, 2400u);
  EXPECT_LT(faults, 100u) << "each costs the device a context";
}

}  // namespace
}  // namespace inflight::async
