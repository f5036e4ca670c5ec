// Any bytes at all, read as a fatbin, an ELF file and a linked image: no crash, no read past the
// end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/cuda/fatbin.hpp"
#include "tests/fuzz/image_mutator.hpp"

using namespace inflight::cuda;

namespace {

// What was unpacked must be what its entry promised; a liar is refused, not believed.
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
    if (chosen && (*chosen)->architecture.number > number) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly this size, so that a sanitizer sees a read past the end.
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
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return inflight::fuzz::mutate_image(data, size, most, seed);
}
