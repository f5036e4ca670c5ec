// The fatbin reader on containers that nvcc 13.0 made (tests/fuzz/corpus/fatbin).
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/find_ptx.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/cuda/image/unit.hpp"

namespace inflight::cuda {
namespace {

using testing::HasSubstr;

std::string corpus(const std::string& name) {
  std::ifstream file(INFLIGHT_FATBIN_CORPUS "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Image> images_of(const std::string& bytes) {
  auto images = read_fatbin(bytes_of(bytes));
  EXPECT_TRUE(images) << images.error();
  return images.value_or(std::vector<Image>{});
}

std::string ptx_of(const std::string& name, Architecture device = {90, true, false}) {
  std::string bytes = corpus(name);
  std::vector<Image> images = images_of(bytes);
  auto image = choose(images, device);
  if (!image) return image.error();
  return unpack(**image).value_or("damaged");
}

class Packings : public testing::TestWithParam<const char*> {};

TEST_P(Packings, GiveTheSameText) {
  std::string text = ptx_of(GetParam());
  EXPECT_EQ(text, ptx_of("raw.fatbin"));
  EXPECT_THAT(text, HasSubstr(".visible .entry _Z5counti"));
  EXPECT_EQ(text.find('\0'), text.npos);
}
INSTANTIATE_TEST_SUITE_P(Fatbin, Packings,
                         testing::Values("zstd.fatbin", "lz4.fatbin", "raw.fatbin"));

TEST(Fatbin, PackingIsReadFromTheFlags) {
  std::string zstd = corpus("zstd.fatbin"), lz4 = corpus("lz4.fatbin"), raw = corpus("raw.fatbin");
  EXPECT_EQ(images_of(zstd).back().packing, Image::Packing::zstd);
  EXPECT_EQ(images_of(lz4).back().packing, Image::Packing::lz4);
  EXPECT_EQ(images_of(raw).back().packing, Image::Packing::raw);
  EXPECT_EQ(images_of(raw).back().version_major, 9);
}

struct Choice {
  int device;
  const char* target;
};
void PrintTo(const Choice& choice, std::ostream* out) {
  *out << choice.device << " takes " << (choice.target ? choice.target : "none");
}
class Choices : public testing::TestWithParam<Choice> {};

TEST_P(Choices, TakeTheHighestUsable) {
  std::string text = ptx_of("several.fatbin", {GetParam().device, true, false});
  EXPECT_THAT(text, HasSubstr(std::string(".target ") + GetParam().target + "\n"));
}
// The fatbin has compute_80, compute_90, compute_90a and compute_100f.
INSTANTIATE_TEST_SUITE_P(Fatbin, Choices,
                         testing::Values(Choice{80, "sm_80"}, Choice{86, "sm_80"},
                                         Choice{90, "sm_90a"}, Choice{100, "sm_100f"},
                                         Choice{103, "sm_100f"}, Choice{120, "sm_90"}));

TEST(Fatbin, ArchitecturesWithSuffixAreToldApart) {
  std::string bytes = corpus("pair.fatbin");
  std::vector<Image> images = images_of(bytes);
  std::vector<std::string> ptx;
  for (const Image& image : images) {
    if (image.kind == Image::Kind::ptx) ptx.push_back(spelling(image.architecture));
  }
  EXPECT_THAT(ptx, testing::UnorderedElementsAre("sm_90", "sm_90a"));
}

TEST(Fatbin, MachineCodeAloneNamesTheFlag) {
  EXPECT_THAT(ptx_of("specific.fatbin"),
              HasSubstr("NVCC_APPEND_FLAGS=\"-gencode arch=compute_90a,code=compute_90a\""));
}

TEST(Fatbin, PtxForALaterChipNamesBoth) {
  std::string why = ptx_of("zstd.fatbin", {80, false, false});
  EXPECT_THAT(why, HasSubstr("is for sm_90"));
  EXPECT_THAT(why, HasSubstr("compute_80"));
}

// Like wheels: machine code for many chips, PTX for the last of them.
TEST(Fatbin, PtxForALaterChipRunsBesideMachineCodeForThisOne) {
  const auto chosen = [](std::vector<Image> images) {
    const auto image = choose(images, {90, true, false});
    return image ? spelling((*image)->architecture) : image.error();
  };
  const Image later{.kind = Image::Kind::ptx, .architecture = {120, false, false}};
  const auto code = [](Architecture a) {
    return Image{.kind = Image::Kind::elf, .architecture = a};
  };
  EXPECT_EQ(chosen({code({80, false, false}), code({90, false, false}), later}), "sm_120");
  EXPECT_EQ(chosen({later, code({90, true, false})}), "sm_120");
  const Image nearer{.kind = Image::Kind::ptx, .architecture = {100, false, false}};
  EXPECT_EQ(chosen({code({90, false, false}), later, nearer}), "sm_100");
  const Image tied{.kind = Image::Kind::ptx, .architecture = {100, true, false}};
  EXPECT_THAT(chosen({code({90, false, false}), tied}), HasSubstr("is for sm_100a"));
  EXPECT_THAT(chosen({code({80, false, false}), later}), HasSubstr("is for sm_120"));
}

// Code for a family runs on later chips of its generation, code for a chip nowhere else.
TEST(Fatbin, FamiliesHoldLaterChips) {
  const auto runs = [](Architecture image, int device) {
    const std::vector<Image> images{{.kind = Image::Kind::ptx, .architecture = image}};
    return choose(images, {device, true, false}).has_value();
  };
  const auto family = [](int number) { return Architecture{number, false, true}; };
  const auto chip = [](int number) { return Architecture{number, true, false}; };
  EXPECT_TRUE(runs(family(100), 100) && runs(family(100), 103) && runs(family(120), 121));
  EXPECT_FALSE(runs(family(100), 110) || runs(family(100), 120) || runs(family(103), 100));
  EXPECT_FALSE(runs(family(100), 101) || runs(family(121), 120));
  EXPECT_TRUE(runs(chip(103), 103) && runs(chip(120), 120));
  EXPECT_FALSE(runs(chip(100), 103) || runs(chip(120), 121));
}

TEST(Fatbin, EveryCutIsRefusedOrEmpty) {
  std::string whole = corpus("zstd.fatbin");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string part = whole.substr(0, size);
    EXPECT_FALSE(read_fatbin(bytes_of(part))) << size;
  }
}

TEST(Fatbin, ADamagedFrameIsASentence) {
  std::string bytes = corpus("zstd.fatbin");
  std::vector<Image> images = images_of(bytes);
  std::size_t at =
      std::size_t(reinterpret_cast<const char*>(images.back().stored.data()) - bytes.data());
  bytes[at] ^= 0x55;
  images = images_of(bytes);
  auto text = unpack(images.back());
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error(), HasSubstr("damaged"));
}

TEST(Fatbin, ALyingSizeIsRefused) {
  std::string bytes = corpus("lz4.fatbin");
  std::vector<Image> images = images_of(bytes);
  Image image = images.back();
  image.size = largest_image + 1;
  EXPECT_FALSE(unpack(image));
  image.size = largest_image;
  EXPECT_FALSE(unpack(image));
  image.size = images.back().size - 1;
  EXPECT_FALSE(unpack(image));
}

TEST(Fatbin, ContentIsToldByItsStart) {
  EXPECT_EQ(content_of(bytes_of(corpus("zstd.fatbin"))), Content::fatbin);
  EXPECT_EQ(content_of(bytes_of(corpus("program.elf"))), Content::elf);
  EXPECT_EQ(content_of(bytes_of(corpus("text.ptx"))), Content::text);
  EXPECT_EQ(content_of(bytes_of(".version 9.0")), Content::text);
  EXPECT_EQ(content_of(bytes_of("\n\n// generated")), Content::text);
  EXPECT_EQ(content_of(bytes_of("hello")), Content::unknown);
  EXPECT_EQ(content_of({}), Content::unknown);
}

TEST(Elf, BothSectionsAreRead) {
  std::string file = corpus("program.elf");
  auto fatbins = read_elf(bytes_of(file));
  ASSERT_TRUE(fatbins) << fatbins.error();
  EXPECT_EQ(fatbins->size(), 2u);
  auto found = find_ptx(bytes_of(file));
  ASSERT_TRUE(found) << found.error();
  std::vector<std::string> targets;
  for (const FoundText& each : *found) targets.push_back(spelling(each.architecture));
  EXPECT_THAT(targets, testing::ElementsAre("sm_80", "sm_90", "sm_90a", "sm_100f", "sm_90"));
}

TEST(Elf, ACubinIsRefusedWithAdvice) {
  std::string bytes = corpus("specific.fatbin");
  std::vector<Image> images = images_of(bytes);
  auto cubin = unpack(images.front());
  ASSERT_TRUE(cubin);
  auto fatbins = read_elf(bytes_of(*cubin));
  ASSERT_FALSE(fatbins);
  EXPECT_THAT(fatbins.error(),
              HasSubstr("linked statically, request PTX (compute_90, nvrtcGetPTX"));
}

TEST(Elf, ACubinMayKeepItsPtx) {
  const std::string cubin = corpus("lineinfo.cubin");
  const auto found = find_ptx(bytes_of(cubin));
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(spelling(found->front().architecture), "sm_90");
  EXPECT_THAT(found->front().text, HasSubstr(".visible .entry _Z5counti(\n"));
  EXPECT_EQ(found->front().text.find('\0'), std::string::npos);
  const auto fatbins = read_elf(bytes_of(cubin));
  ASSERT_TRUE(fatbins) << fatbins.error();
  EXPECT_EQ(fatbins->front().front().version_major, 9);
  EXPECT_EQ(fatbins->front().front().version_minor, 0);
  const auto units = units_of_memory(cubin.data());
  ASSERT_TRUE(units) << units.error().message;
  const auto text = text_of(units->front(), {90, true, false});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text->text, found->front().text);
  const auto older = text_of(units->front(), {80, false, false});
  ASSERT_FALSE(older);
  EXPECT_THAT(older.error().message, HasSubstr("is for sm_90, which a device of sm_80 cannot run"));
}

TEST(Fatbin, MachineCodeMayKeepItsPtx) {
  const std::string bytes = corpus("lineinfo.fatbin");
  const auto units = units_of_memory(bytes.data());
  ASSERT_TRUE(units) << units.error().message;
  const auto text = text_of(units->front(), {90, true, false});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text->text, HasSubstr(".target sm_90a\n"));
  EXPECT_FALSE(text_of(units->front(), {100, true, false}));
  const std::string without = corpus("specific.fatbin");
  EXPECT_FALSE(text_of(images_of(without), {90, true, false}));
}

TEST(Units, OnlyAFileThatExistsIsReported) {
  const auto missing = units_of_file("/nowhere/cached.ptx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ImageError::Kind::no_file);
  EXPECT_EQ(missing.error().message, "");
  const auto folder = units_of_file("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ImageError::Kind::no_file);
  EXPECT_EQ(folder.error().message, "the file / is a folder");
}

TEST(Elf, AProgramWithoutKernelsSaysSo) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(self), std::istreambuf_iterator<char>()};
  auto found = find_ptx(bytes_of(file));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error(), HasSubstr("holds no fatbin"));
}

TEST(FindPtx, BareTextTellsItsTarget) {
  auto found = find_ptx(bytes_of(".version 8.0\n.target sm_90a\n.address_size 64\n"));
  ASSERT_TRUE(found);
  EXPECT_EQ(spelling(found->at(0).architecture), "sm_90a");
}

TEST(LinkedImage, GivesItsTextsBack) {
  std::vector<std::string> texts{"first", "", std::string(1000, 'x')};
  std::string image = join_texts(texts);
  EXPECT_EQ(linked_size(bytes_of(image)), image.size());
  auto back = split_texts(bytes_of(image));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, texts);
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_FALSE(split_texts(bytes_of(image.substr(0, size))));
  }
}

}  // namespace
}  // namespace inflight::cuda
