// Recognises images by their content and splits them into units.
#include "gpu/cuda/image/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/cuda/image/machine_code.hpp"
#include "gpu/cuda/image/source.hpp"
#include "gpu/cuda/image/wrapper.hpp"

namespace inflight::cuda {
namespace {

tl::unexpected<ImageError> damaged(std::string message) {
  return tl::unexpected<ImageError>({ImageError::Kind::damaged, std::move(message)});
}

Unit unit_of_text(std::string text) {
  Unit unit;
  unit.assembled = is_assembled(text);
  unit.text = std::make_shared<const std::string>(std::move(text));
  return unit;
}

// The images of a fatbin. Machine code, which may be large, is read only if there is no PTX,
// because it may keep its own.
tl::expected<std::vector<Image>, std::string> images_of(Source& source) {
  auto images = read_fatbin(source, 0, Bodies::ptx);
  if (!images || std::ranges::find(*images, Image::Kind::ptx, &Image::kind) != images->end())
    return images;
  return read_fatbin(source, 0, Bodies::all);
}

Units units_of_fatbin(const std::shared_ptr<Source>& source) {
  auto images = images_of(*source);
  if (!images) return damaged(images.error());
  std::vector<Unit> units;
  units.emplace_back().images = std::move(*images);
  units.back().owner = source;
  return units;
}

Units units_of_texts(tl::expected<std::vector<std::string>, std::string> texts) {
  if (!texts) return damaged(texts.error());
  std::vector<Unit> units;
  for (std::string& text : *texts) {
    units.push_back(unit_of_text(std::move(text)));
    units.back().assembled = true;
  }
  return units;
}

Units units_of_wrapper(const void* wrapper) {
  std::vector<Unit> units;
  for (const void* fatbin : fatbins_of(wrapper)) {
    auto one = units_of_fatbin(std::make_shared<ProcessMemory>(fatbin));
    if (!one) return one;
    units.insert(units.end(), one->begin(), one->end());
  }
  if (units.empty()) return damaged("the fatbin's wrapper is damaged");
  return units;
}

using Fatbins = tl::expected<std::vector<std::vector<Image>>, std::string>;

Units units_of_elf(Fatbins fatbins, const std::shared_ptr<const void>& owner) {
  if (!fatbins) return tl::unexpected<ImageError>({ImageError::Kind::unusable, fatbins.error()});
  std::vector<Unit> units;
  for (auto& images : *fatbins) {
    units.emplace_back().images = std::move(images);
    units.back().owner = owner;
  }
  if (units.empty()) return damaged("the ELF file holds no fatbin");
  return units;
}

Units no_image() { return damaged("the image is neither PTX text nor a fatbin"); }

// Reads as far as the headers say. Only text is read whole.
Units units_of_source(const std::shared_ptr<File>& file) {
  constexpr std::uint64_t start_bytes = 4096;
  const auto start = file->take(0, std::min(start_bytes, file->size()));
  if (!start) return damaged("the file cannot be read");
  switch (content_of(*start)) {
    case Content::elf:
      return units_of_elf(read_elf(*file, Bodies::all), file);
    case Content::linked:
      return units_of_texts(split_texts(*file));
    case Content::fatbin:
      return units_of_fatbin(file);
    case Content::text: {
      const auto text = file->size() > largest_image ? std::nullopt : file->take(0, file->size());
      if (!text)
        return damaged(fmt::format("the PTX cannot be read to its end, or has more than {} MiB",
                                   largest_image >> 20));
      const std::string_view whole = characters(*text);
      return std::vector<Unit>{unit_of_text(std::string(whole.substr(0, whole.find('\0'))))};
    }
    case Content::wrapper:
    case Content::unknown:
      break;
  }
  return no_image();
}

Units units_of_text(ProcessMemory& memory) {
  auto text = memory.text(largest_image);
  if (!text) return damaged("the image's text has no end: PTX text must end with a NUL character");
  if (content_of(bytes_of(*text)) != Content::text) return no_image();
  return std::vector<Unit>{unit_of_text(std::move(*text))};
}

}  // namespace

// The first bytes at an address determine the kind. The rest is read as far as its headers say and
// the memory is readable. Unknown content is read up to a NUL.
Units units_of_memory(const void* image) {
  const auto memory = std::make_shared<ProcessMemory>(image);
  constexpr std::uint64_t magic_bytes = 4, link_bytes = 16;
  const auto magic = memory->take(0, magic_bytes);
  if (!magic) return units_of_text(*memory);
  switch (content_of(*magic)) {
    case Content::wrapper:
      return units_of_wrapper(image);
    case Content::fatbin:
      return units_of_fatbin(memory);
    case Content::elf:
      return units_of_elf(read_elf(*memory, Bodies::ptx), memory);
    default:
      break;
  }
  const auto start = memory->take(0, link_bytes);
  if (start && is_linked(*start)) return units_of_texts(split_texts(*memory));
  return units_of_text(*memory);
}

Units units_of_file(const std::string& path) {
  auto file = File::open(path);
  if (!file) {
    // A missing file may be one that a program has not cached yet. The status says enough.
    std::error_code error;
    const bool missing = !std::filesystem::exists(path, error) && !error;
    return tl::unexpected<ImageError>(
        {ImageError::Kind::no_file,
         missing ? std::string() : fmt::format("the file {} {}", path, file.error())});
  }
  return units_of_source(std::make_shared<File>(std::move(*file)));
}

std::vector<Unit> registered_units(const void* wrapper) {
  std::vector<Unit> units;
  for (const void* fatbin : fatbins_of(wrapper)) units.emplace_back().registered = fatbin;
  if (units.empty()) {
    units.emplace_back().error =
        "the program registered a fatbin in an unknown wrapper; rebuild it with CUDA "
        "12 or 13";
  }
  return units;
}

namespace {

tl::expected<Text, ImageError> text_of_image(const Image& image) {
  auto text = unpack(image);
  if (!text) return damaged(text.error());
  return Text{std::make_shared<const std::string>(std::move(*text)), image.name,
              image.architecture};
}

// The PTX that the device's machine code keeps for debuggers, if it was compiled from one file.
std::optional<Text> kept_text(std::span<const Image> images, Architecture architecture) {
  const Image* const code = choose_code(images, architecture);
  if (!code || code->stored.empty()) return std::nullopt;
  const auto cubin = unpack(*code);
  const auto kept = cubin ? read_elf(bytes_of(*cubin)) : tl::unexpected(cubin.error());
  if (!kept || kept->size() != 1) return std::nullopt;
  auto text = text_of_image(kept->front().front());
  if (!text) return std::nullopt;
  text->name = code->name;
  return std::move(*text);
}

}  // namespace

tl::expected<Text, ImageError> text_of(std::span<const Image> images, Architecture architecture) {
  auto image = choose(images, architecture);
  if (image) return text_of_image(**image);
  if (auto kept = kept_text(images, architecture)) return std::move(*kept);
  return tl::unexpected<ImageError>({ImageError::Kind::unusable, std::move(image.error())});
}

namespace {

// The software GPU supplies the device runtime's functions, so PTX of that library for a later chip
// is not used. If it has no PTX, that is not reported.
tl::expected<Text, ImageError> text_of_unit(std::span<const Image> images,
                                            Architecture architecture) {
  auto text = text_of(images, architecture);
  if (!is_device_runtime(images)) return text;
  if (text && text->architecture.number > architecture.number)
    return tl::unexpected<ImageError>({ImageError::Kind::unusable, {}});
  if (!text && text.error().kind == ImageError::Kind::unusable) text.error().message.clear();
  return text;
}

}  // namespace

tl::expected<Text, ImageError> text_of(const Unit& unit, Architecture architecture) {
  if (!unit.error.empty()) return damaged(unit.error);
  if (unit.text) return Text{unit.text, {}, {}};
  if (!unit.registered) return text_of_unit(unit.images, architecture);
  ProcessMemory memory(unit.registered);
  auto images = images_of(memory);
  if (!images) return damaged(images.error());
  auto text = text_of_unit(*images, architecture);
  if (!text && text.error().kind == ImageError::Kind::unusable && !text.error().message.empty())
    text.error().message = machine_code_only(unit.registered, text.error().message);
  return text;
}

}  // namespace inflight::cuda
