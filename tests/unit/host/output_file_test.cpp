// Writing files on hosts that refuse it.
#include "gpu/host/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace inflight::host {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/output-XXXXXX";
    ASSERT_TRUE(mkdtemp(path.data()));
    folder = path;
  }
  void TearDown() override { fs::remove_all(folder); }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  fs::path folder;
};

// As on a full disk, no file of this process may grow past so many bytes.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(OutputFileTest, AreReplacedAsAWhole) {
  const std::string path = folder / "a.txt";
  ASSERT_TRUE(replace_file(path, "a long first text"));
  ASSERT_TRUE(replace_file(path, "second"));
  EXPECT_EQ(text_of(path), "second");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, KeepWhatTheyHoldIfThereIsNoRoom) {
  const std::string path = folder / "a.txt";
  ASSERT_TRUE(replace_file(path, "old"));
  tl::expected<void, std::string> wrote;
  {
    const SizeLimit limit(1000);
    wrote = replace_file(path, std::string(5000, 'x'));
  }
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error(), "File too large; the file that was there is kept");
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, KeepTheirModeAndTheLinksToThem) {
  const std::string path = folder / "a.txt", link = folder / "link.txt";
  ASSERT_TRUE(replace_file(path, "old"));
  fs::permissions(path, fs::perms(0640));
  fs::create_symlink("a.txt", link);
  ASSERT_TRUE(replace_file(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST_F(OutputFileTest, StayAnotherUsers) {
  const std::string path = folder / "a.txt";
  ASSERT_TRUE(replace_file(path, "old, and longer"));
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_TRUE(replace_file(path, "new"));
  EXPECT_EQ(text_of(path), "new");
  {
    const SizeLimit limit(1000);
    EXPECT_FALSE(replace_file(path, std::string(5000, 'x')));
  }
  EXPECT_EQ(text_of(path), "new");
  struct stat facts {};
  stat(path.c_str(), &facts);
  EXPECT_EQ(facts.st_uid, 65534u);
}

TEST_F(OutputFileTest, AreMadeWhereALinkLeads) {
  const std::string link = folder / "link.txt";
  fs::create_symlink("later.txt", link);
  ASSERT_TRUE(replace_file(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(folder / "later.txt"), "new");
}

TEST_F(OutputFileTest, MayBeDevices) {
  EXPECT_TRUE(replace_file("/dev/null", "text"));
  const auto wrote = replace_file("/dev/full", "text");
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error(), "No space left on device");
  EXPECT_FALSE(replace_file(folder / "no/such.txt", "text"));
}

TEST_F(OutputFileTest, ThatMayNotGrowDoNotEndTheProcess) {
  const std::string path = folder / "a.txt";
  ASSERT_TRUE(replace_file(path, ""));
  const int fd = open(path.c_str(), O_WRONLY);
  {
    const SizeLimit limit(10);
    EXPECT_EQ(write_all(fd, std::string(20, 'x'), 0), EFBIG);
  }
  close(fd);
  sigset_t waiting;
  sigpending(&waiting);
  EXPECT_FALSE(sigismember(&waiting, SIGXFSZ));
}

}  // namespace
}  // namespace inflight::host
