#include "gpu/loader/machine_code.hpp"

#include "gpu/loader/elf_view.hpp"

namespace inflight::loader {
namespace {

// The headers of a fat binary and of the files in it, as gpu/cuda/image/fatbin.cpp has them.
constexpr std::uint32_t magic = 0xBA55ED50;
struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, bytes;
  std::uint64_t content;
};
struct FileHeader {
  std::uint16_t kind, version;
  std::uint32_t bytes;
  std::uint64_t content;
};
constexpr std::uint16_t ptx = 1, machine_code = 2;

enum class Holds { nothing, ptx, machine_code };

// What the fat binary at the begin of the bytes holds.
Holds contents(cuda::Bytes bytes) {
  const auto header = cuda::field<FatHeader>(bytes, 0);
  if (header.magic != magic || header.bytes < sizeof header) return Holds::nothing;
  const auto files = cuda::slice(bytes, header.bytes, header.content);
  if (!files) return Holds::nothing;
  Holds found = Holds::nothing;
  for (std::uint64_t at = 0; files->size() - at >= sizeof(FileHeader);) {
    const auto file = cuda::field<FileHeader>(*files, at);
    if (file.kind == ptx) return Holds::ptx;
    if (file.kind == machine_code) found = Holds::machine_code;
    const std::uint64_t left = files->size() - at;
    if (file.bytes < sizeof file || file.bytes > left || file.content > left - file.bytes) break;
    at += file.bytes + file.content;
  }
  return found;
}

}  // namespace

bool lacks_ptx(cuda::Bytes file) {
  const auto elf = ElfView::of(file);
  if (!elf) return false;
  const auto data = elf->section(".data");
  constexpr std::uint64_t alignment = 8;
  for (std::uint64_t at = 0;
       data.size() >= sizeof(FatHeader) && at <= data.size() - sizeof(FatHeader); at += alignment) {
    const auto rest = data.subspan(at);
    const Holds found = contents(rest);
    if (found != Holds::nothing) return found == Holds::machine_code;
  }
  return false;
}

}  // namespace inflight::loader
