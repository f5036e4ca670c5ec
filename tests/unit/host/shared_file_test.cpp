// Files that processes share: what nobody can do to them, and the files that are taken for none.
#include "gpu/host/shared_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace inflight::host {
namespace {

using testing::HasSubstr;
constexpr std::uint64_t bytes = 1 << 20;
constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A memfd as another program could make it.
OwnDescriptor foreign_file(const char* name, int seals) {
  const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(file, bytes), 0);
  EXPECT_EQ(fcntl(file, F_ADD_SEALS, seals), 0);
  return OwnDescriptor::take(file);
}

std::string refusal(int fd) {
  const auto file = shared_file(fd, event_file);
  return file ? "" : file.error();
}

TEST(SharedFile, IsRecognised) {
  const OwnDescriptor file = make_shared_file(event_file, bytes);
  const auto facts = shared_file(file.fd(), event_file);
  ASSERT_TRUE(facts) << facts.error();
  EXPECT_EQ(facts->bytes, bytes);
  EXPECT_THAT(facts->name, HasSubstr("inflight event"));
}

TEST(SharedFile, KeepsItsSize) {
  const OwnDescriptor file = make_shared_file(event_file, bytes);
  EXPECT_NE(ftruncate(file.fd(), 0), 0);
  EXPECT_NE(ftruncate(file.fd(), 2 * bytes), 0);
  EXPECT_EQ(fallocate(file.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
}

TEST(SharedFile, WhoseSizeCanChangeIsRefused) {
  EXPECT_EQ(refusal(foreign_file("inflight event", size_seals).fd()), "");
  for (const int some : {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW})
    EXPECT_THAT(refusal(foreign_file("inflight event", some).fd()), HasSubstr("change its size"));
}

TEST(SharedFile, ThatCannotBeWrittenIsRefused) {
  const auto sealed = foreign_file("inflight event", size_seals | F_SEAL_WRITE);
  EXPECT_THAT(refusal(sealed.fd()), HasSubstr("cannot be written"));
  const auto file = make_shared_file(event_file, bytes);
  const std::string path = "/proc/self/fd/" + std::to_string(file.fd());
  const auto reader = OwnDescriptor::take(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(refusal(reader.fd()), HasSubstr("cannot be written"));
}

TEST(SharedFile, OfAnotherNameOrKindIsRefused) {
  EXPECT_THAT(refusal(foreign_file("event", size_seals).fd()),
              HasSubstr("is not 'inflight event'"));
  EXPECT_THAT(refusal(make_shared_file(pool_file, 0).fd()), HasSubstr("is not 'inflight event'"));
  std::FILE* const plain = std::tmpfile();
  EXPECT_THAT(refusal(fileno(plain)), HasSubstr("is not memory"));
  std::fclose(plain);
  EXPECT_THAT(refusal(-1), HasSubstr("is not open"));
}

TEST(SharedFile, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const OwnDescriptor file = make_shared_file(event_file, bytes);
  ASSERT_EQ(fchown(file.fd(), 65534, 65534), 0);
  EXPECT_THAT(refusal(file.fd()), HasSubstr("belongs to another user (65534)"));
}

TEST(SharedFile, IsOpenedOnceMoreByName) {
  const OwnDescriptor file = make_shared_file(event_file, bytes);
  const std::string path = "/proc/self/fd/" + std::to_string(file.fd());
  const auto name = OwnDescriptor::take(open(path.c_str(), O_PATH | O_CLOEXEC));
  const auto again = reopen_shared_file(name.fd(), event_file);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(pwrite(again->fd(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(pread(file.fd(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
  const auto null = OwnDescriptor::take(open("/dev/null", O_PATH | O_CLOEXEC));
  EXPECT_FALSE(reopen_shared_file(null.fd(), event_file));
}

// A write past RLIMIT_FSIZE would end the process with SIGXFSZ.
TEST(SharedFile, AboveTheHostsLimitForFilesIsNotMade) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit little{bytes - 1, bytes - 1};
    setrlimit(RLIMIT_FSIZE, &little);
    _exit(make_shared_file(event_file, bytes).owns() ||
          !make_shared_file(event_file, bytes - 1).owns());
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace inflight::host
