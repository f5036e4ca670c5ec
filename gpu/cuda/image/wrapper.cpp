// Reads fatbin wrappers from the program's memory.
#include "gpu/cuda/image/wrapper.hpp"

#include <cstdint>

#include "gpu/cuda/image/fatbin.hpp"
#include "gpu/cuda/image/source.hpp"

namespace inflight::cuda {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* prelinked;  // version 2: a null-terminated array of pointers to fatbins
};

// The pointers of an array, up to its terminating null or the end of readable memory.
std::vector<const void*> pointers_at(const void* array) {
  constexpr std::uint64_t most = 1 << 20;
  ProcessMemory memory(array);
  std::vector<const void*> result;
  for (std::uint64_t i = 0; i < most; ++i) {
    const auto bytes = memory.take(i * sizeof(void*), sizeof(void*));
    const auto* pointer = bytes ? field<const void*>(*bytes, 0) : nullptr;
    if (!pointer) break;
    result.push_back(pointer);
  }
  return result;
}

}  // namespace

std::vector<const void*> fatbins_of(const void* pointer) {
  ProcessMemory memory(pointer);
  const auto bytes = memory.take(0, sizeof(Wrapper));
  if (!bytes || content_of(*bytes) != Content::wrapper) return {};
  const auto wrapper = field<Wrapper>(*bytes, 0);
  if (wrapper.version == 2 && wrapper.prelinked) return pointers_at(wrapper.prelinked);
  if (wrapper.version <= 2 && wrapper.data) return {wrapper.data};
  return {};
}

}  // namespace inflight::cuda
