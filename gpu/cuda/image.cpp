// Finding PTX in whatever bytes a program or a user hands over: ELF files, fatbins, texts, links.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gpu/cuda/bytes.hpp"
#include "gpu/cuda/fatbin.hpp"

namespace inflight::cuda {
namespace {

constexpr std::string_view link_magic = "IFLINKED";
constexpr std::uint64_t link_header = 24;  // magic, total bytes, number of texts
constexpr Elf64_Half machine_cuda = 190;

struct Section {
  std::string_view name;
  Bytes data;
};

std::vector<Section> sections_of(Bytes file) {
  auto header = field<Elf64_Ehdr>(file, 0);
  std::vector<Section> result;
  auto at = [&](std::uint64_t i) {
    return field<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  Elf64_Shdr names = at(header.e_shstrndx);
  auto strings = slice(file, names.sh_offset, names.sh_size);
  if (!strings || header.e_shentsize != sizeof(Elf64_Shdr)) return result;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section = at(i);
    auto data = slice(file, section.sh_offset, section.sh_size);
    if (!data || section.sh_type == SHT_NOBITS || section.sh_name >= strings->size()) continue;
    std::string_view name = characters(*strings).substr(section.sh_name);
    result.push_back({name.substr(0, name.find('\0')), *data});
  }
  return result;
}

// The fatbins that lie one after another in a section, each on a multiple of 8 bytes.
tl::expected<void, std::string> read_section(Bytes data, std::vector<std::vector<Image>>& into) {
  for (std::uint64_t at = 0; at + 16 <= data.size();) {
    std::uint64_t size = fatbin_size(data.subspan(at));
    if (size == 0) {
      at += 8;
      continue;
    }
    auto images = read_fatbin(data.subspan(at));
    if (!images) return tl::unexpected(images.error());
    into.push_back(std::move(*images));
    at += (size + 7) / 8 * 8;
  }
  return {};
}

// The architecture that a text's .target line names; {} where it has none.
Architecture target_of(std::string_view text) {
  Architecture result;
  auto at = text.find(".target");
  if (at == text.npos) return result;
  at = text.find("sm_", at);
  if (at == text.npos) return result;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data() + at + 3, end, result.number);
  result.specific = parsed.ptr != end && *parsed.ptr == 'a';
  result.family = parsed.ptr != end && *parsed.ptr == 'f';
  return result;
}

using Found = tl::expected<std::vector<FoundText>, std::string>;

FoundText bare(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  return {{}, target_of(text), std::string(text)};
}

Found ptx_of(std::span<const std::vector<Image>> fatbins) {
  std::vector<FoundText> result;
  for (const auto& images : fatbins) {
    for (const Image& image : images) {
      if (image.kind != Image::Kind::ptx) continue;
      auto text = unpack(image);
      if (!text) return tl::unexpected(text.error());
      result.push_back({image.name, image.architecture, std::move(*text)});
    }
  }
  return result;
}

std::string why_no_ptx(std::span<const std::vector<Image>> fatbins) {
  std::vector<Image> all;
  for (const auto& images : fatbins) all.insert(all.end(), images.begin(), images.end());
  if (all.empty()) return "the file holds no fatbin: nvcc did not build it, or it has no kernels";
  return choose(all, {90}).error();
}

Found ptx_of_elf(Bytes file) {
  auto fatbins = read_elf(file);
  if (!fatbins) return tl::unexpected(fatbins.error());
  auto found = ptx_of(*fatbins);
  if (found && found->empty()) return tl::unexpected(why_no_ptx(*fatbins));
  return found;
}

Found ptx_of_fatbin(Bytes file) {
  auto images = read_fatbin(file);
  if (!images) return tl::unexpected(images.error());
  std::vector<std::vector<Image>> one{std::move(*images)};
  auto found = ptx_of(one);
  if (found && found->empty()) return tl::unexpected(why_no_ptx(one));
  return found;
}

Found ptx_of_link(Bytes file) {
  auto texts = split_texts(file);
  if (!texts) return tl::unexpected(texts.error());
  std::vector<FoundText> result;
  for (const std::string& text : *texts) result.push_back(bare(text));
  return result;
}

void append(std::string& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

tl::expected<std::vector<std::vector<Image>>, std::string> read_elf(
    std::span<const std::byte> file) {
  auto header = field<Elf64_Ehdr>(file, 0);
  if (content_of(file) != Content::elf || file.size() < sizeof header ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return tl::unexpected(std::string("the file is no 64-bit little-endian ELF file"));
  }
  if (header.e_machine == machine_cuda) {
    return tl::unexpected(std::string(
        "this is a cubin, machine code for one GPU; the software GPU runs PTX: build with nvcc "
        "-ptx "
        "or -fatbin, or give nvrtc --gpu-architecture=compute_90 and take nvrtcGetPTX"));
  }
  std::vector<std::vector<Image>> result;
  for (const Section& section : sections_of(file)) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    auto read = read_section(section.data, result);
    if (!read) return tl::unexpected(read.error());
  }
  return result;
}

Found find_ptx(std::span<const std::byte> file) {
  switch (content_of(file)) {
    case Content::elf:
      return ptx_of_elf(file);
    case Content::fatbin:
      return ptx_of_fatbin(file);
    case Content::linked:
      return ptx_of_link(file);
    case Content::text:
      return std::vector<FoundText>{bare(characters(file))};
    case Content::wrapper:
    case Content::unknown:
      break;
  }
  return tl::unexpected(
      std::string("the file is neither an ELF program, nor a fatbin, nor PTX text"));
}

std::string join_texts(std::span<const std::string> texts) {
  std::uint64_t total = link_header;
  for (const std::string& text : texts) total += sizeof(std::uint64_t) + text.size();
  std::string result(link_magic);
  append(result, total);
  append(result, texts.size());
  for (const std::string& text : texts) {
    append(result, text.size());
    result += text;
  }
  return result;
}

std::uint64_t linked_size(std::span<const std::byte> header) {
  if (header.size() < 16 || !characters(header).starts_with(link_magic)) return 0;
  auto size = field<std::uint64_t>(header, link_magic.size());
  return size < link_header || size > (1ull << 40) ? 0 : size;
}

tl::expected<std::vector<std::string>, std::string> split_texts(std::span<const std::byte> bytes) {
  auto bad = [] { return tl::unexpected(std::string("the linked image is damaged")); };
  std::uint64_t size = linked_size(bytes);
  if (size == 0 || size > bytes.size()) return bad();
  bytes = bytes.first(size);
  auto count = field<std::uint64_t>(bytes, 16);
  std::vector<std::string> texts;
  std::uint64_t at = link_header;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto text = slice(bytes, at + 8, field<std::uint64_t>(bytes, at));
    if (at + 8 > size || !text) return bad();
    texts.emplace_back(characters(*text));
    at += 8 + text->size();
  }
  return texts;
}

}  // namespace inflight::cuda
