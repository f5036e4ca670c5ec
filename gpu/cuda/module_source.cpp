// What programs hand over to be loaded, told apart by content and taken to pieces.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu/cuda/bytes.hpp"
#include "gpu/cuda/module.hpp"
#include "gpu/cuda/wrapper.hpp"

namespace inflight::cuda {
namespace {

using Units = std::vector<Unit>;

Unit unit_of_text(std::string text) {
  Unit unit;
  unit.text = std::make_shared<const std::string>(std::move(text));
  return unit;
}

// The fatbin in `owner`, which the unit keeps.
Unit unit_of_copy(std::shared_ptr<const std::string> owner) {
  Unit unit;
  auto images = read_fatbin(bytes_of(*owner));
  if (images) {
    unit.images = std::move(*images);
  } else {
    unit.error = images.error();
  }
  unit.owner = std::move(owner);
  return unit;
}

std::shared_ptr<const std::string> copy_of(const void* data, std::uint64_t bytes) {
  return std::make_shared<const std::string>(static_cast<const char*>(data), bytes);
}

Result<Units> units_of_fatbin(const void* data) {
  std::uint64_t bytes = fatbin_size({static_cast<const std::byte*>(data), 16});
  if (bytes == 0) return fail(Status::invalid_image, "the fatbin's header is damaged");
  Units units;
  units.push_back(unit_of_copy(copy_of(data, bytes)));
  if (!units[0].error.empty()) return fail(Status::invalid_image, units[0].error);
  return units;
}

Result<Units> units_of_link(Bytes bytes) {
  auto texts = split_texts(bytes);
  if (!texts) return fail(Status::invalid_image, texts.error());
  Units units;
  for (std::string& text : *texts) units.push_back(unit_of_text(std::move(text)));
  return units;
}

Result<Units> units_of_wrapper(const void* wrapper) {
  Units units;
  for (const void* fatbin : fatbins_of(wrapper)) {
    auto one = units_of_fatbin(fatbin);
    if (!one) return one;
    units.insert(units.end(), one->begin(), one->end());
  }
  return units;
}

Result<Units> units_of_elf(std::shared_ptr<const std::string> file) {
  auto fatbins = read_elf(bytes_of(*file));
  if (!fatbins) return fail(Status::no_binary_for_gpu, fatbins.error());
  Units units;
  for (auto& images : *fatbins) units.push_back({std::move(images), nullptr, file, {}});
  if (units.empty()) return fail(Status::invalid_image, "the ELF file holds no fatbin");
  return units;
}

constexpr std::size_t elf_header_bytes = 64;

// The size of an ELF file in memory: where its table of sections ends, by its header.
std::uint64_t elf_size(const void* data) {
  Bytes header(static_cast<const std::byte*>(data), elf_header_bytes);
  return field<std::uint64_t>(header, 0x28) +
         std::uint64_t{field<std::uint16_t>(header, 0x3A)} * field<std::uint16_t>(header, 0x3C);
}

Result<Units> units_of_file(std::shared_ptr<const std::string> file) {
  Bytes bytes = bytes_of(*file);
  switch (content_of(bytes)) {
    case Content::elf:
      return units_of_elf(std::move(file));
    case Content::linked:
      return units_of_link(bytes);
    case Content::text:
      return Units{unit_of_text(file->substr(0, file->find('\0')))};
    case Content::fatbin: {
      Units units{unit_of_copy(std::move(file))};
      if (!units[0].error.empty()) return fail(Status::invalid_image, units[0].error);
      return units;
    }
    case Content::wrapper:
    case Content::unknown:
      break;
  }
  return fail(Status::invalid_image, "the image is neither PTX text nor a fatbin");
}

// Reads no further than each kind's own header allows; of unknown bytes only the first ones, up to
// a NUL.
Result<Units> units_of_memory(const void* image) {
  auto* start = static_cast<const std::byte*>(image);
  std::size_t readable = strnlen(static_cast<const char*>(image), 4);
  if (readable < 4)
    return fail(Status::invalid_image, "the image is neither PTX text nor a fatbin");
  switch (content_of({start, 4})) {
    case Content::wrapper:
      return units_of_wrapper(image);
    case Content::fatbin:
      return units_of_fatbin(image);
    case Content::elf: {
      // The header alone tells a cubin, whose size is then never trusted.
      auto header = read_elf({start, elf_header_bytes});
      if (!header) return fail(Status::no_binary_for_gpu, header.error());
      return units_of_elf(copy_of(image, elf_size(image)));
    }
    default:
      break;
  }
  std::size_t length = std::strlen(static_cast<const char*>(image));
  if (length >= 8 && std::memcmp(image, "IFLINKED", 8) == 0) {
    return units_of_link({start, linked_size({start, 16})});
  }
  return units_of_file(copy_of(image, length));
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
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Status::file_not_found, fmt::format("the file {} cannot be read", path));
  auto bytes = std::make_shared<const std::string>(std::istreambuf_iterator<char>(file),
                                                   std::istreambuf_iterator<char>());
  return make(units_of_file(std::move(bytes)), path);
}

}  // namespace inflight::cuda
