// libnvrtc.so.13 called as in programs: the driver loads the machine code that it returns, and
// libnvJitLink.so.13 links its LTO-IR.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuCtxCreate_v4(void**, void*, unsigned, int);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemcpyDtoH_v2(void*, std::uint64_t, std::size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
}

namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class F, class... Arguments>
int call(void* library, const std::string& name, Arguments... arguments) {
  auto* function = reinterpret_cast<F*>(dlsym(library, name.c_str()));
  EXPECT_TRUE(function) << name;
  return function ? function(arguments...) : -1;
}

void* library(const char* name) {
  void* handle = dlopen((std::string(INFLIGHT_LIBRARIES "/") + name).c_str(), RTLD_NOW);
  EXPECT_TRUE(handle) << dlerror();
  return handle;
}

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    int major = 0, minor = 0;
    if (call<int(int*, int*)>(nvrtc_, "nvrtcVersion", &major, &minor) != 0)
      GTEST_SKIP() << "NVIDIA's libnvrtc.so.13 is not installed here";
    EXPECT_EQ(major, 13);
  }

  int compile(const std::string& source, std::vector<const char*> options) {
    EXPECT_EQ(
        (call<int(void**, const char*, const char*, int, const char* const*, const char* const*)>(
            nvrtc_, "nvrtcCreateProgram", &program_, source.c_str(), "a.cu", 0, nullptr, nullptr)),
        0);
    return call<int(void*, int, const char* const*)>(nvrtc_, "nvrtcCompileProgram", program_,
                                                     int(options.size()), options.data());
  }
  std::string get(const std::string& what) {
    std::size_t size = 0;
    EXPECT_EQ((call<int(void*, std::size_t*)>(nvrtc_, "nvrtcGet" + what + "Size", program_, &size)),
              0);
    std::string bytes(size, '?');
    if (size) {
      EXPECT_EQ((call<int(void*, char*)>(nvrtc_, "nvrtcGet" + what, program_, bytes.data())), 0);
    }
    return bytes;
  }
  void TearDown() override {
    if (program_) {
      EXPECT_EQ((call<int(void**)>(nvrtc_, "nvrtcDestroyProgram", &program_)), 0);
    }
  }

  void* nvrtc_ = library("libnvrtc.so.13");
  void* program_ = nullptr;
};

int result_of(const std::string& image) {
  void *context = nullptr, *module = nullptr, *function = nullptr;
  EXPECT_EQ(cuInit(0), 0);
  EXPECT_EQ(cuCtxCreate_v4(&context, nullptr, 0, 0), 0);
  EXPECT_EQ(cuModuleLoadData(&module, image.data()), 0);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), 0);
  std::uint64_t memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), 0);
  void* arguments[] = {&memory};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), 0);
  int result = -1;
  EXPECT_EQ(cuMemcpyDtoH_v2(&result, memory, 4), 0);
  return result;
}

const char* const kernel = R"(extern "C" __global__ void k(int* p) { *p = __CUDA_ARCH__; })";

TEST_F(Nvrtc, MachineCodeRuns) {
  for (std::vector<const char*> options : std::vector<std::vector<const char*>>{
           {"--gpu-architecture=sm_90"}, {"-arch", "sm_90"}, {"-G", "-arch=sm_90"}}) {
    ASSERT_EQ(compile(kernel, options), 0) << get("ProgramLog");
    const std::string cubin = get("CUBIN");
    const std::string ptx = get("PTX");
    EXPECT_TRUE(cubin.starts_with(ptx.substr(0, ptx.find('\0'))));
    EXPECT_EQ(result_of(cubin), 900);
  }
}

TEST_F(Nvrtc, SpecificArchitecturesStaySpecific) {
  ASSERT_EQ(compile(kernel, {"-arch=sm_90a"}), 0);
  EXPECT_THAT(get("CUBIN"), HasSubstr(".target sm_90a"));
}

TEST_F(Nvrtc, RegistersAreLimited) {
  ASSERT_EQ(compile(kernel, {"-arch=sm_90", "--maxrregcount=24"}), 0);
  const std::string cubin = get("CUBIN");
  EXPECT_THAT(cubin, HasSubstr(".maxnreg 24"));
  EXPECT_EQ(result_of(cubin), 900);
}

TEST_F(Nvrtc, VirtualArchitecturesHaveNoMachineCode) {
  ASSERT_EQ(compile(kernel, {"-arch=compute_90"}), 0);
  EXPECT_EQ(get("CUBIN"), "");
  EXPECT_EQ(result_of(get("PTX")), 900);
}

TEST_F(Nvrtc, MistakesAreTheOriginals) {
  EXPECT_EQ(compile("nonsense", {"-arch=sm_90"}), 6);  // NVRTC_ERROR_COMPILATION
  EXPECT_THAT(get("ProgramLog"), HasSubstr("a.cu(1): error"));
  EXPECT_EQ(get("CUBIN"), "");
  EXPECT_EQ(compile(kernel, {"-arch=sm_1"}), 5);  // NVRTC_ERROR_INVALID_OPTION
  EXPECT_NE((call<int(void*, int, const char* const*)>(nvrtc_, "nvrtcCompileProgram", program_, 1,
                                                       nullptr)),
            0);
}

TEST_F(Nvrtc, LtoIrIsLinked) {
  void* linker = library("libnvJitLink.so.13");
  std::vector<std::string> ltoir;
  for (const char* source :
       {R"(extern "C" __device__ int f(int); extern "C" __global__ void k(int* p) { *p = f(35); })",
        R"(extern "C" __device__ int f(int a) { return a + 7; })"}) {
    ASSERT_EQ(compile(source, {"-arch=sm_90", "-dlto", "-rdc=true"}), 0) << get("ProgramLog");
    EXPECT_EQ(get("CUBIN"), "");
    ltoir.push_back(get("LTOIR"));
  }
  void* link = nullptr;
  const char* options[] = {"-arch=sm_90", "-lto"};
  ASSERT_EQ((call<int(void**, std::uint32_t, const char**)>(linker, "nvJitLinkCreate", &link, 2u,
                                                            options)),
            0);
  for (const std::string& each : ltoir) {
    const int status = call<int(void*, int, const void*, std::size_t, const char*)>(
        linker, "nvJitLinkAddData", link, 3, each.data(), each.size(), "input");
    if (status == 6) GTEST_SKIP() << "NVIDIA's libnvJitLink.so.13 is not installed here";
    ASSERT_EQ(status, 0);
  }
  ASSERT_EQ((call<int(void*)>(linker, "nvJitLinkComplete", link)), 0);
  std::size_t size = 0;
  ASSERT_EQ((call<int(void*, std::size_t*)>(linker, "nvJitLinkGetLinkedCubinSize", link, &size)),
            0);
  std::string cubin(size, '?');
  ASSERT_EQ((call<int(void*, void*)>(linker, "nvJitLinkGetLinkedCubin", link, cubin.data())), 0);
  EXPECT_EQ(result_of(cubin), 42);
  EXPECT_EQ((call<int(void**)>(linker, "nvJitLinkDestroy", &link)), 0);
}

}  // namespace
