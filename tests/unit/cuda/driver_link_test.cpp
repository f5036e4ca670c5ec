// The driver's linker (cuLinkAddData) on static libraries, and on NVIDIA's device runtime.
#include <ar.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

using Handle = void*;

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuLinkCreate_v2(unsigned, int*, void**, Handle*);
int cuLinkAddData_v2(Handle, int, void*, std::size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(Handle, void**, std::size_t*);
int cuLinkDestroy(Handle);
}

namespace {

constexpr int success = 0, invalid_value = 1, invalid_ptx = 218;
// CUjitInputType.
constexpr int fatbin = 2, library = 4;

std::string corpus(const std::string& name) {
  std::ifstream file(INFLIGHT_FATBIN_CORPUS "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string member(const std::string& bytes) {
  ar_hdr header;
  std::memset(&header, ' ', sizeof header);
  const std::string size = std::to_string(bytes.size());
  std::memcpy(header.ar_size, size.data(), size.size());
  std::memcpy(header.ar_fmag, ARFMAG, sizeof header.ar_fmag);
  std::string result(reinterpret_cast<const char*>(&header), sizeof header);
  return result + bytes + (bytes.size() % 2 ? "\n" : "");
}

class DriverLink : public testing::Test {
 protected:
  void SetUp() override {
    Handle context = nullptr;
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context), success);
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link_), success);
  }
  void TearDown() override { EXPECT_EQ(cuLinkDestroy(link_), success); }
  int add(int type, std::string bytes) {
    return cuLinkAddData_v2(link_, type, bytes.data(), bytes.size(), "input", 0, nullptr, nullptr);
  }
  int complete() {
    void* image = nullptr;
    std::size_t bytes = 0;
    return cuLinkComplete(link_, &image, &bytes);
  }

 private:
  Handle link_ = nullptr;
};

TEST_F(DriverLink, AnArchivesObjectsAreAdded) {
  const std::string object = corpus("program.elf");
  EXPECT_EQ(add(library, ARMAG + member("an index")), success);
  EXPECT_EQ(complete(), invalid_value);  // nothing was added
  EXPECT_EQ(add(library, ARMAG + member("odd") + member(object)), success);
  EXPECT_EQ(complete(), invalid_ptx);  // both of its fatbins define the kernel
  EXPECT_EQ(add(library, ARMAG + member(object).substr(0, 500)), invalid_ptx);
}

// The software GPU supplies its functions, as for programs that nvcc linked with it.
TEST_F(DriverLink, TheDeviceRuntimeIsLeftOut) {
  std::string image = corpus("raw.fatbin");
  // Its PTX has names with this in them.
  const std::string mark = "cuda_device_runtime_cu";
  const auto at = image.find(".address_size");
  ASSERT_NE(at, image.npos);
  image.replace(at, mark.size(), mark);
  EXPECT_EQ(add(fatbin, image), success);
  EXPECT_EQ(complete(), invalid_value);  // nothing was added
  EXPECT_EQ(add(fatbin, corpus("raw.fatbin")), success);
  EXPECT_EQ(complete(), success);
}

}  // namespace
