// Finding PTX in whatever bytes a program or a user hands over: ELF files, fatbins, texts, links.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/elf.hpp"
#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {
namespace {

constexpr std::string_view link_magic = "IFLINKED";
constexpr std::uint64_t link_header = 24;  // magic, total bytes, number of texts
constexpr std::uint16_t machine_cuda = 190;

// The fatbins that lie one after another in a section, each on a multiple of 8 bytes.
tl::expected<void, std::string> read_section(Source& source, const ElfSection& section,
                                             Bodies bodies, std::vector<std::vector<Image>>& into) {
  const std::string outside =
      fmt::format("the ELF file is damaged: its section {} lies outside of it", section.name);
  if (section.offset > source.size() || section.size > source.size() - section.offset)
    return tl::unexpected(outside);
  for (std::uint64_t at = 0; at + 16 <= section.size;) {
    const auto header = source.take(section.offset + at, 16);
    if (!header) return tl::unexpected(outside);
    const std::uint64_t size = fatbin_size(*header);
    if (size > section.size - at)
      return tl::unexpected(
          fmt::format("the fatbin is cut off: {} of {} bytes", section.size - at, size));
    if (size == 0) {
      at += 8;
      continue;
    }
    auto images = read_fatbin(source, section.offset + at, bodies);
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

tl::expected<std::vector<std::vector<Image>>, std::string> read_elf(Source& source, Bodies bodies) {
  const auto file = read_elf_file(source);
  if (!file) return tl::unexpected(file.error());
  if (file->machine == machine_cuda) {
    return tl::unexpected(std::string(
        "this is a cubin, machine code for one GPU; the software GPU runs PTX: build files with "
        "nvcc -ptx or -fatbin, and let a program that compiles while it runs load libnvrtc and "
        "libnvJitLink as shared libraries under 'inflight run', which then give PTX; where they "
        "are linked statically, ask them for PTX (compute_90, nvrtcGetPTX; -lto -ptx, "
        "nvJitLinkGetLinkedPtx)"));
  }
  std::vector<std::vector<Image>> result;
  for (const ElfSection& section : file->sections) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    auto read = read_section(source, section, bodies, result);
    if (!read) return tl::unexpected(read.error());
  }
  return result;
}

tl::expected<std::vector<std::vector<Image>>, std::string> read_elf(
    std::span<const std::byte> file) {
  Buffer source(file);
  return read_elf(source, Bodies::all);
}

bool is_device_runtime(std::span<const Image> images) {
  for (const Image& image : images) {
    if (image.kind != Image::Kind::ptx) continue;
    const auto text = unpack(image);
    // Its names of static functions hold its source file's.
    return text && text->find("cuda_device_runtime_cu") != text->npos;
  }
  return false;
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

bool is_linked(std::span<const std::byte> header) {
  return characters(header).starts_with(link_magic);
}

std::uint64_t linked_size(std::span<const std::byte> header) {
  if (header.size() < 16 || !is_linked(header)) return 0;
  auto size = field<std::uint64_t>(header, link_magic.size());
  return size < link_header || size > (1ull << 40) ? 0 : size;
}

tl::expected<std::vector<std::string>, std::string> split_texts(Source& source) {
  constexpr std::uint64_t most = 1 << 20;  // texts of one link
  const auto bad = [] { return tl::unexpected(std::string("the linked image is damaged")); };
  const auto header = source.take(0, link_header);
  const std::uint64_t size = header ? linked_size(*header) : 0;
  const std::uint64_t count = header ? field<std::uint64_t>(*header, 16) : 0;
  if (size == 0 || size > source.size() || count > most) return bad();
  std::vector<std::string> texts;
  std::uint64_t at = link_header;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::uint64_t length_bytes = sizeof(std::uint64_t);
    const auto length = size - at < length_bytes ? std::nullopt : source.take(at, length_bytes);
    if (!length) return bad();
    at += length_bytes;
    const auto bytes = field<std::uint64_t>(*length, 0);
    const auto text = bytes > size - at ? std::nullopt : source.take(at, bytes);
    if (!text) return bad();
    texts.emplace_back(characters(*text));
    at += bytes;
  }
  return texts;
}

tl::expected<std::vector<std::string>, std::string> split_texts(std::span<const std::byte> bytes) {
  Buffer source(bytes);
  return split_texts(source);
}

}  // namespace inflight::cuda
