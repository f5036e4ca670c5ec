// Finds PTX in ELF files, fatbins, PTX texts and linked images.
#include "gpu/cuda/image/find_ptx.hpp"

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/linked.hpp"

namespace inflight::cuda {
namespace {

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

}  // namespace

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

}  // namespace inflight::cuda
