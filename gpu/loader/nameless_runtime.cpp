// Searches an object's code for the marks of known releases.
#include "gpu/loader/nameless_runtime.hpp"

#include <cstring>

#include "gpu/loader/static_runtime.hpp"

namespace inflight::loader {
namespace {

constexpr std::uint64_t alignment = 16;  // of the runtime's code, and of every mark in it

// Rare imports that the runtime has. Objects without them are not searched.
constexpr std::string_view rare_imports[] = {"mkfifo", "dlvsym", "sem_timedwait"};

std::uint64_t word(Bytes code, std::uint64_t at) {
  std::uint64_t result;
  std::memcpy(&result, code.data() + at, sizeof result);
  return result;
}

bool is_at(Bytes code, std::uint64_t start, const Mark& mark) {
  return word(code, start + mark.at) == mark.words[0] &&
         word(code, start + mark.at + 8) == mark.words[1];
}

bool is_at(Bytes code, std::uint64_t start, const Release& release) {
  if (start > code.size() || release.bytes > code.size() - start) return false;
  for (const Mark& mark : release.marks)
    if (!is_at(code, start, mark)) return false;
  return true;
}

struct Place {
  unsigned release;
  std::uint64_t start;
};

// `skew`: the address of the first byte modulo the alignment.
std::optional<Place> search(Bytes code, std::uint64_t skew) {
  std::uint64_t at = (alignment - skew) % alignment;
  for (; at + alignment <= code.size(); at += alignment) {
    const std::uint64_t here = word(code, at);
    for (unsigned i = 0; i < std::size(releases); ++i) {
      const Mark& first = releases[i].marks[0];
      if (here == first.words[0] && at >= first.at && is_at(code, at - first.at, releases[i]))
        return Place{i, at - first.at};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<NamelessRuntime> NamelessRuntime::in(const ElfView& elf) {
  for (std::string_view name : rare_imports)
    if (!imports(elf, name)) return std::nullopt;
  std::optional<NamelessRuntime> found;
  elf.each_segment([&](const Elf64_Phdr& segment) {
    if (found || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) return;
    const Bytes code = elf.contents(segment);
    if (const auto place = search(code, segment.p_vaddr % alignment))
      found = NamelessRuntime(place->release, segment.p_vaddr + place->start);
  });
  return found;
}

}  // namespace inflight::loader
