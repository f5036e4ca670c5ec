// The driver's error log, which gives programs its messages as text.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

extern "C" {
int cuInit(unsigned);
int cuCtxCreate_v2(void**, unsigned, int);
int cuModuleLoadData(void**, const void*);
int cuLogsRegisterCallback(void (*)(void*, int, char*, std::size_t), void*, void**);
int cuLogsUnregisterCallback(void*);
int cuLogsCurrent(unsigned*, unsigned);
int cuLogsDumpToFile(unsigned*, const char*, unsigned);
int cuLogsDumpToMemory(unsigned*, char*, std::size_t*, unsigned);
}

namespace {

using testing::HasSubstr;
constexpr int success = 0, invalid_value = 1, invalid_ptx = 218;

class DriverLogs : public testing::Test {
 protected:
  void SetUp() override {
    void* context = nullptr;
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), success);
  }
  static void fail_to_load() {
    void* module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\nnonsense"), invalid_ptx);
  }
  static std::string dumped(unsigned* iterator, std::size_t room = 25600) {
    std::string text(room, 'x');
    std::size_t size = room;
    EXPECT_EQ(cuLogsDumpToMemory(iterator, text.data(), &size, 0), success);
    return text.substr(0, size);
  }
};

TEST_F(DriverLogs, CallbacksHearUntilTheyAreUnregistered) {
  std::string heard;
  void* handle = nullptr;
  auto hear = [](void* data, int level, char* message, std::size_t length) {
    *static_cast<std::string*>(data) += std::to_string(level) + std::string(message, length);
  };
  ASSERT_EQ(cuLogsRegisterCallback(hear, &heard, &handle), success);
  fail_to_load();
  EXPECT_THAT(heard, HasSubstr("line 3"));
  EXPECT_EQ(heard.front(), '0');  // an error
  ASSERT_EQ(cuLogsUnregisterCallback(handle), success);
  EXPECT_EQ(cuLogsUnregisterCallback(handle), invalid_value);
  heard.clear();
  fail_to_load();
  EXPECT_EQ(heard, "");
  EXPECT_EQ(cuLogsRegisterCallback(nullptr, nullptr, nullptr), invalid_value);
}

TEST_F(DriverLogs, AnIteratorAdvances) {
  unsigned iterator = 0;
  fail_to_load();
  ASSERT_EQ(cuLogsCurrent(&iterator, 0), success);
  EXPECT_EQ(dumped(&iterator), "");
  fail_to_load();
  const std::string one = dumped(&iterator);
  EXPECT_THAT(one, HasSubstr("[CUDA][E] "));
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1);
  EXPECT_EQ(dumped(&iterator), "");
  EXPECT_THAT(dumped(nullptr), testing::EndsWith(one));
}

TEST_F(DriverLogs, TheNewestAreKeptWhereRoomIsShort) {
  unsigned iterator = 0;
  fail_to_load();
  const std::size_t line = dumped(nullptr).size();
  for (int i = 0; i < 200; ++i) fail_to_load();
  EXPECT_THAT(dumped(nullptr, 3 * line), HasSubstr("earlier messages are left out\n"));
  EXPECT_LE(dumped(&iterator, 3 * line).size(), 3 * line);
  char small[4];
  std::size_t size = sizeof(small);
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, small, &size, 0), invalid_value);
  EXPECT_EQ(size, 0u);
}

TEST_F(DriverLogs, AFileGetsTheSame) {
  const std::string path = testing::TempDir() + "driver_log.txt";
  std::remove(path.c_str());
  fail_to_load();
  ASSERT_EQ(cuLogsDumpToFile(nullptr, path.c_str(), 0), success);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), dumped(nullptr));
  EXPECT_EQ(cuLogsDumpToFile(nullptr, "/nowhere/at/all", 0), invalid_value);
}

}  // namespace
