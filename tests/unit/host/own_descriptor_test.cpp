// Descriptors whose numbers the program closes or gives to other files.
#include "gpu/host/own_descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace inflight::host {
namespace {

int new_file() { return memfd_create("own descriptor", MFD_CLOEXEC); }
bool open_now(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(OwnDescriptor, StaysAwayFromTheNumbersThatProgramsUse) {
  const int low = new_file();
  const OwnDescriptor own = OwnDescriptor::take(low);
  EXPECT_GT(own.fd(), 255);
  EXPECT_FALSE(open_now(low));
  EXPECT_TRUE(fcntl(own.fd(), F_GETFD) & FD_CLOEXEC);
}

TEST(OwnDescriptor, IsGoneAfterTheProgramClosedIt) {
  const OwnDescriptor own = OwnDescriptor::take(new_file());
  close(own.fd());
  EXPECT_EQ(own.fd(), -1);
  EXPECT_TRUE(own.owns());
}

TEST(OwnDescriptor, LeavesAnotherFileUnderItsNumberAlone) {
  const int other = new_file();
  int number = -1;
  {
    const OwnDescriptor own = OwnDescriptor::take(new_file());
    number = own.fd();
    ASSERT_EQ(dup2(other, number), number);
    EXPECT_EQ(own.fd(), -1);
  }
  EXPECT_TRUE(open_now(number));
  close(number);
  close(other);
}

TEST(OwnDescriptor, ClosesItsFile) {
  int number = -1;
  {
    const OwnDescriptor own = OwnDescriptor::take(new_file());
    number = own.fd();
  }
  EXPECT_FALSE(open_now(number));
}

TEST(OwnDescriptor, OwnsNothingAfterAFailedOpen) {
  const OwnDescriptor none = OwnDescriptor::take(-1);
  EXPECT_FALSE(none.owns());
  EXPECT_EQ(none.fd(), -1);
}

TEST(OwnDescriptor, IsMoved) {
  OwnDescriptor first = OwnDescriptor::take(new_file()), second = OwnDescriptor::take(new_file());
  const int kept = second.fd(), ended = first.fd();
  first = std::move(second);
  second = OwnDescriptor();
  EXPECT_EQ(first.fd(), kept);
  EXPECT_FALSE(open_now(ended));
}

}  // namespace
}  // namespace inflight::host
