// ELF's tables, each looked at where the file says it is and only as far as the file goes.
#include "gpu/loader/elf_view.hpp"

#include <cstring>

namespace inflight::loader {
namespace {

std::string_view text_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* start = cuda::characters(strings).data() + offset;
  const void* end = std::memchr(start, 0, strings.size() - offset);
  if (!end) return {};
  return {start, static_cast<std::size_t>(static_cast<const char*>(end) - start)};
}

}  // namespace

std::optional<ElfView> ElfView::of(Bytes file) {
  const auto header = cuda::field<Elf64_Ehdr>(file, 0);
  const bool known =
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
      header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64 &&
      (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
      header.e_shentsize == sizeof(Elf64_Shdr) && header.e_phentsize == sizeof(Elf64_Phdr);
  if (!known || header.e_phoff > file.size() || header.e_shoff > file.size()) return std::nullopt;
  return ElfView(file, header);
}

// With more than 65,279 sections, their number stands in the first.
std::uint64_t ElfView::section_count() const {
  const std::uint64_t fit = (file_.size() - header_.e_shoff) / sizeof(Elf64_Shdr);
  const std::uint64_t said = header_.e_shnum ? header_.e_shnum : section(0).sh_size;
  return said < fit ? said : fit;
}

Elf64_Shdr ElfView::section(std::uint64_t index) const {
  return cuda::field<Elf64_Shdr>(file_, header_.e_shoff + index * sizeof(Elf64_Shdr));
}

Bytes ElfView::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS) return {};
  return cuda::slice(file_, section.sh_offset, section.sh_size).value_or(Bytes{});
}

bool ElfView::has_section(std::string_view name) const {
  const std::uint64_t count = section_count();
  const std::uint64_t named =
      header_.e_shstrndx == SHN_XINDEX ? section(0).sh_link : header_.e_shstrndx;
  if (named >= count) return false;
  const Bytes names = contents(section(named));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (text_at(names, section(i).sh_name) == name) return true;
  }
  return false;
}

ElfView::Table ElfView::symbols(std::uint32_t type) const {
  const std::uint64_t count = section_count();
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr each = section(i);
    if (each.sh_type == type && each.sh_link < count)
      return {contents(each), contents(section(each.sh_link))};
  }
  return {};
}

Symbol ElfView::symbol(const Table& table, std::uint64_t at) {
  const auto entry = cuda::field<Elf64_Sym>(table.entries, at);
  return {text_at(table.names, entry.st_name), entry.st_value, entry.st_size,
          ELF64_ST_TYPE(entry.st_info) == STT_FUNC, entry.st_shndx != SHN_UNDEF};
}

}  // namespace inflight::loader
