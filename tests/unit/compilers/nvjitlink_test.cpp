// libnvJitLink.so.13 and .12 called as in programs, up to a kernel that runs.
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
int cuFuncGetAttribute(int*, int, void*);
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemcpyDtoH_v2(void*, std::uint64_t, std::size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
}

namespace {

using testing::HasSubstr;

constexpr int input_cubin = 1, input_ptx = 2, input_any = 10;

// One link by a library of a given version.
class Link {
 public:
  explicit Link(std::vector<const char*> words, const char* version = "13") {
    const std::string path = std::string(INFLIGHT_LIBRARIES "/libnvJitLink.so.") + version;
    library_ = dlopen(path.c_str(), RTLD_NOW);
    EXPECT_TRUE(library_) << dlerror();
    created = call<int(void**, std::uint32_t, const char**)>(
        "Create", &handle_, std::uint32_t(words.size()), words.data());
  }
  ~Link() { EXPECT_EQ((call<int(void**)>("Destroy", &handle_)), 0); }

  int add(int type, const std::string& bytes, const char* name = "input") {
    return call<int(void*, int, const void*, std::size_t, const char*)>(
        "AddData", handle_, type, bytes.data(), bytes.size(), name);
  }
  int complete() { return call<int(void*)>("Complete", handle_); }
  int get(const std::string& what, std::string& to) {
    std::size_t size = 0;
    int status = call<int(void*, std::size_t*)>("Get" + what + "Size", handle_, &size);
    to.assign(size, '?');
    return status ? status : call<int(void*, void*)>("Get" + what, handle_, to.data());
  }
  std::string errors() {
    std::string log;
    EXPECT_EQ(get("ErrorLog", log), 0);
    return log;
  }
  void* symbol(const std::string& name) { return dlsym(library_, name.c_str()); }

  int created = -1;

 private:
  template <class F, class... Arguments>
  int call(const std::string& name, Arguments... arguments) {
    auto* function = reinterpret_cast<F*>(symbol("nvJitLink" + name));
    EXPECT_TRUE(function) << name;
    return function ? function(arguments...) : -1;
  }
  void* library_ = nullptr;
  void* handle_ = nullptr;
};

const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
const std::string declaration = ".extern .func (.param .b32 r) answer(.param .b32 a);\n";
const std::string caller =
    head + declaration +
    ".visible .entry k(.param .u64 p) {\n"
    " .reg .b32 %r<2>; .reg .b64 %d;\n ld.param.u64 %d, [p]; mov.b32 %r0, 35;\n"
    " { .param .b32 a; .param .b32 q; st.param.b32 [a], %r0;\n"
    " call (q), answer, (a); ld.param.b32 %r1, [q]; }\n"
    " st.global.b32 [%d], %r1; ret;\n}\n";
const std::string callee = head +
                           ".visible .func (.param .b32 r) answer(.param .b32 a) {\n"
                           " .reg .b32 %r; ld.param.b32 %r, [a]; add.s32 %r, %r, 7;\n"
                           " st.param.b32 [r], %r; ret;\n}\n";
const std::string alone =
    head +
    ".visible .entry k(.param .u64 p) {\n .reg .b64 %d; ld.param.u64 %d, [p];\n"
    " st.global.b32 [%d], 42; ret;\n}\n";

void* kernel_of(const std::string& image) {
  void *context = nullptr, *module = nullptr, *function = nullptr;
  EXPECT_EQ(cuInit(0), 0);
  EXPECT_EQ(cuCtxCreate_v4(&context, nullptr, 0, 0), 0);
  EXPECT_EQ(cuModuleLoadData(&module, image.data()), 0);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), 0);
  return function;
}

// The value that the kernel k(int*) of an image stores.
int result_of(const std::string& image) {
  void* function = kernel_of(image);
  std::uint64_t memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), 0);
  void* arguments[] = {&memory};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), 0);
  int result = -1;
  EXPECT_EQ(cuMemcpyDtoH_v2(&result, memory, 4), 0);
  return result;
}

TEST(NvJitLink, OneTextRuns) {
  for (const char* version : {"12", "13"}) {
    Link link({"-arch=sm_90"}, version);
    ASSERT_EQ(link.created, 0);
    ASSERT_EQ(link.add(input_ptx, alone), 0);
    ASSERT_EQ(link.complete(), 0) << link.errors();
    std::string cubin;
    ASSERT_EQ(link.get("LinkedCubin", cubin), 0);
    EXPECT_TRUE(cubin.starts_with(alone));
    EXPECT_EQ(result_of(cubin), 42);
  }
}

TEST(NvJitLink, TextsAreLinkedToEachOther) {
  Link link({"-arch=sm_90"});
  ASSERT_EQ(link.add(input_ptx, caller), 0);
  ASSERT_EQ(link.add(input_any, callee + '\0'), 0);
  ASSERT_EQ(link.complete(), 0) << link.errors();
  std::string cubin;
  ASSERT_EQ(link.get("LinkedCubin", cubin), 0);
  EXPECT_EQ(result_of(cubin), 42);

  Link again({"-arch=sm_90"});
  ASSERT_EQ(again.add(input_cubin, cubin), 0) << again.errors();
  ASSERT_EQ(again.complete(), 0);
  std::string second;
  ASSERT_EQ(again.get("LinkedCubin", second), 0);
  EXPECT_EQ(result_of(second), 42);
}

TEST(NvJitLink, RegistersAreLimited) {
  constexpr int registers = 4;  // CU_FUNC_ATTRIBUTE_NUM_REGS
  const auto use = [&](std::vector<const char*> words) {
    Link link(words);
    std::string many = head +
                       ".visible .entry k(.param .u64 p) {\n .reg .b32 %r<200>; .reg .b64 %d;\n"
                       " ld.param.u64 %d, [p];\n";
    for (int i = 0; i < 200; ++i)
      many += " ld.global.b32 %r" + std::to_string(i) + ", [%d+" + std::to_string(4 * i) + "];\n";
    for (int i = 0; i < 200; ++i)
      many +=
          " st.global.b32 [%d+" + std::to_string(796 - 4 * i) + "], %r" + std::to_string(i) + ";\n";
    EXPECT_EQ(link.add(input_ptx, many + " ret;\n}\n"), 0);
    EXPECT_EQ(link.complete(), 0) << link.errors();
    std::string cubin;
    EXPECT_EQ(link.get("LinkedCubin", cubin), 0);
    int count = 0;
    EXPECT_EQ(cuFuncGetAttribute(&count, registers, kernel_of(cubin)), 0);
    return count;
  };
  EXPECT_GT(use({"-arch=sm_90"}), 57);
  EXPECT_LE(use({"-arch=sm_90", "-maxrregcount=57"}), 57);
}

// The codes equal those of NVIDIA's library.
TEST(NvJitLink, MistakesAreToldInTheLog) {
  Link bad({"-arch=sm_90", "-bogus"});
  EXPECT_EQ(bad.created, 1);
  EXPECT_THAT(bad.errors(), HasSubstr("unrecognized option: -bogus"));
  EXPECT_EQ(bad.complete(), 6);

  Link link({"-arch=sm_90"});
  EXPECT_EQ(link.add(input_ptx, "hello"), 12);
  EXPECT_EQ(link.add(input_ptx, ".version 8.0\n.target sm_90\n.visible .entry k( {"), 4);
  EXPECT_THAT(link.errors(), HasSubstr("ptxas input, line 3; error   : "));
  EXPECT_EQ(link.add(input_ptx, caller), 0);
  std::string cubin;
  EXPECT_EQ(link.get("LinkedCubin", cubin), 6);
  EXPECT_EQ(link.complete(), 6);
  EXPECT_THAT(link.errors(), HasSubstr("Undefined reference to 'answer' in 'input'"));

  Link twice({"-arch=sm_90"});
  EXPECT_EQ(twice.add(input_ptx, callee, "one"), 0);
  EXPECT_EQ(twice.add(input_ptx, callee, "two"), 0);
  EXPECT_EQ(twice.complete(), 6);
  EXPECT_THAT(twice.errors(),
              HasSubstr("Multiple definition of 'answer' in 'two', first defined in 'one'"));
}

TEST(NvJitLink, HandlesOfNobodyAreAnswered) {
  Link link({"-arch=sm_90"});
  int other = 0;
  auto* complete = reinterpret_cast<int (*)(void*)>(link.symbol("nvJitLinkComplete"));
  EXPECT_EQ(complete(&other), 10);
  EXPECT_EQ(complete(nullptr), 10);
  auto* destroy = reinterpret_cast<int (*)(void**)>(link.symbol("nvJitLinkDestroy"));
  EXPECT_EQ(destroy(nullptr), 10);
}

TEST(NvJitLink, NamesOfEveryVersion) {
  for (const std::string version : {"12", "13"}) {
    Link link({"-arch=sm_90"}, version.c_str());
    for (const char* name :
         {"Create", "Destroy", "AddData", "AddFile", "Complete", "GetLinkedCubinSize",
          "GetLinkedCubin", "GetLinkedPtxSize", "GetLinkedPtx", "GetLinkedLTOIRSize",
          "GetLinkedLTOIR", "GetErrorLogSize", "GetErrorLog", "GetInfoLogSize", "GetInfoLog"}) {
      for (const char* minor : {"_0", "_5", "_9"})
        EXPECT_TRUE(link.symbol("__nvJitLink" + std::string(name) + "_" + version + minor)) << name;
    }
    EXPECT_TRUE(link.symbol("nvJitLinkVersion"));
  }
}

}  // namespace
