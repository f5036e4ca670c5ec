// Reading fatbin wrappers out of the program's memory.
#include "gpu/cuda/wrapper.hpp"

#include "gpu/cuda/bytes.hpp"

namespace inflight::cuda {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* prelinked;  // version 2: a null-terminated array of pointers to fatbins
};

Unit unit_in_place(const void* data) {
  auto* start = static_cast<const std::byte*>(data);
  Unit unit;
  std::uint64_t bytes = fatbin_size({start, 16});
  auto images = read_fatbin({start, bytes});
  if (images) {
    unit.images = std::move(*images);
  } else {
    unit.error = images.error();
  }
  return unit;
}

}  // namespace

std::vector<const void*> fatbins_of(const void* pointer) {
  auto* wrapper = static_cast<const Wrapper*>(pointer);
  std::vector<const void*> result;
  if (content_of({static_cast<const std::byte*>(pointer), 4}) != Content::wrapper) return result;
  if (wrapper->version == 2 && wrapper->prelinked) {
    for (auto* each = static_cast<const void* const*>(wrapper->prelinked); *each; ++each) {
      result.push_back(*each);
    }
  } else if (wrapper->version <= 2 && wrapper->data) {
    result.push_back(wrapper->data);
  }
  return result;
}

std::vector<Unit> registered_units(const void* wrapper) {
  std::vector<Unit> units;
  for (const void* fatbin : fatbins_of(wrapper)) units.push_back(unit_in_place(fatbin));
  if (units.empty()) {
    units.emplace_back().error =
        "the program registered a fatbin in a wrapper that is not known here; rebuild it with CUDA "
        "13.0";
  }
  return units;
}

}  // namespace inflight::cuda
