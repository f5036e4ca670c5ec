// Jumps are encoded correctly, and calls of a loaded object go to its islands' targets.
#include "gpu/loader/redirect.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "gpu/loader/exported.hpp"
#include "gpu/loader/host.hpp"
#include "gpu/loader/jump.hpp"
#include "tests/unit/loader/sample.hpp"

// The target of an unbound island here: it drops the island's pushed value, and returns a number.
asm(".text\n"
    ".globl sample_binder\n"
    "sample_binder:\n"
    "  add $16, %rsp\n"
    "  mov $77, %eax\n"
    "  ret\n");
extern "C" void sample_binder();

namespace inflight::loader {
namespace {

TEST(Jump, ReachesTwoGibibytesBothWays) {
  EXPECT_EQ(*jump(0x1000, 0x1005), (Jump{0xE9, 0, 0, 0, 0}));
  EXPECT_EQ(*jump(0x1000, 0x1000), (Jump{0xE9, 0xFB, 0xFF, 0xFF, 0xFF}));
  EXPECT_EQ(*jump(0x1000, 0x1005 + 0x7FFFFFFFull), (Jump{0xE9, 0xFF, 0xFF, 0xFF, 0x7F}));
  EXPECT_FALSE(jump(0x1000, 0x1005 + 0x80000000ull));
  EXPECT_FALSE(jump(0x100000000ull, 0));
}

class Sample : public testing::Test {
 protected:
  Sample() : file_(sample_file()), elf_(*ElfView::of(cuda::bytes_of(file_))), runtime_(elf_) {
    library_ = dlopen(INFLIGHT_SAMPLE, RTLD_NOW | RTLD_LOCAL);
    dlinfo(library_, RTLD_DI_LINKMAP, &map_);
  }
  ~Sample() override { dlclose(library_); }
  Redirected redirect_it() {
    return redirect({elf_, map_->l_addr, map_}, runtime_,
                    reinterpret_cast<std::uint64_t>(&sample_binder));
  }
  int call(const char* name) { return reinterpret_cast<int (*)()>(dlsym(library_, name))(); }

  std::string file_;
  ElfView elf_;
  StaticRuntime runtime_;
  void* library_ = nullptr;
  link_map* map_ = nullptr;
};

int replacement() { return 99; }

TEST_F(Sample, PublicFunctionsGoToTheIslands) {
  EXPECT_EQ(call("cudaMalloc"), 7);
  EXPECT_EQ(call("__cudaGetProcAddress"), 0);
  const Redirected made = redirect_it();
  ASSERT_TRUE(made.islands) << made.failure;
  const Islands& islands = *made.islands;
  EXPECT_EQ(islands.count, 4u);
  EXPECT_EQ(islands.major, 13u);
  std::map<std::string, std::uint64_t> index;
  for (std::uint64_t i = 0; i < islands.count; ++i) index[islands.names[i]] = i;
  for (const char* each :
       {"__cudaRegisterFatBinary", "cudaMalloc", "cudaOfALaterRelease", "__cudaGetProcAddress"}) {
    ASSERT_TRUE(index.contains(each)) << each;
    EXPECT_EQ(call(each), 77) << each;  // not bound yet
    islands.slots[index[each]] = reinterpret_cast<std::uint64_t>(&replacement);
    EXPECT_EQ(call(each), 99) << each;
  }
}

thread_local std::uint32_t called = 0;
int which() { return static_cast<int>(std::exchange(called, 0)); }

TEST_F(Sample, AnIslandTellsWhichCopyWasCalled) {
  const Redirected made = redirect_it();
  ASSERT_TRUE(made.islands) << made.failure;
  Islands& islands = *made.islands;
  EXPECT_GT(islands.copy, 0u);
  islands.mark = static_cast<std::uint64_t>(reinterpret_cast<char*>(&called) -
                                            static_cast<char*>(__builtin_thread_pointer()));
  std::uint64_t index = 0;
  while (islands.names[index] != std::string_view("cudaMalloc")) ++index;
  islands.targets[index] = reinterpret_cast<std::uint64_t>(&which);
  islands.slots[index] = island_address(islands, index) + marking_offset;
  EXPECT_EQ(call("cudaMalloc"), static_cast<int>(islands.copy));
  EXPECT_EQ(called, 0u);
  EXPECT_EQ(call("__cudaGetProcAddress"), 77);
}

TEST_F(Sample, OtherFunctionsStay) {
  const Redirected made = redirect_it();
  ASSERT_TRUE(made.islands) << made.failure;
  EXPECT_EQ(call("user_before"), 1);
  EXPECT_EQ(call("cudaOfTheUser"), 2);
  EXPECT_EQ(call("user_between"), 3);
  EXPECT_EQ(call("libcudart_static_not_a_digest"), 9);
  EXPECT_EQ(call("user_after"), 10);
  const auto* internal = static_cast<const std::uint8_t*>(dlsym(library_, sample_digest));
  EXPECT_EQ(*internal, 0xC3);
}

// Sets and removes one as debuggers do: after the first instructions.
TEST_F(Sample, ABreakpointInAnEntryDoesNoHarm) {
  ASSERT_TRUE(redirect_it().islands);
  const auto entry = reinterpret_cast<std::uint64_t>(dlsym(library_, "cudaMalloc"));
  const std::uint64_t page = entry & ~std::uint64_t{4095};
  ASSERT_TRUE(protect_pages(page, 8192, Access::read_write_execute));
  for (std::uint64_t at : {2, 3, 4, 7}) *reinterpret_cast<std::uint8_t*>(entry + at) = 0xCC;
  EXPECT_EQ(call("cudaMalloc"), 77);
}

// A function past the end of the code, as in a damaged symbol table: nothing is written.
TEST_F(Sample, FunctionsOutsideOfTheCodeAreRefused) {
  Symbol wanted;
  runtime_.each_public([&](const Symbol& symbol) {
    if (symbol.name == "cudaMalloc") wanted = symbol;
  });
  const std::string address(reinterpret_cast<const char*>(&wanted.address), 8);
  std::string damaged = file_;
  for (auto at = damaged.find(address); at != damaged.npos; at = damaged.find(address, at + 8))
    damaged.replace(at, 8, std::string(8, '\x7f'));
  const ElfView elf = *ElfView::of(cuda::bytes_of(damaged));
  const Redirected made = redirect({elf, map_->l_addr, map_}, StaticRuntime(elf),
                                   reinterpret_cast<std::uint64_t>(&sample_binder));
  EXPECT_FALSE(made.islands);
  EXPECT_NE(made.failure.find("outside the program's code"), made.failure.npos);
  EXPECT_EQ(call("cudaMalloc"), 7);
}

TEST(Exported, FindsWhatTheLoaderFinds) {
  link_map* map = nullptr;
  void* library = dlopen("libc.so.6", RTLD_NOW);
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  for (const char* each : {"dlmopen", "dlsym", "dlerror", "getpid"})
    EXPECT_EQ(exported(*map, each), dlsym(library, each)) << each;
  EXPECT_EQ(exported(*map, "no_such_function"), nullptr);
  dlclose(library);
}

}  // namespace
}  // namespace inflight::loader
