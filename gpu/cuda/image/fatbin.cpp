// Reads fatbin containers: header, entries and packing. Chooses among images.
#include "gpu/cuda/image/fatbin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/cuda/image/unpack.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243B1, header_magic = 0xBA55ED50;
constexpr std::uint64_t header_bytes = 16, entry_bytes = 64;
constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";

// Offsets of an entry's fields, in bytes from its start.
enum Offset : std::uint64_t {
  kind_at = 0x00,
  entry_header_at = 0x04,
  stored_at = 0x08,
  packed_at = 0x10,
  minor_at = 0x18,
  major_at = 0x1A,
  architecture_at = 0x1C,
  name_at = 0x20,
  name_length_at = 0x24,
  flags_at = 0x28,
  unpacked_at = 0x38,
};
enum Flag : std::uint64_t {
  lz4_flag = 0x2000,
  zstd_flag = 0x8000,
  specific_flag = 0x100000,
  family_flag = 0x200000,
};

Image::Packing packing_of(std::uint64_t flags, std::uint32_t packed) {
  if (packed == 0) return Image::Packing::raw;
  if (flags & zstd_flag) return Image::Packing::zstd;
  return flags & lz4_flag ? Image::Packing::lz4 : Image::Packing::raw;
}

struct Entry {
  Image image;
  std::uint64_t bytes = 0;  // including its header
};

// The entry's name, or an empty text if it cannot be read.
std::string name_of(Source& source, std::uint64_t at, std::uint64_t header, Bytes head) {
  constexpr std::uint32_t longest = 4096;
  const std::uint64_t offset = field<std::uint32_t>(head, name_at);
  const auto length = field<std::uint32_t>(head, name_length_at);
  if (length > longest || offset > header || length > header - offset) return {};
  const auto name = source.take(at + offset, length);
  if (!name) return {};
  const std::string_view text = characters(*name);
  return std::string(text.substr(0, text.find('\0')));
}

// Reads the entry at byte `at` of the fatbin, which begins at byte `start` of the source and claims
// to have `rest` more bytes.
tl::expected<Entry, std::string> read_entry(Source& source, std::uint64_t start, std::uint64_t at,
                                            std::uint64_t rest, Bodies bodies) {
  auto bad = [at](std::string_view what) {
    return tl::unexpected(fmt::format("the fatbin is damaged: the entry at byte {} {}", at, what));
  };
  if (rest < entry_bytes) return bad("is cut off");
  const auto head = source.take(start + at, entry_bytes);
  if (!head) return bad("is past the end of the readable bytes");
  const std::uint64_t header = field<std::uint32_t>(*head, entry_header_at);
  const std::uint64_t stored = field<std::uint64_t>(*head, stored_at);
  const std::uint64_t packed = field<std::uint32_t>(*head, packed_at);
  if (header < entry_bytes || header > rest) return bad("has an impossible header size");
  if (stored > rest - header) return bad("reaches past the end");
  if (packed > stored) return bad("has a packed size larger than its stored size");
  const std::uint64_t flags = field<std::uint64_t>(*head, flags_at);
  Entry entry;
  entry.bytes = header + stored;
  Image& image = entry.image;
  image.kind = Image::Kind{field<std::uint16_t>(*head, kind_at)};
  image.packing = packing_of(flags, packed);
  image.architecture = {int(field<std::uint32_t>(*head, architecture_at) & 0xffff),
                        (flags & specific_flag) != 0, (flags & family_flag) != 0};
  image.version_major = field<std::uint16_t>(*head, major_at);
  image.version_minor = field<std::uint16_t>(*head, minor_at);
  image.name = name_of(source, start + at, header, *head);
  const bool raw = image.packing == Image::Packing::raw;
  image.size = raw ? stored : field<std::uint64_t>(*head, unpacked_at);
  if (bodies == Bodies::ptx && image.kind != Image::Kind::ptx) return entry;
  if (image.kind == Image::Kind::ptx && image.size > largest_image)
    return bad(fmt::format("says that it takes {} bytes", image.size));
  const auto body = source.take(start + at + header, raw ? stored : packed);
  if (!body) return bad("has data past the end of the readable bytes");
  image.stored = *body;
  return entry;
}

// Does code for the family of `a` run on `device`: on that chip, or on a later one of its
// generation? sm_101, which became sm_110, is alone.
bool in_family(Architecture a, Architecture device) {
  constexpr int alone = 101;
  if (a.number == alone || device.number == alone) return a.number == device.number;
  return a.number / 10 == device.number / 10 && a.number <= device.number;
}

// The rank of an image. Higher is better. Negative: `device` cannot run it.
int rank(const Image& image, Architecture device) {
  const Architecture& a = image.architecture;
  if (image.kind != Image::Kind::ptx || a.number > device.number) return -1;
  if (a.specific && a.number != device.number) return -1;
  if (a.family && !in_family(a, device)) return -1;
  return a.number * 4 + (a.specific ? 2 : a.family ? 1 : 0);
}

// True if a `device` chip would run the image directly: machine code of its generation, and not of
// a later chip in it.
bool is_code_for(const Image& image, Architecture device) {
  const Architecture& a = image.architecture;
  if (image.kind != Image::Kind::elf || a.number / 10 != device.number / 10) return false;
  if (a.family) return in_family(a, device);
  return a.specific ? a.number == device.number : a.number <= device.number;
}

// The oldest PTX that is not specific to a chip or family, or null.
const Image* oldest_ptx(std::span<const Image> images) {
  const Image* oldest = nullptr;
  for (const Image& image : images) {
    const Architecture& a = image.architecture;
    if (image.kind != Image::Kind::ptx || a.specific || a.family) continue;
    if (!oldest || a.number < oldest->architecture.number) oldest = &image;
  }
  return oldest;
}

std::string list_architectures(std::span<const Image> images, Image::Kind kind) {
  std::string list;
  for (const Image& image : images) {
    std::string name = spelling(image.architecture);
    if (image.kind != kind || list.find(name + ',') != list.npos) continue;
    list += name + ", ";
  }
  return list.substr(0, list.size() - std::min<std::size_t>(list.size(), 2));
}

std::string remedy(Architecture a) {
  std::string suffix = spelling(a).substr(3);
  return fmt::format("NVCC_APPEND_FLAGS=\"-gencode arch=compute_{0},code=compute_{0}\"", suffix);
}

std::string why_none(std::span<const Image> images, Architecture device) {
  std::string ptx = list_architectures(images, Image::Kind::ptx);
  std::string code = list_architectures(images, Image::Kind::elf);
  if (!ptx.empty()) {
    return fmt::format(
        "the program's PTX is for {}, which a device of {} cannot run; choose another device "
        "profile (--device) or rebuild with {}",
        ptx, spelling(device), remedy({device.number}));
  }
  if (!code.empty()) {
    auto elf = std::ranges::find(images, Image::Kind::elf, &Image::kind);
    return fmt::format(
        "the program holds machine code for {} but no PTX, which the software GPU needs; rebuild "
        "with NVCC_APPEND_FLAGS=-lineinfo, which 'inflight run' sets, after clearing what was "
        "compiled before (~/.cache/pycuda, ~/.cupy), or with {}",
        code, remedy(elf->architecture));
  }
  return fmt::format("the fatbin holds no PTX; rebuild with {}", remedy({device.number}));
}

}  // namespace

std::string spelling(const Architecture& a) {
  return fmt::format("sm_{}{}", a.number, a.specific ? "a" : a.family ? "f" : "");
}

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

Content content_of(std::span<const std::byte> start) {
  auto magic = field<std::uint32_t>(start, 0);
  if (magic == wrapper_magic) return Content::wrapper;
  if (magic == header_magic) return Content::fatbin;
  std::string_view text = characters(start);
  if (text.starts_with(elf_magic)) return Content::elf;
  if (is_linked(start)) return Content::linked;
  auto first = text.find_first_not_of(" \t\r\n\v\f");
  if (first == text.npos) return Content::unknown;
  return text[first] == '.' || text[first] == '/' ? Content::text : Content::unknown;
}

std::uint64_t fatbin_size(std::span<const std::byte> header) {
  if (header.size() < header_bytes || field<std::uint32_t>(header, 0) != header_magic) return 0;
  std::uint64_t head = field<std::uint16_t>(header, 6), rest = field<std::uint64_t>(header, 8);
  if (head < header_bytes || rest > (1ull << 40)) return 0;
  return head + rest;
}

tl::expected<std::vector<Image>, std::string> read_fatbin(Source& source, std::uint64_t start,
                                                          Bodies bodies) {
  const auto header = source.take(start, header_bytes);
  const std::uint64_t size = header ? fatbin_size(*header) : 0;
  if (size == 0)
    return tl::unexpected(std::string("these bytes are not a fatbin: its header is damaged"));
  if (const std::uint64_t there = source.size() - start; size > there)
    return tl::unexpected(fmt::format("the fatbin is cut off: {} of {} bytes", there, size));
  std::vector<Image> images;
  std::uint64_t at = field<std::uint16_t>(*header, 6);
  while (at < size) {
    auto entry = read_entry(source, start, at, size - at, bodies);
    if (!entry) return tl::unexpected(entry.error());
    images.push_back(std::move(entry->image));
    at += entry->bytes;
  }
  return images;
}

tl::expected<std::vector<Image>, std::string> read_fatbin(std::span<const std::byte> bytes) {
  Buffer source(bytes);
  return read_fatbin(source, 0, Bodies::all);
}

tl::expected<std::string, std::string> unpack(const Image& image) {
  if (image.size > largest_image) {
    return tl::unexpected(
        fmt::format("the fatbin is damaged: an image says it takes {} bytes", image.size));
  }
  auto text = unpack_bytes(image.packing, image.stored, image.size);
  if (text && image.kind == Image::Kind::ptx)
    text->resize(std::min(text->size(), text->find('\0')));
  return text;
}

tl::expected<const Image*, std::string> choose(std::span<const Image> images, Architecture device) {
  const Image* best = nullptr;
  int best_rank = -1;
  for (const Image& image : images) {
    int r = rank(image, device);
    if (r > best_rank) best = &image, best_rank = r;
  }
  if (best) return best;
  // A real chip would run the machine code. PTX of the same source for a later chip is the best
  // substitute.
  const Image* later = choose_code(images, device) ? oldest_ptx(images) : nullptr;
  if (!later) return tl::unexpected(why_none(images, device));
  return later;
}

const Image* choose_code(std::span<const Image> images, Architecture device) {
  const auto rank = [](const Image& image) {
    return image.architecture.number * 2 + image.architecture.specific;
  };
  const Image* best = nullptr;
  for (const Image& image : images)
    if (is_code_for(image, device) && (!best || rank(image) > rank(*best))) best = &image;
  return best;
}

bool is_device_runtime(std::span<const Image> images) {
  for (const Image& image : images) {
    if (image.kind != Image::Kind::ptx) continue;
    const auto text = unpack(image);
    // The names of its static functions contain the source file's name.
    return text && text->find("cuda_device_runtime_cu") != text->npos;
  }
  return false;
}

}  // namespace inflight::cuda
