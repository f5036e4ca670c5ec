// Handles from other processes, which may name any file and say anything about it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <thread>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/shared_memory.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/sharing/event.hpp"
#include "gpu/host/shared_file.hpp"

namespace inflight::cuda {
namespace {

using Kind = SharingHandle::Kind;
using std::chrono::milliseconds;
constexpr std::uint64_t bytes = 1 << 20;

// Another process, which makes a handle and stays until the test ends.
class Peer {
 public:
  explicit Peer(const std::function<SharingHandle()>& make) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      const SharingHandle made = make();
      char end = 0;
      if (write(ends[1], &made, sizeof made) == sizeof made) (void)!read(ends[1], &end, 1);
      _exit(0);
    }
    close(ends[1]);
    end_ = ends[0];
    EXPECT_EQ(read(end_, &handle, sizeof handle), ssize_t(sizeof handle));
  }
  ~Peer() {
    close(end_);
    waitpid(process_, nullptr, 0);
  }
  Peer(const Peer&) = delete;
  SharingHandle handle;

 private:
  pid_t process_ = -1;
  int end_ = -1;
};

SharingHandle handle_of(Kind kind, int file) {
  struct stat facts {};
  fstat(file, &facts);
  SharingHandle handle;
  handle.kind = kind, handle.process = getpid(), handle.file = file;
  handle.system = facts.st_dev, handle.inode = facts.st_ino;
  handle.bytes = std::uint64_t(facts.st_size);
  return handle;
}

// A file as this library makes it, which stays open.
int shared(std::string_view name, std::uint64_t size) {
  static host::OwnDescriptor file;
  file = host::make_shared_file(name, size);
  return file.fd();
}
SharingHandle good_memory() {
  const int file = shared(host::device_memory_file, bytes);
  (void)!pwrite(file, "shared", 6, 0);
  return handle_of(Kind::memory, file);
}

Status import(const SharingHandle& handle) {
  void* place = nullptr;
  const Status status = import_memory(&place, handle, 1);
  if (status == Status::success) {
    EXPECT_EQ(close_imported(place), Status::success);
  }
  return status;
}

TEST(SharedMemory, OfAnotherProcessIsMapped) {
  const Peer peer(good_memory);
  void* place = nullptr;
  ASSERT_EQ(import_memory(&place, peer.handle, 1), Status::success);
  EXPECT_STREQ(static_cast<const char*>(place), "shared");
  const auto found = Core::get().memory.find(address_of(place));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size, bytes);
  EXPECT_EQ(close_imported(place), Status::success);
}

TEST(SharedMemory, MustLieInItsFile) {
  const Peer peer(good_memory);
  SharingHandle changed = peer.handle;
  changed.bytes = bytes + 1;
  EXPECT_EQ(import(changed), Status::invalid_value);
  changed.bytes = 1ull << 40;
  EXPECT_EQ(import(changed), Status::invalid_value);
  changed.bytes = 0;
  EXPECT_EQ(import(changed), Status::invalid_value);
  changed.bytes = 4096, changed.offset = bytes - 4095;
  EXPECT_EQ(import(changed), Status::invalid_value);
  changed.offset = ~std::uint64_t{0} - 4094;
  EXPECT_EQ(import(changed), Status::invalid_value);
  changed.offset = bytes - 4096;
  EXPECT_EQ(import(changed), Status::success);
}

// Every byte of a handle takes several values. What can be opened can be read to its end.
TEST(SharedMemory, IsThereWhateverTheHandleSays) {
  const Peer peer(good_memory);
  int opened = 0;
  for (std::size_t at = 0; at < sizeof(SharingHandle); ++at)
    for (const int flipped : {0x01, 0x10, 0x40, 0x80, 0xff}) {
      SharingHandle changed = peer.handle;
      reinterpret_cast<unsigned char*>(&changed)[at] ^= std::uint8_t(flipped);
      void* place = nullptr;
      if (import_memory(&place, changed, 1) != Status::success) continue;
      ++opened;
      const auto found = Core::get().memory.find(address_of(place));
      ASSERT_TRUE(found);
      ASSERT_LE(found->size, bytes);
      const volatile char* const memory = static_cast<const char*>(place);
      for (std::uint64_t i = 0; i < found->size; i += 4096) (void)memory[i];
      (void)memory[found->size - 1];
      EXPECT_EQ(close_imported(place), Status::success);
    }
  EXPECT_GT(opened, 0);  // the device and the pool do not matter
}

TEST(SharedMemory, IsNoOtherFileOfAnyProcess) {
  const Peer plain([] { return handle_of(Kind::memory, fileno(std::tmpfile())); });
  EXPECT_EQ(import(plain.handle), Status::map_failed);
  const Peer unsealed([] {
    const int file = memfd_create("inflight device memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)!ftruncate(file, bytes);
    return handle_of(Kind::memory, file);
  });
  EXPECT_EQ(import(unsealed.handle), Status::map_failed);
  const Peer event([] { return handle_of(Kind::memory, shared(host::event_file, bytes)); });
  EXPECT_EQ(import(event.handle), Status::map_failed);
  const Peer fifo([] {
    int ends[2];
    (void)!pipe(ends);
    return handle_of(Kind::memory, ends[0]);
  });
  EXPECT_EQ(import(fifo.handle), Status::map_failed);
}

TEST(SharedMemory, IsNotTakenFromAnotherUser) {
  if (getuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto as = [](uid_t real, uid_t effective) {
    return [=] {
      const SharingHandle made = good_memory();  // of a file that belongs to us
      if (setresuid(real, effective, effective) != 0) _exit(1);
      prctl(PR_SET_DUMPABLE, 1);
      return made;
    };
  };
  const Peer other(as(65534, 65534)), really_other(as(65534, 0));
  EXPECT_EQ(import(other.handle), Status::map_failed);
  EXPECT_EQ(import(really_other.handle), Status::map_failed);
  const Peer given([] {
    const int file = shared(host::device_memory_file, bytes);
    (void)!fchown(file, 65534, 65534);
    return handle_of(Kind::memory, file);
  });
  EXPECT_EQ(import(given.handle), Status::map_failed);
}

TEST(SharedMemory, IsNotReachedThroughAThreadsNumber) {
  SharingHandle own = good_memory();
  EXPECT_EQ(import(own), Status::invalid_context);
  std::thread([&] {
    own.process = gettid();
    EXPECT_EQ(import(own), Status::map_failed);
  }).join();
}

TEST(SharedMemory, KeepsTheSizeOfItsFile) {
  void* memory = nullptr;
  ASSERT_EQ(allocate_device(&memory, bytes), Status::success);
  SharingHandle handle;
  ASSERT_EQ(export_memory(&handle, memory), Status::success);
  struct stat facts {};
  ASSERT_EQ(fstat(handle.file, &facts), 0);
  EXPECT_EQ(facts.st_ino, handle.inode);
  EXPECT_NE(ftruncate(handle.file, 0), 0);
  EXPECT_GT(handle.file, 255);  // where programs seldom close descriptors
}

Status import_event_of(const SharingHandle& handle) {
  void* event = nullptr;
  const Status status = import_event(&event, handle);
  if (status == Status::success) {
    EXPECT_EQ(destroy_event(event), Status::success);
  }
  return status;
}

// The page as processes share it.
struct Page {
  std::uint64_t last;
  std::uint32_t wakes;
  std::uint64_t begun[2048], reached[2048];
};
SharingHandle event_with(const Page& page) {
  const int file = shared(host::event_file, sizeof(Page));
  (void)!pwrite(file, &page, sizeof page, 0);
  return handle_of(Kind::event, file);
}

TEST(SharedEvents, HaveFilesOfOneSize) {
  const Peer good([] { return event_with({}); });
  EXPECT_EQ(import_event_of(good.handle), Status::success);
  const Peer cut([] { return handle_of(Kind::event, shared(host::event_file, 4096)); });
  EXPECT_EQ(import_event_of(cut.handle), Status::map_failed);
  const Peer memory(
      [] { return handle_of(Kind::event, shared(host::device_memory_file, sizeof(Page))); });
  EXPECT_EQ(import_event_of(memory.handle), Status::map_failed);
}

TEST(SharedEvents, KeepTheSizeOfTheirFile) {
  const auto event = SharedEvent::create();
  ASSERT_TRUE(event);
  EXPECT_NE(ftruncate((*event)->file(), 0), 0);
}

TEST(SharedEvents, EndWithTheProcessThatBeganARecording) {
  static Page page{};
  page.last = 7;
  const Peer peer([] { return event_with(page); });  // it has not come to lock a byte
  const auto event = SharedEvent::open(peer.handle);
  ASSERT_TRUE(event);
  EXPECT_EQ((*event)->last(), 7u);
  EXPECT_TRUE((*event)->wait(7, milliseconds(1)));
}

TEST(SharedEvents, WaitForARecordingThatIsBeingBegun) {
  static Page page{};
  page.last = 7;
  const Peer peer([] {
    const SharingHandle made = event_with(page);
    struct flock lock {};
    lock.l_type = F_RDLCK, lock.l_whence = SEEK_SET, lock.l_start = 2048, lock.l_len = 1;
    fcntl(made.file, F_OFD_SETLK, &lock);
    return made;
  });
  const auto event = SharedEvent::open(peer.handle);
  ASSERT_TRUE(event);
  EXPECT_FALSE((*event)->wait(7, milliseconds(1)));
}

TEST(SharedEvents, TakeAnyNumbers) {
  static Page page{};
  page.last = ~std::uint64_t{0};
  for (std::uint64_t& each : page.begun) each = ~std::uint64_t{0};
  const Peer peer([] { return event_with(page); });
  const auto event = SharedEvent::open(peer.handle);
  ASSERT_TRUE(event);
  EXPECT_TRUE((*event)->wait((*event)->last(), milliseconds(1)));
  (*event)->finish((*event)->begin());
}

TEST(SharedEvents, CannotBeRecordedWithoutTheirFile) {
  void* handle = nullptr;
  ASSERT_EQ(create_event(&handle, 2 | 4), Status::success);  // without times, for processes
  const auto event = event_of(handle);
  ASSERT_TRUE(event);
  close((*event)->shared->file());
  EXPECT_EQ(record_event(*current_device().legacy(), *event, 0), Status::operating_system);
  SharingHandle to;
  EXPECT_EQ(export_event(&to, handle), Status::operating_system);
  EXPECT_EQ(destroy_event(handle), Status::success);
}

}  // namespace
}  // namespace inflight::cuda
