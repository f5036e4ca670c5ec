// The parsing of nvJitLink's inputs.
#include "gpu/compilers/link_inputs.hpp"

#include <ar.h>
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu/cuda/image/linked.hpp"

namespace inflight::compilers {
namespace {

using testing::HasSubstr;

const LinkOptions options{{90, false, false}, false, false, 0, {}};
const LinkOptions lto_options{{90, false, false}, true, false, 0, {}};
const std::string text =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

std::string corpus(const std::string& name) {
  std::ifstream file(INFLIGHT_FATBIN_CORPUS "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

auto read(InputType type, const std::string& bytes, const LinkOptions& with = options) {
  return read_link_input(type, cuda::bytes_of(bytes), with);
}

TEST(LinkInputs, TextEndsAtItsNul) {
  for (InputType type : {InputType::ptx, InputType::any, InputType::cubin}) {
    const auto input = read(type, text + std::string("\0\0junk", 6));
    ASSERT_TRUE(input) << input.error().message;
    EXPECT_THAT(input->texts, testing::ElementsAre(text));
  }
}

TEST(LinkInputs, FatbinsAndPrograms) {
  for (const char* name : {"raw.fatbin", "lz4.fatbin", "several.fatbin"}) {
    const auto input = read(InputType::fatbin, corpus(name));
    ASSERT_TRUE(input) << name << ": " << input.error().message;
    ASSERT_EQ(input->texts.size(), 1u) << name;
    EXPECT_THAT(input->texts[0], HasSubstr(".target sm_"));
  }
  const auto program = read(InputType::object, corpus("program.elf"));
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_FALSE(program->texts.empty());
}

TEST(LinkInputs, FinishedLinksAreLinkedAgain) {
  const std::vector<std::string> texts{text, text};
  const auto input = read(InputType::cubin, cuda::join_texts(texts));
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(input->texts, texts);
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

TEST(LinkInputs, ArchivesOfObjects) {
  const std::string object = corpus("program.elf");
  const auto alone = read(InputType::object, object);
  const auto input = read(InputType::library, ARMAG + member("an index") + member(object) +
                                                  member("odd") + member(object));
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(input->texts.size(), 2 * alone->texts.size());
  EXPECT_EQ(read(InputType::library, ARMAG + member(object).substr(0, 500)).error().status,
            LinkStatus::invalid_input);
}

TEST(LinkInputs, LtoirIsForTheOriginal) {
  const std::string ltoir("\xed\x43\x4e\x7f\x01\x02\x03\x04", 8);
  EXPECT_EQ(read(InputType::ltoir, ltoir).error().status, LinkStatus::lto_not_enabled);
  const auto input = read(InputType::any, ltoir, lto_options);
  ASSERT_TRUE(input);
  EXPECT_TRUE(input->for_original);
  EXPECT_TRUE(input->texts.empty());
}

TEST(LinkInputs, WhatDoesNotMatchItsType) {
  const std::string junk = "hello";
  for (int type : {1, 2, 3, 4, 5, 6, 10, 0, 77}) {
    const auto input = read(InputType(type), junk);
    ASSERT_FALSE(input);
    EXPECT_EQ(input.error().status, LinkStatus::incorrect_input_type) << type;
  }
  EXPECT_EQ(read(InputType::fatbin, text).error().status, LinkStatus::incorrect_input_type);
}

TEST(LinkInputs, DamageIsAnAnswer) {
  for (const char* name : {"damaged_claims_1TB.fatbin", "damaged_cut_12.fatbin",
                           "damaged_elf_shoff_max.elf", "damaged_linked_count.linked",
                           "damaged_linked_huge.linked", "damaged_size_of_text.fatbin"}) {
    const auto input = read(InputType::any, corpus(name));
    ASSERT_FALSE(input) << name;
    EXPECT_FALSE(input.error().message.empty());
  }
}

}  // namespace
}  // namespace inflight::compilers
