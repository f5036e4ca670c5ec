// Replays the output of tensor_truth.cu on an H200, tests/gpu/tensor_truth.h200.txt. The model must
// leave every byte the same.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "tests/unit/async/tensor_player.hpp"

namespace inflight::async {
namespace {

TEST(TensorTruth, EveryByteOfAnH200) {
  std::ifstream file(INFLIGHT_SOURCE_DIR "/tests/gpu/tensor_truth.h200.txt");
  ASSERT_TRUE(file) << "tests/gpu/tensor_truth.h200.txt cannot be read";
  TensorPlayer player;
  std::map<tensor_truth::Kind, std::uint32_t> same;
  std::uint32_t wrong = 0;
  std::uint32_t number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    tensor_truth::Case c;
    std::string gpu;
    ASSERT_TRUE(from_text(line, c, gpu)) << line;
    const std::string ours = player.answer(c);
    same[c.kind] += ours == gpu;
    if (ours != gpu && ++wrong <= 20) ADD_FAILURE() << line << "\nthe model: " << ours;
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(number, tensor_truth::all_cases().size()) << "the recording is of other cases";
  using tensor_truth::Kind;
  EXPECT_GE(same[Kind::encode], 600u);
  EXPECT_GE(same[Kind::load] + same[Kind::store] + same[Kind::reduce], 2400u);
  EXPECT_GT(same[Kind::probe], 200u);
  EXPECT_GT(same[Kind::value_reduce], 30u);
}

}  // namespace
}  // namespace inflight::async
