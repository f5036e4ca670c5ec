// What programs hand over to be loaded, told apart by content and taken to pieces.
#include <fmt/format.h>

#include "gpu/cuda/core/module.hpp"
#include "gpu/cuda/core/wrapper.hpp"
#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/source.hpp"

namespace inflight::cuda {
namespace {

using Units = std::vector<Unit>;

Unit unit_of_text(std::string text) {
  Unit unit;
  unit.text = std::make_shared<const std::string>(std::move(text));
  return unit;
}

using Memory = std::shared_ptr<ProcessMemory>;

Result<Units> units_of_fatbin(const Memory& memory) {
  auto images = read_fatbin(*memory, 0, Bodies::ptx);
  if (!images) return fail(Status::invalid_image, images.error());
  Units units;
  units.emplace_back().images = std::move(*images);
  units.back().owner = memory;
  return units;
}

Result<Units> units_of_texts(tl::expected<std::vector<std::string>, std::string> texts) {
  if (!texts) return fail(Status::invalid_image, texts.error());
  Units units;
  for (std::string& text : *texts) units.push_back(unit_of_text(std::move(text)));
  return units;
}

Result<Units> units_of_wrapper(const void* wrapper) {
  Units units;
  for (const void* fatbin : fatbins_of(wrapper)) {
    auto one = units_of_fatbin(std::make_shared<ProcessMemory>(fatbin));
    if (!one) return one;
    units.insert(units.end(), one->begin(), one->end());
  }
  if (units.empty()) return fail(Status::invalid_image, "the fatbin's wrapper is damaged");
  return units;
}

using Fatbins = tl::expected<std::vector<std::vector<Image>>, std::string>;

Result<Units> units_of_elf(Fatbins fatbins, const std::shared_ptr<const void>& owner) {
  if (!fatbins) return fail(Status::no_binary_for_gpu, fatbins.error());
  Units units;
  for (auto& images : *fatbins) {
    units.emplace_back().images = std::move(images);
    units.back().owner = owner;
  }
  if (units.empty()) return fail(Status::invalid_image, "the ELF file holds no fatbin");
  return units;
}

Result<Units> no_image() {
  return fail(Status::invalid_image, "the image is neither PTX text nor a fatbin");
}

Result<Units> units_of_file(const std::shared_ptr<const std::string>& file) {
  const Bytes bytes = bytes_of(*file);
  switch (content_of(bytes)) {
    case Content::elf:
      return units_of_elf(read_elf(bytes), file);
    case Content::linked:
      return units_of_texts(split_texts(bytes));
    case Content::text:
      return Units{unit_of_text(file->substr(0, file->find('\0')))};
    case Content::fatbin: {
      auto images = read_fatbin(bytes);
      if (!images) return fail(Status::invalid_image, images.error());
      Units units;
      units.emplace_back().images = std::move(*images);
      units.back().owner = file;
      return units;
    }
    case Content::wrapper:
    case Content::unknown:
      break;
  }
  return no_image();
}

Result<Units> units_of_text(ProcessMemory& memory) {
  auto text = memory.text(largest_image);
  if (!text)
    return fail(Status::invalid_image,
                "the image's text has no end: PTX text must end with a NUL character");
  if (content_of(bytes_of(*text)) != Content::text) return no_image();
  return Units{unit_of_text(std::move(*text))};
}

// What lies at an address is told by its first bytes, and read as far as its own headers say and
// the memory allows; of unknown bytes only what comes before a NUL.
Result<Units> units_of_memory(const void* image) {
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

Result<std::shared_ptr<LoadedModule>> make(Result<Units> units, std::string name) {
  if (!units) return tl::unexpected(units.error());
  return std::make_shared<LoadedModule>(std::move(*units), std::move(name));
}

}  // namespace

Result<std::shared_ptr<LoadedModule>> LoadedModule::from_memory(const void* image) {
  if (!image) return fail(Status::invalid_value);
  return make(units_of_memory(image), {});
}

Result<std::shared_ptr<LoadedModule>> LoadedModule::from_file(const std::string& path) {
  auto file = File::open(path);
  if (!file) return fail(Status::file_not_found, fmt::format("the file {} {}", path, file.error()));
  auto bytes = file->all();
  if (!bytes)
    return fail(Status::file_not_found, fmt::format("the file {} {}", path, bytes.error()));
  return make(units_of_file(std::make_shared<const std::string>(std::move(*bytes))), path);
}

}  // namespace inflight::cuda
