// ELF files whose tables exceed the headers' fields, or contain false values.
#include "gpu/cuda/image/elf.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

namespace inflight::cuda {
namespace {

// A header, three sections and their names: nothing, ".nv_fatbin" and ".shstrtab".
struct Sample {
  Elf64_Ehdr header{};
  Elf64_Shdr sections[3]{};
  char names[23] = "\0.nv_fatbin\0.shstrtab";

  Sample() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_shoff = offsetof(Sample, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_offset = 8;
    sections[1].sh_size = 16;
    sections[2].sh_name = 12;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = offsetof(Sample, names);
    sections[2].sh_size = sizeof names;
  }
  tl::expected<ElfFile, std::string> read() const {
    Buffer source({reinterpret_cast<const std::byte*>(this), sizeof *this});
    return read_elf_file(source);
  }
  std::string refusal() const {
    const auto file = read();
    return file ? "" : file.error();
  }
};

std::vector<std::string> names_of(const tl::expected<ElfFile, std::string>& file) {
  std::vector<std::string> names;
  if (!file) return {file.error()};
  for (const ElfSection& each : file->sections) names.push_back(each.name);
  return names;
}

TEST(ElfTables, SectionsHaveNamesAndPlaces) {
  const auto file = Sample().read();
  EXPECT_THAT(names_of(file), testing::ElementsAre("", ".nv_fatbin", ".shstrtab"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->machine, EM_X86_64);
  EXPECT_EQ(file->sections[1].offset, 8u);
  EXPECT_EQ(file->sections[1].size, 16u);
}

// With more than 65,279 sections, the first section has the numbers (ELF, "Extended numbering").
TEST(ElfTables, NumbersThatDoNotFitTheHeaderAreRead) {
  Sample sample;
  sample.header.e_shnum = 0;
  sample.sections[0].sh_size = 3;
  sample.header.e_shstrndx = SHN_XINDEX;
  sample.sections[0].sh_link = 2;
  EXPECT_THAT(names_of(sample.read()), testing::ElementsAre("", ".nv_fatbin", ".shstrtab"));
}

TEST(ElfTables, ASectionThatTakesNoBytesIsEmpty) {
  Sample sample;
  sample.sections[1].sh_type = SHT_NOBITS;
  sample.sections[1].sh_size = ~0ull;
  const auto file = sample.read();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->sections[1].size, 0u);
}

TEST(ElfTables, ANameWithoutAnEndIsNone) {
  Sample sample;
  std::memset(sample.names + 12, 'x', sizeof sample.names - 12);
  EXPECT_THAT(names_of(sample.read()), testing::ElementsAre("", ".nv_fatbin", ""));
  sample.sections[2].sh_name = ~0u;
  EXPECT_THAT(names_of(sample.read()), testing::ElementsAre("", ".nv_fatbin", ""));
}

TEST(ElfTables, TablesThatLieAreRefusedByASentence) {
  Sample sample;
  sample.header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_EQ(sample.refusal(), "the file is not a 64-bit little-endian ELF file");
  sample = {};
  sample.header.e_shentsize = 40;
  EXPECT_EQ(sample.refusal(), "the ELF file is damaged: its section headers have an unknown size");
  for (const std::uint64_t count :
       {std::uint64_t{4000}, std::uint64_t{1} << 58, ~std::uint64_t{0}}) {
    sample = {};
    sample.header.e_shnum = 0;
    sample.sections[0].sh_size = count;
    EXPECT_EQ(sample.refusal(), "the ELF file is damaged: its section table is outside the file")
        << count;
  }
  sample = {};
  sample.header.e_shoff = ~0ull - 8;
  EXPECT_EQ(sample.refusal(), "the ELF file is damaged: its section table is outside the file");
  sample = {};
  sample.sections[2].sh_offset = sizeof sample;
  EXPECT_EQ(sample.refusal(), "the ELF file is damaged: its section names are outside the file");
}

}  // namespace
}  // namespace inflight::cuda
