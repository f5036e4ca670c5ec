// ELF's header and its table of sections, of which no number is believed.
#include "gpu/cuda/image/elf.hpp"

#include <elf.h>

#include <cstring>

namespace inflight::cuda {

std::string text_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = characters(strings).substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

tl::expected<ElfFile, std::string> read_elf_file(Source& source) {
  const auto bad = [](const char* what) { return tl::unexpected(std::string(what)); };
  const auto head = source.take(0, sizeof(Elf64_Ehdr));
  const auto header = head ? field<Elf64_Ehdr>(*head, 0) : Elf64_Ehdr{};
  if (!head || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return bad("the file is no 64-bit little-endian ELF file");
  ElfFile file;
  file.type = header.e_type;
  file.machine = header.e_machine;
  if (header.e_shoff == 0 || header.e_shnum == 0) return file;
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    return bad("the ELF file is damaged: its sections' headers have an unknown size");
  const auto table =
      source.take(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (!table) return bad("the ELF file is damaged: its table of sections lies outside of it");
  const auto section = [&](std::uint64_t i) {
    return field<Elf64_Shdr>(*table, i * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  const auto strings = source.take(names.sh_offset, names.sh_size);
  if (!strings) return bad("the ELF file is damaged: its sections' names lie outside of it");
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr each = section(i);
    file.sections.push_back({text_at(*strings, each.sh_name), each.sh_type, each.sh_link,
                             each.sh_offset, each.sh_type == SHT_NOBITS ? 0 : each.sh_size});
  }
  return file;
}

}  // namespace inflight::cuda
