// Replays the output of mbarrier_truth.cu on an H200, tests/gpu/mbarrier_truth.h200.txt. The model
// must give the same results.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/async/block_memory.hpp"
#include "tests/unit/async/heard_copies.hpp"

namespace inflight::async {
namespace {

class Player {
 public:
  // One line: the operation, its operand, and the GPU's results after it.
  void play(const std::string& line) {
    std::istringstream words(line);
    std::string name, answer;
    std::uint32_t operand = 0;
    words >> name >> operand;
    tokens_.push_back(perform(name, operand));
    while (words >> answer) check(answer);
    ++lines;
  }
  void begin() {
    copies_.copies.flush_all();
    tokens_.clear();
  }
  std::size_t lines = 0, answers = 0;

 private:
  mbarrier::Token perform(const std::string& name, std::uint32_t n) {
    using Steps =
        std::map<std::string, std::function<mbarrier::Step(mbarrier::Word&, std::uint32_t)>>;
    static const Steps steps = {
        {"arrive", [](auto& w, auto) { return mbarrier::arrive(w); }},
        {"arrive_count", mbarrier::arrive},
        {"arrive_no_complete", mbarrier::arrive_no_complete},
        {"arrive_expect_tx", [](auto& w, auto b) { return mbarrier::arrive_expect_tx(w, b); }},
        {"drop", [](auto& w, auto) { return mbarrier::arrive_drop(w); }},
        {"drop_count", mbarrier::arrive_drop},
        {"drop_no_complete", mbarrier::arrive_drop_no_complete},
        {"expect_tx", mbarrier::expect_tx},
        {"complete_tx", mbarrier::complete_tx},
    };
    if (const auto found = steps.find(name); found != steps.end()) {
      const mbarrier::Step step = found->second(word(), n);
      EXPECT_EQ(step.violation, Violation::none) << sentence(step.violation);
      return step.token;
    }
    EXPECT_EQ(perform_other(name, n), Violation::none) << name;
    return 0;
  }
  Violation perform_other(const std::string& name, std::uint32_t n) {
    if (name == "init") return mbarrier::init(word(), n);
    if (name == "inval") return mbarrier::invalidate(word());
    if (name == "copy") return copies_.issue(memory_.issue(1, 16, 0)).violation;
    if (name == "async_arrive") return arrive(false);
    if (name == "async_arrive_noinc") return arrive(true);
    if (name == "wait_parity") return wait(n);
    ADD_FAILURE() << "unknown operation " << name;
    return Violation::none;
  }
  Violation arrive(bool noinc) {
    const std::uint32_t addresses[warp_size] = {bar};
    return copies_
        .arrive({.mask = 1, .mbarrier = addresses, .base = memory_.shared, .noinc = noinc})
        .violation;
  }
  Violation wait(std::uint32_t parity) {
    const Violation violation = copies_.flush_for(&word()).violation;
    EXPECT_TRUE(mbarrier::test_parity(word(), parity).done);
    return violation;
  }

  void check(const std::string& answer) {
    std::uint32_t index = 0, value = 0;
    ++answers;
    if (std::sscanf(answer.c_str(), "even=%u", &value) == 1)
      return same(mbarrier::test_parity(word(), 0).done, value, answer);
    if (std::sscanf(answer.c_str(), "odd=%u", &value) == 1)
      return same(mbarrier::test_parity(word(), 1).done, value, answer);
    if (std::sscanf(answer.c_str(), "pending=%u", &value) == 1)
      return same(mbarrier::pending_count(tokens_.back()).pending, value, answer);
    ASSERT_EQ(std::sscanf(answer.c_str(), "token[%u]=%u", &index, &value), 2) << answer;
    same(mbarrier::test(word(), tokens_.at(index)).done, value, answer);
  }
  void same(std::uint32_t ours, std::uint32_t gpu, const std::string& answer) {
    EXPECT_EQ(ours, gpu) << answer << " after operation " << tokens_.size() - 1;
  }
  mbarrier::Word& word() { return memory_.word(bar); }

  Memory memory_;
  HeardCopies copies_{late};
  std::vector<mbarrier::Token> tokens_;
};

TEST(MbarrierTruth, EveryAnswerOfAnH200) {
  std::ifstream file(INFLIGHT_SOURCE_DIR "/tests/gpu/mbarrier_truth.h200.txt");
  ASSERT_TRUE(file) << "tests/gpu/mbarrier_truth.h200.txt cannot be read";
  Player player;
  for (std::string line, sequence; std::getline(file, line) && !HasFailure();) {
    SCOPED_TRACE(sequence + ":" + line);
    if (line.starts_with("  ")) {
      player.play(line);
      continue;
    }
    sequence = line;
    player.begin();
  }
  EXPECT_GT(player.lines, 1000u);
  EXPECT_GT(player.answers, 3000u);
}

}  // namespace
}  // namespace inflight::async
