// Paths that name no regular file, and files of any size.
#include "gpu/host/input_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace inflight::host {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
constexpr std::uint64_t mebibyte = 1 << 20;

class InputFiles : public testing::Test {
 protected:
  InputFiles() {
    char name[] = "/tmp/inflight-input-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~InputFiles() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(InputFiles, AreReadWhole) {
  std::ofstream(at("text")) << "some text";
  EXPECT_EQ(read_file(at("text"), 9), "some text");
  const auto file = InputFile::open(at("text"));
  ASSERT_TRUE(file);
  char part[8] = {};
  EXPECT_EQ(file->read(5, part, sizeof part), 4u);
  EXPECT_STREQ(part, "text");
}

TEST_F(InputFiles, AreRefusedAboveTheirLimit) {
  std::ofstream(at("sparse")).close();
  fs::resize_file(at("sparse"), 20000 * mebibyte);
  EXPECT_EQ(read_file(at("sparse"), 2 * mebibyte).error(),
            "has 20000 MiB; at most 2 MiB can be read");
}

TEST_F(InputFiles, AFifoIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  alarm(10);  // ends a process that waits for a writer
  EXPECT_THAT(read_file(at("fifo"), mebibyte).error(),
              HasSubstr("is not a regular file but a pipe"));
  alarm(0);
}

TEST_F(InputFiles, TheNullDeviceIsEmpty) { EXPECT_EQ(read_file("/dev/null", mebibyte), ""); }

TEST_F(InputFiles, DevicesSocketsAndFoldersAreRefused) {
  EXPECT_THAT(read_file("/dev/zero", mebibyte).error(),
              HasSubstr("not a regular file but a device"));
  EXPECT_EQ(read_file("/", mebibyte).error(), "is a folder");
  EXPECT_THAT(read_file(at("nothing"), mebibyte).error(), HasSubstr("No such file"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  at("socket").copy(place.sun_path, sizeof place.sun_path - 1);
  ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  EXPECT_THAT(read_file(at("socket"), mebibyte).error(),
              HasSubstr("not a regular file but a socket"));
  close(socket);
}

}  // namespace
}  // namespace inflight::host
