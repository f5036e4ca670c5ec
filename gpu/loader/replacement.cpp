// Writes a jump to our function over the entry of the C library's.
#include "gpu/loader/replacement.hpp"

#include <cstdint>
#include <cstring>

#include "gpu/loader/exported.hpp"
#include "gpu/loader/host.hpp"
#include "gpu/loader/jump.hpp"

namespace inflight::loader {
namespace {

int* (*errno_place)() = nullptr;

}  // namespace

Replacements::Replacements(const link_map& c_library) : library_(c_library) {
  errno_place = reinterpret_cast<int* (*)()>(exported(c_library, "__errno_location"));
}

int as_c_result(long result) {
  if (result >= 0) return 0;
  *errno_place() = static_cast<int>(-result);
  return -1;
}

void Replacements::write_jump(std::string_view name, const void* to) const {
  // With indirect branch tracking, a function begins with ENDBR64, which is kept.
  constexpr std::uint8_t mark[] = {0xF3, 0x0F, 0x1E, 0xFA};
  const Elf64_Sym* const symbol = exported_symbol(library_, name);
  if (!errno_place || !symbol || symbol->st_size < sizeof mark + sizeof(FarJump)) return;
  std::uint64_t at = library_.l_addr + symbol->st_value;
  if (std::memcmp(reinterpret_cast<void*>(at), mark, sizeof mark) == 0) at += sizeof mark;
  const FarJump code = far_jump(reinterpret_cast<std::uint64_t>(to));
  const std::uint64_t start = at & ~(page_bytes - 1),
                      bytes = (at + sizeof code - start + page_bytes - 1) & ~(page_bytes - 1);
  if (!protect_pages(start, bytes, Access::read_write_execute)) return;
  std::memcpy(reinterpret_cast<void*>(at), code.data(), code.size());
  protect_pages(start, bytes, Access::read_execute);
}

}  // namespace inflight::loader
