// The names are in the object's string table: those of DT_NEEDED entries and of version
// requirements (DT_VERNEED).
#include "gpu/loader/needed_names.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "gpu/loader/dynamic_section.hpp"
#include "gpu/loader/host.hpp"
#include "gpu/loader/stand_ins.hpp"

namespace inflight::loader {
namespace {

void overwrite(const char* text, const char* by) {
  const std::size_t bytes = std::strlen(by) + 1;
  const auto at = reinterpret_cast<std::uint64_t>(text);
  const std::uint64_t start = at & ~(page_bytes - 1);
  const std::uint64_t size = at + bytes - start;
  if (!protect_pages(start, size, Access::read_write)) return;
  std::memcpy(const_cast<char*>(text), by, bytes);
  protect_pages(start, size, Access::read);
}

void restore(const char* name, bool (*have)(const char* name)) {
  char usual[64];
  if (stand_in_name(name, usual, sizeof usual) && std::strlen(usual) < std::strlen(name) &&
      !std::strchr(name, '/') && have(usual))
    overwrite(name, usual);
}

}  // namespace

void restore_needed_names(const link_map& object, bool (*have)(const char* name)) {
  const char* names = dynamic_pointer<char>(object, DT_STRTAB);
  if (!names) return;
  for (const Elf64_Dyn* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) restore(names + entry->d_un.d_val, have);
  }
  const auto* needs = dynamic_pointer<char>(object, DT_VERNEED);
  for (std::uint64_t left = dynamic_value(object, DT_VERNEEDNUM); needs && left > 0; --left) {
    Elf64_Verneed need;
    std::memcpy(&need, needs, sizeof need);
    restore(names + need.vn_file, have);
    needs += need.vn_next;
  }
}

}  // namespace inflight::loader
