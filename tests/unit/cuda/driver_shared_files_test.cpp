// Descriptors that stand for memory and multicast objects: those of other programs, those that
// other processes damage, and those that the program itself closes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using Handle = void*;
using Address = unsigned long long;
struct Properties {  // CUmemAllocationProp
  int type = 1, handle_types = 1, location_type = 1, location = 0;
  void* win32 = nullptr;
  unsigned char flags[8] = {};
};
struct MulticastProperties {  // CUmulticastObjectProp
  unsigned devices = 1;
  std::size_t bytes = 2 << 20;
  unsigned long long handle_types = 1, flags = 0;
};

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuCtxSynchronize();
int cuMemCreate(Address*, std::size_t, const Properties*, Address);
int cuMemRelease(Address);
int cuMemAddressReserve(Address*, std::size_t, std::size_t, Address, Address);
int cuMemMap(Address, std::size_t, std::size_t, Address, Address);
int cuMemUnmap(Address, std::size_t);
int cuMemExportToShareableHandle(void*, Address, int, Address);
int cuMemImportFromShareableHandle(Address*, void*, int);
int cuMulticastCreate(Address*, const MulticastProperties*);
int cuMulticastAddDevice(Address, int);
int cuMulticastBindMem(Address, std::size_t, Address, std::size_t, std::size_t, Address);
int cuMulticastUnbind(Address, int, std::size_t, std::size_t);
}

namespace {

constexpr int success = 0, invalid_value = 1, operating_system = 304, illegal_state = 401;
constexpr int as_file = 1;
constexpr std::size_t bytes = 2 << 20;
constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

class DriverSharedFiles : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context_), success);
  }
  static Address memory() {
    Address made = 0;
    const Properties properties;
    EXPECT_EQ(cuMemCreate(&made, bytes, &properties, 0), success);
    return made;
  }
  static Address multicast() {
    Address made = 0;
    const MulticastProperties properties;
    EXPECT_EQ(cuMulticastCreate(&made, &properties), success);
    return made;
  }
  static int exported(Address handle) {
    int file = -1;
    EXPECT_EQ(cuMemExportToShareableHandle(&file, handle, as_file, 0), success);
    return file;
  }
  static int import(int file, Address* made) {
    return cuMemImportFromShareableHandle(made, reinterpret_cast<void*>(std::intptr_t(file)),
                                          as_file);
  }
  static int import(int file) {
    Address made = 0;
    const int status = import(file, &made);
    if (status == success) EXPECT_EQ(cuMemRelease(made), success);
    close(file);
    return status;
  }
  static int file_named(const std::string& name, std::size_t size, int seals) {
    const int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(file, off_t(size)), 0);
    EXPECT_EQ(fcntl(file, F_ADD_SEALS, seals), 0);
    return file;
  }

 private:
  Handle context_ = nullptr;
};

TEST_F(DriverSharedFiles, KeepTheirSize) {
  for (const int file : {exported(memory()), exported(multicast())}) {
    EXPECT_NE(ftruncate(file, 0), 0);
    close(file);
  }
}

TEST_F(DriverSharedFiles, OfMemoryAreCheckedBeforeTheyAreImported) {
  const std::string name = "inflight memory at 1.0";
  EXPECT_EQ(import(file_named(name, bytes, size_seals)), success);
  EXPECT_EQ(import(file_named(name, bytes, 0)), invalid_value);
  EXPECT_EQ(import(file_named(name, bytes, size_seals | F_SEAL_WRITE)), invalid_value);
  EXPECT_EQ(import(file_named(name, bytes + 4096, size_seals)), invalid_value);
  EXPECT_EQ(import(file_named(name, 0, size_seals)), invalid_value);
  EXPECT_EQ(import(file_named("inflight memory at 77.5", bytes, size_seals)), invalid_value);
  EXPECT_EQ(import(file_named("inflight event", bytes, size_seals)), invalid_value);
  EXPECT_EQ(import(open("/dev/zero", O_RDWR | O_CLOEXEC)), invalid_value);
  const int file = exported(memory());
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  EXPECT_EQ(import(open(path.c_str(), O_RDONLY | O_CLOEXEC)), invalid_value);
  EXPECT_EQ(import(file), success);
}

TEST_F(DriverSharedFiles, OfAnotherUserAreNotImported) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  for (const int file : {exported(memory()), exported(multicast())}) {
    ASSERT_EQ(fchown(file, 65534, 65534), 0);
    const int same = dup(file);
    EXPECT_EQ(import(file), invalid_value);
    ASSERT_EQ(fchown(same, 0, 0), 0);
    close(same);
  }
}

// The fields of a multicast object's page that a process can set to anything.
struct Start {
  std::uint64_t version, bytes;
  std::uint32_t most, added, count;
  std::int32_t devices[64];
};

class DriverSharedMulticast : public DriverSharedFiles {
 protected:
  // A file as another process could make it: a copy of a good object with other fields.
  static int copy_with(const Start& start) {
    const int good = exported(multicast());
    struct stat facts {};
    EXPECT_EQ(fstat(good, &facts), 0);
    close(good);
    const int file = file_named("inflight multicast", std::size_t(facts.st_size), size_seals);
    EXPECT_EQ(pwrite(file, &start, sizeof start, 0), ssize_t(sizeof start));
    return file;
  }
};

TEST_F(DriverSharedMulticast, IsCheckedBeforeItIsImported) {
  EXPECT_EQ(import(copy_with({5, bytes, 1, 1, 0, {}})), success);
  EXPECT_EQ(import(copy_with({5, bytes, 1, 0, ~0u, {}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes, 1, 1, ~0u, {}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes, 1, ~0u, 0, {}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes, ~0u, 0, 0, {}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes, 0, 0, 0, {}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes + 1, 1, 0, 0, {}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes, 2, 2, 0, {3, 3}})), invalid_value);
  EXPECT_EQ(import(copy_with({5, bytes, 1, 1, 1, {}})), invalid_value);  // a binding of 0 bytes
  EXPECT_EQ(import(file_named("inflight multicast", 4096, size_seals)), invalid_value);
}

TEST_F(DriverSharedMulticast, MayBeDamagedAtAnyTime) {
  const int file = copy_with({5, bytes, 1, 0, 0, {}});
  Address object = 0;
  ASSERT_EQ(import(file, &object), success);
  const Start damaged{6, bytes, 1, ~0u, ~0u, {}};
  ASSERT_EQ(pwrite(file, &damaged, sizeof damaged, 0), ssize_t(sizeof damaged));
  EXPECT_EQ(cuMulticastAddDevice(object, 0), illegal_state);
  EXPECT_EQ(cuMulticastBindMem(object, 0, memory(), 0, bytes, 0), illegal_state);
  EXPECT_EQ(cuMulticastUnbind(object, 0, 0, bytes), illegal_state);
  close(file);
}

TEST_F(DriverSharedMulticast, IsNotWaitedForForEver) {
  const int file = copy_with({5, bytes, 1, 0, 0, {}});
  Address object = 0;
  ASSERT_EQ(import(file, &object), success);
  struct flock lock {};
  lock.l_type = F_WRLCK, lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(file, F_OFD_SETLK, &lock), 0);
  EXPECT_EQ(cuMulticastAddDevice(object, 0), operating_system);
  lock.l_type = F_UNLCK;
  ASSERT_EQ(fcntl(file, F_OFD_SETLK, &lock), 0);
  EXPECT_EQ(cuMulticastAddDevice(object, 0), success);
  close(file);
}

std::vector<int> open_descriptors() {
  std::vector<int> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
    all.push_back(std::stoi(each.path().filename().string()));
  return all;
}

// Gives the program's file to every number that was open, as programs do that close what they did
// not open.
TEST_F(DriverSharedFiles, AreNotTakenForTheProgramsOwn) {
  const Address made = memory(), object = multicast();
  Address place = 0;
  ASSERT_EQ(cuMemAddressReserve(&place, bytes, 0, 0, 0), success);
  const std::vector<int> all = open_descriptors();
  for (const int each : all)
    if (each > 2) close(each);
  const int file = memfd_create("the program's own", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, bytes), 0);
  for (const int each : all)
    if (each > 2 && each != file) dup2(file, each);
  EXPECT_EQ(cuMemMap(place, bytes, 0, made, 0), operating_system);
  int given = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&given, made, as_file, 0), operating_system);
  EXPECT_EQ(cuMemExportToShareableHandle(&given, object, as_file, 0), operating_system);
  EXPECT_EQ(cuMulticastAddDevice(object, 0), operating_system);
  EXPECT_EQ(cuMemRelease(made), success);
  EXPECT_EQ(fcntl(file, F_GETFD), FD_CLOEXEC);
  for (const int each : all)
    if (each > 2) EXPECT_GE(fcntl(each, F_GETFD), 0) << "the program's " << each << " was closed";
}

}  // namespace
