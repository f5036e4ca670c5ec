// Reads ELF tables, with every access limited to the size of the file.
#include "gpu/loader/elf_view.hpp"

namespace inflight::loader {

std::optional<ElfView> ElfView::of(Bytes file) {
  const Tables tables(TakeFromBytes{file});
  const Elf64_Ehdr& header = tables.header();
  const bool known =
      tables.flaw() != Tables::Flaw::not_elf && tables.flaw() != Tables::Flaw::unknown_headers &&
      header.e_machine == EM_X86_64 && (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
      header.e_phentsize == sizeof(Elf64_Phdr);
  if (!known || header.e_phoff > file.size()) return std::nullopt;
  return ElfView(file, tables);
}

bool ElfView::has_section(std::string_view name) const {
  for (std::uint64_t i = 0; i < tables_.count(); ++i)
    if (tables_.name(tables_.section(i)) == name) return true;
  return false;
}

Bytes ElfView::section(std::string_view name) const {
  for (std::uint64_t i = 0; i < tables_.count(); ++i) {
    const Elf64_Shdr each = tables_.section(i);
    if (tables_.name(each) == name) return tables_.contents(each).value_or(Bytes{});
  }
  return {};
}

}  // namespace inflight::loader
