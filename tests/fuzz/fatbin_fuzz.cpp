// Reads arbitrary bytes as a fatbin, an ELF file and a linked image, with a known size and at the
// end of readable memory: no crash, no read past the end.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gpu/cuda/image/find_ptx.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "tests/fuzz/image_mutator.hpp"

using namespace inflight::cuda;

namespace {

// Unpacked data must match its entry. A wrong entry is refused.
void check_images(const std::vector<Image>& images, std::span<const std::byte> bytes) {
  for (const Image& image : images) {
    bool inside = image.stored.data() >= bytes.data() &&
                  image.stored.data() + image.stored.size() <= bytes.data() + bytes.size();
    if (!inside) std::abort();
    auto text = unpack(image);
    if (text && text->size() > image.size) std::abort();
    if (!text && text.error().empty()) std::abort();
  }
  for (int number : {80, 90, 100}) {
    auto chosen = choose(images, {number, false, false});
    if (!chosen) continue;
    const Architecture& taken = (*chosen)->architecture;
    if ((*chosen)->kind != Image::Kind::ptx) std::abort();
    // An image for a later chip is chosen only where this chip has machine code.
    const bool code = std::ranges::any_of(images, [&](const Image& each) {
      return each.kind == Image::Kind::elf && each.architecture.number / 10 == number / 10;
    });
    if (taken.number > number && (taken.specific || taken.family || !code)) std::abort();
  }
}

// Bytes without a known size end here. The memory after them cannot be read.
constexpr std::size_t room = 1 << 20;
char* end_of_memory() {
  static char* const end = [] {
    constexpr std::size_t page = 4096;
    void* made = mmap(nullptr, room + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED || mprotect(made, room, PROT_READ | PROT_WRITE) != 0) std::abort();
    return static_cast<char*>(made) + room;
  }();
  return end;
}

void read_in_memory(const std::uint8_t* data, std::size_t size) {
  size = std::min(size, room);
  char* start = end_of_memory() - size;
  if (size) std::memcpy(start, data, size);
  ProcessMemory fatbin(start), elf(start), linked(start), text(start);
  if (auto images = read_fatbin(fatbin, 0, Bodies::ptx)) {
    for (const Image& image : *images)
      if (image.kind == Image::Kind::ptx) unpack(image);
  }
  read_elf(elf, Bodies::ptx);
  split_texts(linked);
  text.text(room);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of the exact size, so that a sanitizer detects a read past the end.
  std::vector<std::byte> copy(reinterpret_cast<const std::byte*>(data),
                              reinterpret_cast<const std::byte*>(data) + size);
  std::span<const std::byte> bytes(copy);
  if (auto images = read_fatbin(bytes)) check_images(*images, bytes);
  if (auto fatbins = read_elf(bytes)) {
    for (const auto& images : *fatbins) check_images(images, bytes);
  }
  auto found = find_ptx(bytes);
  if (!found && found.error().empty()) std::abort();
  split_texts(bytes);
  read_in_memory(data, size);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return inflight::fuzz::mutate_image(data, size, most, seed);
}
