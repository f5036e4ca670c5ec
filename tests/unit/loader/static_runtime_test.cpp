// Symbols recognized as NVIDIA's runtime, and files with false values.
#include "gpu/loader/static_runtime.hpp"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "tests/unit/loader/sample.hpp"

namespace inflight::loader {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<std::string> public_names(const StaticRuntime& runtime) {
  std::vector<std::string> result;
  runtime.each_public([&](const Symbol& symbol) { result.emplace_back(symbol.name); });
  return result;
}
std::vector<std::string> internal_names(const StaticRuntime& runtime) {
  std::vector<std::string> result;
  runtime.each_internal([&](const Symbol& symbol) { result.emplace_back(symbol.name); });
  return result;
}

TEST(ElfView, ReadsSectionsAndSymbols) {
  const std::string file = sample_file();
  const auto elf = ElfView::of(cuda::bytes_of(file));
  ASSERT_TRUE(elf);
  EXPECT_TRUE(elf->has_section(".text"));
  EXPECT_FALSE(elf->has_section(".nv_fatbin"));
  EXPECT_TRUE(elf->has_symbols());
  int functions = 0;
  elf->each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
    functions += symbol.function && symbol.defined && symbol.name.starts_with("user_");
  });
  EXPECT_EQ(functions, 3);
}

TEST(ElfView, TakesNothingElse) {
  std::string file = sample_file();
  EXPECT_FALSE(ElfView::of({}));
  EXPECT_FALSE(ElfView::of(cuda::bytes_of("#!/bin/sh")));
  file[4] = 1;  // 32 bits
  EXPECT_FALSE(ElfView::of(cuda::bytes_of(file)));
}

TEST(StaticRuntime, IsKnownByItsNamesAndNeighbours) {
  const std::string file = sample_file();
  const auto elf = ElfView::of(cuda::bytes_of(file));
  ASSERT_TRUE(elf);
  const StaticRuntime runtime(*elf);
  EXPECT_FALSE(runtime.empty());
  EXPECT_EQ(runtime.major(), 13u);
  // A name in no list is the runtime's only if it is among the runtime's functions.
  EXPECT_THAT(public_names(runtime),
              UnorderedElementsAre("__cudaRegisterFatBinary", "cudaOfALaterRelease", "cudaMalloc",
                                   "__cudaGetProcAddress"));
  EXPECT_THAT(internal_names(runtime), ElementsAre(sample_digest));
  runtime.each_public([&](const Symbol& symbol) { EXPECT_EQ(runtime.room(symbol), 16u); });
}

TEST(StaticRuntime, ReleasesAreTold) {
  std::string file = sample_file();
  const auto rename = [&](std::string_view from, std::string_view to) {
    for (auto at = file.find(from); at != file.npos; at = file.find(from, at + 1))
      file.replace(at, to.size() + 1, std::string(to) + '\0');
  };
  rename("libcudart_static_0a1b2c", "cudaThreadSynchronize");
  const auto twelve = ElfView::of(cuda::bytes_of(file));
  EXPECT_EQ(StaticRuntime(*twelve).major(), 12u);
  rename("libcudart_static_not_a", "cudaBindTexture");
  const auto eleven = ElfView::of(cuda::bytes_of(file));
  EXPECT_EQ(StaticRuntime(*eleven).major(), 11u);
}

TEST(StaticRuntime, AllItsNamesAreInOneTable) {
  EXPECT_STREQ(public_name("cudaMalloc"), "cudaMalloc");
  EXPECT_STREQ(public_name("cudaThreadSynchronize"), "cudaThreadSynchronize");  // of CUDA 12
  EXPECT_STREQ(public_name("__cudaPushCallConfiguration"), "__cudaPushCallConfiguration");
  EXPECT_EQ(public_name("cudaMallocation"), nullptr);
  EXPECT_EQ(public_name("cuda"), nullptr);
  EXPECT_EQ(public_name(""), nullptr);
}

TEST(StaticRuntime, FilesThatLieAreReadWithinTheirBounds) {
  const std::string file = sample_file();
  std::mt19937 random(1);
  std::uint64_t seen = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = file.substr(0, round % 3 ? file.size() : random() % file.size());
    for (int i = 0; i < 1 + round % 8 && !damaged.empty(); ++i) {
      // The headers and the tables at the end matter.
      const std::size_t near = std::min<std::size_t>(damaged.size(), 4096);
      const std::size_t at = random() % near;
      damaged[round % 2 ? at : damaged.size() - 1 - at] = char(random());
    }
    const std::vector<char> exact(damaged.begin(),
                                  damaged.end());  // so that sanitizers detect its end
    const auto elf = ElfView::of(cuda::bytes_of({exact.data(), exact.size()}));
    if (!elf) continue;
    const StaticRuntime runtime(*elf);
    seen +=
        elf->has_section(".nv_fatbin") + imports(*elf, "dlopen") + internal_names(runtime).size();
    runtime.each_public([&](const Symbol& symbol) { seen += runtime.room(symbol) > 0; });
  }
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace inflight::loader
