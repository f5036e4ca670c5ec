// The files that checked processes write.
#include "gpu/check/report/spool.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

class SpoolTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/spool-XXXXXX";
    ASSERT_TRUE(mkdtemp(path.data()));
    folder = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

TEST_F(SpoolTest, KeepsFindingsAndTheirCounts) {
  {
    Spool one(folder), other(folder);
    ASSERT_TRUE(one.open());
    std::vector<Finding> found = {finding_at(1), full_finding()};
    for (const Finding& each : found) one.add(each);
    found[0].count = 5;
    one.conclude(3, found);
    other.conclude(1, {});
  }
  const Spooled all = read_spool(folder);
  EXPECT_EQ(all.processes, 2u);
  EXPECT_EQ(all.unfinished, 0u);
  EXPECT_EQ(all.launches, 4u);
  ASSERT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.findings[0].count, 5u);
  EXPECT_EQ(all.findings[1].count, 64u);
}

TEST_F(SpoolTest, LosesNothingOfAProcessThatIsKilled) {
  const pid_t child = fork();
  if (child == 0) {
    Spool spool(folder);
    spool.add(finding_at(1));
    spool.add(finding_at(2));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  for (const auto& each : std::filesystem::directory_iterator(folder))
    std::ofstream(each.path(), std::ios::app) << "{\"kind\":\"data-ra";
  const Spooled all = read_spool(folder);
  EXPECT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.unfinished, 1u);
}

TEST_F(SpoolTest, SaysWhereItCannotBeKept) { EXPECT_FALSE(Spool(folder + "/none").open()); }

}  // namespace
}  // namespace inflight::check
