// printf's buffer: printed when the host synchronises or waits. The oldest text is overwritten.
#include "gpu/cuda/core/base/printf_fifo.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace inflight::cuda {
namespace {

constexpr std::size_t capacity = 512 << 10;

std::string line(int number) { return "line " + std::to_string(number) + "\n"; }

TEST(PrintfFifo, KeepsTextInOrderUntilItIsFlushed) {
  PrintfFifo& fifo = *new PrintfFifo;  // its thread outlives the test
  std::string want;
  testing::internal::CaptureStdout();
  for (int i = 0; i < 10000; ++i) {
    fifo.write(line(i), capacity);
    want += line(i);
  }
  EXPECT_EQ(fifo.unshown(), want.size());
  fifo.flush();
  EXPECT_EQ(fifo.unshown(), 0u);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), want);
}

TEST(PrintfFifo, OverwritesTheOldestMessagesAndSaysSo) {
  PrintfFifo& fifo = *new PrintfFifo;  // its thread outlives the test
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  constexpr int lines = 200000;
  for (int i = 0; i < lines; ++i) fifo.write(line(i), capacity);
  fifo.flush();
  const std::string shown = testing::internal::GetCapturedStdout();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_LE(shown.size(), capacity);
  EXPECT_GT(shown.size(), capacity / 2);
  EXPECT_TRUE(shown.starts_with("line ")) << "a message was cut";
  EXPECT_TRUE(shown.ends_with(line(lines - 1)));
  EXPECT_NE(said.find("cudaLimitPrintfFifoSize"), said.npos) << said;
}

// Writes to a pipe, which shows the time of the output.
class Watched : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends), 0);
    std::fflush(stdout);
    saved = dup(1);
    dup2(ends[1], 1);
  }
  void TearDown() override {
    std::fflush(stdout);
    dup2(saved, 1);
    for (int fd : {ends[0], ends[1], saved}) close(fd);
  }
  std::string read_some() {
    char text[256];
    const auto size = read(ends[0], text, sizeof text);
    return std::string(text, size > 0 ? std::size_t(size) : 0);
  }
  int ends[2] = {}, saved = -1;
  PrintfFifo& fifo = *new PrintfFifo;  // its thread outlives the test
};

TEST_F(Watched, TextAppearsWhileTheHostWaits) {
  const PrintfFifo::Waiting waiting(fifo);
  fifo.write("first\n", capacity);
  EXPECT_EQ(read_some(), "first\n");
  fifo.write("second\n", capacity);
  EXPECT_EQ(read_some(), "second\n");
}

TEST_F(Watched, TextFromBeforeTheWaitAppearsToo) {
  fifo.write("before\n", capacity);
  const PrintfFifo::Waiting waiting(fifo);
  EXPECT_EQ(read_some(), "before\n");
}

}  // namespace
}  // namespace inflight::cuda
