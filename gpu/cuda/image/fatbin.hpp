// Reads nvcc's fatbin container and chooses an image for an architecture.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/source.hpp"

namespace inflight::cuda {

// A virtual or real architecture: sm_90, sm_90a, sm_100f.
struct Architecture {
  int number = 0;         // 90
  bool specific = false;  // 'a': this architecture only
  bool family = false;    // 'f'
  bool operator==(const Architecture&) const = default;
};
std::string spelling(const Architecture&);
// The architecture in a PTX text's .target line, or {} if it has none.
Architecture target_of(std::string_view text);

// One entry of a fatbin. `stored` points to the bytes that were read, or to a source's copy.
struct Image {
  enum class Kind : std::uint16_t { ptx = 1, elf = 2, lto = 8 };
  enum class Packing : std::uint8_t {
    raw,
    lz4,
    zstd,
    lines,  // text whose lines end with NUL
  };
  Kind kind = Kind::ptx;
  Packing packing = Packing::raw;
  Architecture architecture;
  int version_major = 0, version_minor = 0;  // of PTX: 9.0
  std::string name;                          // of the source file, or empty
  std::span<const std::byte> stored;         // as in the file, without padding of packed data;
                                             // empty if Bodies::ptx skipped it
  std::uint64_t size = 0;                    // bytes when unpacked
};

// The largest image that unpack() makes, because a container may claim any size.
inline constexpr std::uint64_t largest_image = 512ull << 20;

// The kind of content, detected from its first bytes.
enum class Content : std::uint8_t { wrapper, fatbin, elf, linked, text, unknown };
Content content_of(std::span<const std::byte> start);

// The images whose bytes are read. Machine code may be large and is never run.
enum class Bodies : std::uint8_t { all, ptx };
// The images of the fatbin (header and entries) that begins `at` bytes into the source. An error is
// a sentence without a full stop.
tl::expected<std::vector<Image>, std::string> read_fatbin(Source&, std::uint64_t at, Bodies);
tl::expected<std::vector<Image>, std::string> read_fatbin(std::span<const std::byte> bytes);

// The size in a fatbin's header of 16 bytes, or 0 if it is no such header.
std::uint64_t fatbin_size(std::span<const std::byte> header);

// The image's unpacked bytes. PTX ends before its NUL padding.
tl::expected<std::string, std::string> unpack(const Image&);

// The PTX image that a device of architecture `device` runs: the highest virtual architecture not
// above it. An 'a' or 'f' image runs only on exactly its number, and is then preferred. If there is
// none, but machine code that the device would run, it is the oldest plain PTX. The error lists the
// images and names a build option that adds a usable one.
tl::expected<const Image*, std::string> choose(std::span<const Image> images, Architecture device);

// The machine code that a device of architecture `device` runs, or null.
const Image* choose_code(std::span<const Image> images, Architecture device);

// True if this is NVIDIA's device runtime (libcudadevrt), which nvcc adds to programs compiled with
// -rdc=true that launch kernels from kernels.
bool is_device_runtime(std::span<const Image> images);

// Every fatbin in an ELF file (sections .nv_fatbin and __nv_relfatbin), in file order. Empty if
// there is none. A cubin counts as a fatbin for each PTX text that it keeps for debuggers, and is
// an error if it keeps none.
tl::expected<std::vector<std::vector<Image>>, std::string> read_elf(Source&, Bodies);
tl::expected<std::vector<std::vector<Image>>, std::string> read_elf(
    std::span<const std::byte> file);

}  // namespace inflight::cuda
