// Finds the fatbins in ELF files, and the PTX in cubins.
#include <fmt/format.h>

#include <charconv>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/elf.hpp"
#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint16_t machine_cuda = 190;
// The most bytes between two fatbins. Linkers leave less than a page, but a section may claim to be
// larger than the host's memory.
constexpr std::uint64_t longest_gap = 64 << 10;

// Reads the fatbins of a section, which lie one after another at multiples of 8 bytes.
tl::expected<void, std::string> read_section(Source& source, const ElfSection& section,
                                             Bodies bodies, std::vector<std::vector<Image>>& into) {
  const std::string outside =
      fmt::format("the ELF file is damaged: its section {} is outside the file", section.name);
  if (section.offset > source.size() || section.size > source.size() - section.offset)
    return tl::unexpected(outside);
  for (std::uint64_t at = 0, gap = 0; at + 16 <= section.size;) {
    const auto header = source.take(section.offset + at, 16);
    if (!header) return tl::unexpected(outside);
    const std::uint64_t size = fatbin_size(*header);
    if (size > section.size - at)
      return tl::unexpected(
          fmt::format("the fatbin is cut off: {} of {} bytes", section.size - at, size));
    if (size == 0) {
      at += 8;
      if ((gap += 8) > longest_gap) break;
      continue;
    }
    gap = 0;
    auto images = read_fatbin(source, section.offset + at, bodies);
    if (!images) return tl::unexpected(images.error());
    into.push_back(std::move(*images));
    at += (size + 7) / 8 * 8;
  }
  return {};
}

// ptxas leaves the PTX that it compiles with -lineinfo or -G in the cubin, without comments and
// .loc, as lines that end with NUL. A linked cubin has a section for each file.
constexpr std::string_view kept_ptx = ".nv_debug_ptx_txt";

Image image_of_kept(Bytes lines) {
  const std::string_view text = characters(lines);
  Image image;
  image.packing = Image::Packing::lines;
  image.architecture = target_of(text);
  image.stored = lines;
  image.size = lines.size();
  constexpr std::string_view version = ".version ";
  if (const auto at = text.find(version); at != text.npos) {
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data() + at + version.size(), end, image.version_major);
    if (major.ptr != end) std::from_chars(major.ptr + 1, end, image.version_minor);
  }
  return image;
}

tl::expected<std::vector<std::vector<Image>>, std::string> read_cubin(Source& source,
                                                                      const ElfFile& file) {
  std::vector<std::vector<Image>> result;
  for (const ElfSection& section : file.sections) {
    if (!section.name.starts_with(kept_ptx)) continue;
    const auto lines = source.take(section.offset, section.size);
    if (!lines)
      return tl::unexpected(
          fmt::format("the cubin is damaged: its section {} is outside the file", section.name));
    result.push_back({image_of_kept(*lines)});
  }
  if (!result.empty()) return result;
  return tl::unexpected(std::string(
      "this is a cubin, machine code for one GPU; the software GPU runs PTX: build files with "
      "nvcc -ptx or -fatbin, or with -lineinfo, which leaves the PTX in the cubin, and let a "
      "program that compiles at run time load libnvrtc and libnvJitLink as shared libraries under "
      "'inflight run', so that they produce PTX; where they are linked statically, request PTX "
      "(compute_90, nvrtcGetPTX; -lto -ptx, nvJitLinkGetLinkedPtx) or -lineinfo; a program that "
      "asks for machine code because its CUDA is newer than the driver asks for PTX under "
      "'inflight run --driver 13.4' or later"));
}

}  // namespace

tl::expected<std::vector<std::vector<Image>>, std::string> read_elf(Source& source, Bodies bodies) {
  const auto file = read_elf_file(source);
  if (!file) return tl::unexpected(file.error());
  if (file->machine == machine_cuda) return read_cubin(source, *file);
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

}  // namespace inflight::cuda
