// Images in memory of unknown extent: unreadable memory gives an error.
#include "gpu/cuda/image/source.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "gpu/cuda/core/modules/registry.hpp"

namespace inflight::cuda {
namespace {

using testing::HasSubstr;

// Memory that ends with the given bytes. The next page cannot be read.
class LastPages {
 public:
  LastPages() {
    void* made = mmap(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(made, MAP_FAILED);
    base_ = static_cast<char*>(made);
    EXPECT_EQ(mprotect(base_, bytes, PROT_READ | PROT_WRITE), 0);
  }
  ~LastPages() { munmap(base_, bytes + page); }
  const char* put(std::string_view text) {
    EXPECT_LE(text.size(), bytes);
    char* at = base_ + bytes - text.size();
    std::memcpy(at, text.data(), text.size());
    return at;
  }
  const char* past() const { return base_ + bytes; }

 private:
  static constexpr std::size_t page = 4096, bytes = 200 * page;
  char* base_;
};

std::string refusal(const void* image) {
  auto module = LoadedModule::from_memory(image);
  return module ? "" : module.error().message;
}

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(INFLIGHT_FATBIN_CORPUS))
    files.push_back(each.path());
  EXPECT_FALSE(files.empty());
  return files;
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ProcessMemory, TakesWhatIsThereAndNoMore) {
  LastPages pages;
  ProcessMemory memory(pages.put("sixteen bytes ..") + 4);
  auto taken = memory.take(4, 8);
  ASSERT_TRUE(taken);
  EXPECT_EQ(characters(*taken), "bytes ..");
  EXPECT_FALSE(memory.take(4, 9));
  EXPECT_FALSE(memory.take(0, 1ull << 40));
  EXPECT_FALSE(memory.take(~std::uint64_t{0}, 2));
  EXPECT_FALSE(ProcessMemory(nullptr).take(0, 1));
  EXPECT_FALSE(ProcessMemory(pages.past()).take(0, 1));
}

TEST(ProcessMemory, AFileThatEndsBeforeItsMappingIsNoSignal) {
  std::FILE* file = std::tmpfile();
  ASSERT_EQ(ftruncate(fileno(file), 8192), 0);
  void* mapped = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fileno(file), 0);
  ASSERT_EQ(ftruncate(fileno(file), 4096), 0);
  ProcessMemory memory(mapped);
  EXPECT_TRUE(memory.take(0, 4096));
  EXPECT_FALSE(memory.take(0, 4097));
  munmap(mapped, 8192);
  std::fclose(file);
}

TEST(ProcessMemory, TextEndsAtItsNul) {
  LastPages pages;
  EXPECT_EQ(ProcessMemory(pages.put(std::string("abc\0def", 7))).text(100), "abc");
  EXPECT_FALSE(ProcessMemory(pages.put("abc")).text(100));
  const std::string large(9000, 'x');
  EXPECT_EQ(ProcessMemory(pages.put(large + '\0')).text(1 << 20), large);
  EXPECT_FALSE(ProcessMemory(pages.put(large + '\0')).text(4096));
}

TEST(ProcessMemory, TextOfManyPagesEndsAtItsNulOrWhereTheyEnd) {
  LastPages pages;
  for (const std::size_t size : {64 * 4096 - 1, 64 * 4096, 64 * 4096 + 1, 150 * 4096 + 17}) {
    const std::string text(size, 'x');
    EXPECT_EQ(ProcessMemory(pages.put(text + '\0')).text(1 << 20), text);
    EXPECT_EQ(ProcessMemory(pages.put(text + '\0' + "behind")).text(1 << 20), text);
    EXPECT_FALSE(ProcessMemory(pages.put(text)).text(1 << 20));
    EXPECT_FALSE(ProcessMemory(pages.put(text + '\0')).text(size));
  }
}

// Every file of the corpus, truncated at regular sizes, at the end of readable memory.
TEST(ImageInMemory, NoCutIsReadPastItsEnd) {
  LastPages pages;
  for (const auto& path : corpus()) {
    const std::string whole = bytes_of_file(path);
    for (std::size_t size = 0; size < whole.size(); size += size < 512 ? 1 : 61) {
      // Machine code and padding may be missing, because they are never read.
      auto module = LoadedModule::from_memory(pages.put(whole.substr(0, size)));
      if (!module) {
        EXPECT_NE(module.error().message, "") << path << ", " << size << " bytes";
      }
    }
  }
}

TEST(ImageInMemory, DamageIsASentence) {
  LastPages pages;
  int damaged = 0;
  for (const auto& path : corpus()) {
    if (!path.filename().string().starts_with("damaged_")) continue;
    ++damaged;
    EXPECT_NE(refusal(pages.put(bytes_of_file(path))), "") << path;
    auto file = LoadedModule::from_file(path);
    ASSERT_FALSE(file) << path;
    EXPECT_NE(file.error().message, "") << path;
  }
  EXPECT_GE(damaged, 10);
}

TEST(ImageInMemory, TextNeedsAnEnd) {
  LastPages pages;
  const std::string text = ".version 8.0\n.target sm_80\n";
  EXPECT_THAT(refusal(pages.put(text)), HasSubstr("NUL"));
  EXPECT_EQ(refusal(pages.put(text + '\0')), "");
}

// A sparse mapping makes every claimed byte readable.
TEST(ImageInMemory, AHugeClaimOverZeroesEndsSoon) {
  constexpr std::size_t huge = std::size_t{1} << 40;
  void* zeroes = mmap(nullptr, huge, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeroes == MAP_FAILED) GTEST_SKIP() << "no address space for the test";
  for (const auto& path : corpus()) {
    if (!path.filename().string().starts_with("damaged_")) continue;
    const std::string bytes = bytes_of_file(path);
    std::memcpy(zeroes, bytes.data(), bytes.size());
    EXPECT_NE(refusal(zeroes), "") << path;
    std::memset(zeroes, 0, bytes.size());
  }
  munmap(zeroes, huge);
}

// nvcc's layout.
struct Wrapper {
  std::uint32_t magic = 0x466243B1, version = 1;
  const void* data = nullptr;
  const void* prelinked = nullptr;
};

TEST(ImageInMemory, AWrapperMayPointAnywhere) {
  LastPages pages;
  const void* one = pages.put("12345678");
  const void* list[] = {pages.past(), nullptr};
  for (const Wrapper& wrapper :
       {Wrapper{.data = pages.past()}, Wrapper{.data = reinterpret_cast<void*>(8)},
        Wrapper{.data = one}, Wrapper{.version = 2, .prelinked = pages.past()},
        Wrapper{.version = 2, .prelinked = one}, Wrapper{.version = 2, .prelinked = list}}) {
    EXPECT_NE(refusal(&wrapper), "");
    Registry& registry = Registry::get();
    void** handle = registry.add(&wrapper);
    static char host;
    registry.add_function(handle, &host, "kernel");
    auto kernel = registry.function(&host)->on(0);
    ASSERT_FALSE(kernel);
    EXPECT_NE(kernel.error().message, "");
    registry.remove(handle);
  }
}

TEST(File, OnlyRegularOnes) {
  EXPECT_THAT(File::open("/").error(), HasSubstr("folder"));
  EXPECT_THAT(File::open("/dev/zero").error(), HasSubstr("not a regular file"));
  EXPECT_THAT(File::open("/nowhere").error(), HasSubstr("No such file"));
}

// A section of zeros that is larger than any memory.
TEST(File, AHugeSectionWithoutFatbinsEndsSoon) {
  std::string elf = bytes_of_file(std::filesystem::path(INFLIGHT_FATBIN_CORPUS) / "program.elf");
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof header);
  const auto section = [&](std::size_t i) {
    return reinterpret_cast<Elf64_Shdr*>(elf.data() + header.e_shoff) + i;
  };
  const char* const names = elf.data() + section(header.e_shstrndx)->sh_offset;
  constexpr std::uint64_t half = 1ull << 39;
  int changed = 0;
  for (std::size_t i = 0; i < header.e_shnum; ++i)
    if (std::string_view(names + section(i)->sh_name).ends_with("fatbin"))
      section(i)->sh_offset = section(i)->sh_size = half, ++changed;
  ASSERT_GT(changed, 0);
  const std::string path = testing::TempDir() + "inflight-zeros." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << elf;
  std::filesystem::resize_file(path, 2 * half);
  EXPECT_FALSE(LoadedModule::from_file(path));
  std::filesystem::remove(path);
}

TEST(File, AHugeOneIsReadOnlyAsFarAsItsHeadersSay) {
  const std::string path = testing::TempDir() + "inflight-huge." + std::to_string(getpid());
  const std::string start =
      bytes_of_file(std::filesystem::path(INFLIGHT_FATBIN_CORPUS) / "raw.fatbin");
  std::ofstream(path, std::ios::binary) << start;
  std::filesystem::resize_file(path, 1ull << 40);
  EXPECT_TRUE(LoadedModule::from_file(path));
  std::ofstream(path, std::ios::binary) << std::string(16, 'x');
  std::filesystem::resize_file(path, 1ull << 40);
  EXPECT_THAT(LoadedModule::from_file(path).error().message, HasSubstr("neither PTX text nor"));
  std::ofstream(path, std::ios::binary) << ".version 8.0\n";
  std::filesystem::resize_file(path, 1ull << 40);
  EXPECT_THAT(LoadedModule::from_file(path).error().message, HasSubstr("more than 512 MiB"));
  EXPECT_THAT(File::open(path)->all().error(), HasSubstr("at most 2048 MiB"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace inflight::cuda
