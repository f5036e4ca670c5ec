// The error log through the runtime's calls. It is the driver's log.
#include <gmock/gmock.h>

#include <string>

extern "C" {
int cudaLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaLibraryUnload(void*);
int cudaGetLastError();
int cudaLogsRegisterCallback(void (*)(void*, int, char*, std::size_t), void*, void**);
int cudaLogsUnregisterCallback(void*);
int cudaLogsCurrent(unsigned*, unsigned);
int cudaLogsDumpToFile(unsigned*, const char*, unsigned);
int cudaLogsDumpToMemory(unsigned*, char*, std::size_t*, unsigned);
}

namespace {

using testing::HasSubstr;
constexpr int success = 0, invalid_value = 1;

// A library is loaded at the first query for its contents.
void fail_to_load() {
  void *library = nullptr, *kernel = nullptr;
  const char* const text = ".version 8.0\n.target sm_90\nnonsense";
  ASSERT_EQ(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0), success);
  ASSERT_NE(cudaLibraryGetKernel(&kernel, library, "kernel"), success);
  cudaGetLastError();
  cudaLibraryUnload(library);
}

TEST(RuntimeLogs, CallbacksHearUntilTheyAreUnregistered) {
  std::string heard;
  void* handle = nullptr;
  auto hear = [](void* data, int, char* message, std::size_t length) {
    static_cast<std::string*>(data)->append(message, length);
  };
  ASSERT_EQ(cudaLogsRegisterCallback(hear, &heard, &handle), success);
  fail_to_load();
  EXPECT_THAT(heard, HasSubstr("line 3"));
  ASSERT_EQ(cudaLogsUnregisterCallback(handle), success);
  EXPECT_EQ(cudaLogsUnregisterCallback(handle), invalid_value);
  heard.clear();
  fail_to_load();
  EXPECT_EQ(heard, "");
}

TEST(RuntimeLogs, DumpsWhatCameSinceTheIterator) {
  fail_to_load();
  unsigned now = 0, begin = 0;
  ASSERT_EQ(cudaLogsCurrent(&now, 0), success);
  std::string text(25600, 'x');
  std::size_t size = text.size();
  begin = now;
  ASSERT_EQ(cudaLogsDumpToMemory(&begin, text.data(), &size, 0), success);
  EXPECT_EQ(size, 0u);
  fail_to_load();
  size = text.size();
  ASSERT_EQ(cudaLogsDumpToMemory(&begin, text.data(), &size, 0), success);
  EXPECT_THAT(text.substr(0, size), HasSubstr("line 3"));
  EXPECT_EQ(begin, now + 1);
  EXPECT_EQ(cudaLogsDumpToMemory(&begin, nullptr, &size, 0), invalid_value);
  EXPECT_EQ(cudaLogsDumpToFile(&begin, nullptr, 0), invalid_value);
  EXPECT_EQ(cudaLogsCurrent(nullptr, 0), invalid_value);
}

}  // namespace
