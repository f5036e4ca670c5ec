// Units of the images that a program loads. Each device gets one PTX text per unit.
#pragma once
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "gpu/cuda/image/fatbin.hpp"

namespace inflight::cuda {

// Why an image has no usable PTX. The message is a sentence without a full stop, or empty if it
// need not be reported.
struct ImageError {
  enum class Kind {
    damaged,   // the image is malformed
    unusable,  // it has nothing that the device can run
    no_file,   // the file cannot be read
  };
  Kind kind = Kind::damaged;
  std::string message;
};

// A translation unit's images, of which each device takes one, or one PTX text.
struct Unit {
  std::vector<Image> images;
  std::shared_ptr<const std::string> text;
  bool assembled = false;             // the text stands for machine code
  std::shared_ptr<const void> owner;  // keeps the memory of `images` alive
  // A fatbin in the program's memory, which is read when it is needed, or null.
  const void* registered = nullptr;
  std::string error;  // why it could not be read; reported when it is used
};
using Units = tl::expected<std::vector<Unit>, ImageError>;

// From the argument of cuModuleLoadData, cuModuleLoadFatBinary and cuLibraryLoadData: a wrapper, a
// fatbin, PTX text or the image of a finished link, recognised by content. Copies what it keeps.
Units units_of_memory(const void* image);
// The same from a file (cuModuleLoad): also an executable or shared object with fatbins inside.
Units units_of_file(const std::string& path);
// The units of a registered wrapper, which point into the program's own data. A damaged one becomes
// a unit with an error.
std::vector<Unit> registered_units(const void* wrapper);

struct Text {
  std::shared_ptr<const std::string> text;
  std::string name;           // of its source; empty: unknown
  Architecture architecture;  // of the chosen image
};
// The PTX that a device of this architecture runs, from a fatbin's images or from a unit.
tl::expected<Text, ImageError> text_of(std::span<const Image> images, Architecture architecture);
tl::expected<Text, ImageError> text_of(const Unit& unit, Architecture architecture);

}  // namespace inflight::cuda
