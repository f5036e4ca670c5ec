// The files that checked processes write.
#include "gpu/check/report/spool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

class SpoolTest : public testing::Test {
 protected:
  void SetUp() override { folder = new_folder(), spare = new_folder(); }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    std::filesystem::remove_all(spare);
  }
  static std::string new_folder() {
    std::string path = testing::TempDir() + "/spool-XXXXXX";
    EXPECT_TRUE(mkdtemp(path.data()));
    return path;
  }
  std::vector<std::string> folders() const { return {folder, spare}; }
  static std::size_t files_in(const std::string& path) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path),
                                                  std::filesystem::directory_iterator()));
  }
  std::string folder, spare;
};

TEST_F(SpoolTest, KeepsFindingsAndTheirCounts) {
  {
    Spool one(folders()), other(folders());
    ASSERT_TRUE(one.open());
    std::vector<Finding> found = {finding_at(1), full_finding()};
    for (const Finding& each : found) EXPECT_TRUE(one.add(each));
    found[0].count = 5;
    EXPECT_TRUE(one.conclude(3, found, {2, 1}));
    EXPECT_TRUE(other.conclude(1, {}, {0, 4}));
  }
  EXPECT_EQ(files_in(spare), 0u);
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.processes, 2u);
  EXPECT_TRUE(all.unfinished.empty());
  EXPECT_EQ(all.left.stopped, 2u);
  EXPECT_EQ(all.left.dropped, 5u);
  EXPECT_EQ(all.launches, 4u);
  EXPECT_EQ(all.lost, 0u);
  EXPECT_TRUE(all.problems.empty());
  ASSERT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.findings[0].count + all.findings[1].count, 5u + 64u);
}

TEST_F(SpoolTest, LosesNothingOfAProcessThatIsKilled) {
  const pid_t child = fork();
  if (child == 0) {
    Spool spool(folders());
    spool.add(finding_at(1));
    spool.add(finding_at(2));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  for (const auto& each : std::filesystem::directory_iterator(folder))
    std::ofstream(each.path(), std::ios::app) << "{\"kind\":\"data-ra";
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.unfinished.size(), 1u);
  EXPECT_EQ(all.lost, 0u);
}

TEST_F(SpoolTest, NeedsOneOfItsFolders) {
  EXPECT_FALSE(Spool({folder + "/none"}).open());
  EXPECT_FALSE(Spool({folder + "/none"}).add(finding_at(1)));
  Spool spool({folder + "/none", spare});
  EXPECT_TRUE(spool.open());
  EXPECT_TRUE(spool.add(finding_at(1)));
  EXPECT_EQ(read_spool({spare}).findings.size(), 1u);
}

TEST_F(SpoolTest, WritesToItsOwnFileAfterTheProgramTookTheDescriptor) {
  const std::string own = folder + "/own.dat";
  const pid_t child = fork();
  if (child == 0) {
    Spool spool(folders());
    const int fd = ::open(own.c_str(), O_RDWR | O_CREAT, 0600);
    // All descriptors now name the program's file.
    for (int number = 3; number < 4096; ++number)
      if (number != fd && fcntl(number, F_GETFD) >= 0) dup2(fd, number);
    _exit(spool.add(finding_at(1)) && spool.conclude(1, {finding_at(1)}) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::filesystem::file_size(own), 0u);
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.findings.size(), 1u);
  EXPECT_TRUE(all.unfinished.empty());
}

TEST_F(SpoolTest, KeepsAForkedChildApart) {
  Spool spool(folders());
  EXPECT_TRUE(spool.add(finding_at(1)));
  const pid_t child = fork();
  if (child == 0) _exit(spool.add(finding_at(2)) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(spool.add(finding_at(3)));
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.processes, 2u);
  EXPECT_EQ(all.findings.size(), 3u);
  EXPECT_EQ(all.lost, 0u);
}

TEST_F(SpoolTest, WritesAgainWhatTheProgramRemoved) {
  Spool spool(folders());
  EXPECT_TRUE(spool.add(finding_at(1)));
  for (const auto& each : std::filesystem::directory_iterator(folder))
    std::filesystem::remove(each.path());
  const std::vector<Finding> found = {finding_at(1), finding_at(2)};
  EXPECT_TRUE(spool.add(found[1]));
  EXPECT_TRUE(spool.conclude(1, found));
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.processes, 1u);
  EXPECT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.lost, 0u);
}

TEST_F(SpoolTest, GoesOnInTheOtherFolderAndSaysThatOneIsGone) {
  Spool spool(folders());
  EXPECT_TRUE(spool.add(finding_at(1)));
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(spool.conclude(1, {finding_at(1)}));
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.findings.size(), 1u);
  ASSERT_EQ(all.problems.size(), 1u);
  EXPECT_NE(all.problems[0].find("findings may be lost: the folder '" + folder), std::string::npos);
}

// A limit on the size of files, in place of full disks.
TEST_F(SpoolTest, CountsWhatItCouldNotKeep) {
  const pid_t child = fork();
  if (child == 0) {
    Spool spool(folders());
    const std::vector<Finding> found = {finding_at(1), full_finding(), full_finding()};
    const bool first = spool.add(found[0]);
    const rlimit limit{2000, 2000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const bool more = spool.add(found[1]) || spool.add(found[2]);
    _exit(first && !more && !spool.conclude(1, found) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.processes, 1u);
  EXPECT_EQ(all.findings.size(), 1u);
  EXPECT_EQ(all.lost, 2u);
}

TEST_F(SpoolTest, TellsOfAProcessThatCouldKeepNothing) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    Spool spool(folders());
    _exit(!spool.open() && !spool.add(finding_at(1)) && !spool.conclude(1, {}) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Spooled all = read_spool(folders());
  EXPECT_EQ(all.processes, 0u);
  ASSERT_EQ(all.problems.size(), 1u);
  EXPECT_EQ(all.problems[0], "what process " + std::to_string(child) +
                                 " found could not be kept: there was no room for temporary files");
}

TEST_F(SpoolTest, ReadsOnlyFilesOfFindings) {
  std::filesystem::create_symlink("/etc/passwd", folder + "/1-a.0.findings");
  ASSERT_EQ(mkfifo((folder + "/2-b.0.findings").c_str(), 0600), 0);
  const Spooled all = read_spool({folder});
  EXPECT_EQ(all.processes, 0u);
  EXPECT_EQ(all.problems.size(), 4u);
}

TEST(SpoolFolders, AreNewAndHidden) {
  std::vector<std::string> paths;
  {
    const SpoolFolders folders;
    paths = folders.paths();
    ASSERT_FALSE(paths.empty()) << folders.problem();
    const std::filesystem::path inner = paths[0];
    using std::filesystem::perms;
    EXPECT_EQ(status(inner).permissions(), perms(01733));
    EXPECT_EQ(status(inner.parent_path()).permissions(), perms(0711));
  }
  for (const std::string& each : paths) EXPECT_FALSE(std::filesystem::exists(each));
}

TEST(SpoolFolders, AreElsewhereIfTmpdirIsMissing) {
  const char* const before = getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_FALSE(SpoolFolders().paths().empty());
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

}  // namespace
}  // namespace inflight::check
