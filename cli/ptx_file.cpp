// Reads a file's device code.
#include "cli/ptx_file.hpp"

#include <algorithm>

#include "gpu/cuda/image/find_ptx.hpp"
#include "gpu/cuda/image/unit.hpp"

namespace inflight::cli {
namespace {

tl::expected<std::string, std::string> text_of(const std::string& path) {
  auto file = cuda::File::open(path);
  auto text = file ? file->all() : tl::unexpected(file.error());
  if (!text) return tl::unexpected("'" + path + "' " + text.error() + ".");
  return text;
}

// True if a fatbin of which the device runs nothing deserves a message. The linker adds one without
// PTX to most programs, and NVIDIA's device runtime to some. These need none.
bool deserves_message(std::span<const cuda::Image> images) {
  const auto is_ptx = [](const cuda::Image& image) { return image.kind == cuda::Image::Kind::ptx; };
  return std::any_of(images.begin(), images.end(), is_ptx) && !cuda::is_device_runtime(images);
}

// Fills `units` with the text that the device would choose from each fatbin.
void choose_units(PtxFile& file, cuda::Architecture device) {
  for (const auto& images : file.fatbins) {
    auto text = cuda::text_of(images, device);
    if (text) {
      file.units.push_back({text->name, text->architecture, text->text});
    } else if (text.error().kind != cuda::ImageError::Kind::unusable || deserves_message(images)) {
      file.passed_over.push_back(text.error().message);
    }
  }
}

// The fatbins in the bytes, or nothing for plain text.
tl::expected<std::vector<std::vector<cuda::Image>>, std::string> fatbins_of(
    std::span<const std::byte> bytes) {
  using Fatbins = std::vector<std::vector<cuda::Image>>;
  if (cuda::content_of(bytes) == cuda::Content::elf) return cuda::read_elf(bytes);
  if (cuda::content_of(bytes) != cuda::Content::fatbin) return Fatbins{};
  auto images = cuda::read_fatbin(bytes);
  if (!images) return tl::unexpected(images.error());
  return Fatbins{std::move(*images)};
}

}  // namespace

tl::expected<PtxFile, std::string> read_ptx_file(const std::string& path,
                                                 cuda::Architecture device) {
  auto text = text_of(path);
  if (!text) return tl::unexpected(text.error());
  PtxFile file;
  file.text = std::make_shared<const std::string>(std::move(*text));
  const auto bytes = cuda::bytes_of(*file.text);
  auto fatbins = fatbins_of(bytes);
  if (!fatbins) return tl::unexpected("'" + path + "': " + fatbins.error() + ".");
  file.fatbins = std::move(*fatbins);
  choose_units(file, device);
  if (!file.units.empty()) return file;
  auto found = cuda::find_ptx(bytes);
  if (!found) return tl::unexpected("'" + path + "': " + found.error() + ".");
  if (!file.fatbins.empty()) return file;
  for (auto& each : *found)
    file.units.push_back(
        {each.name, each.architecture, std::make_shared<const std::string>(std::move(each.text))});
  return file;
}

}  // namespace inflight::cli
