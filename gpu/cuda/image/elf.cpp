// Reads ELF files from a source.
#include "gpu/cuda/image/elf.hpp"

#include "gpu/cuda/image/elf_tables.hpp"

namespace inflight::cuda {
namespace {

struct TakeFromSource {
  Source* source;
  std::optional<Bytes> operator()(std::uint64_t at, std::uint64_t bytes) const {
    return source->take(at, bytes);
  }
};
using Tables = ElfTables<TakeFromSource>;

std::string sentence(Tables::Flaw flaw) {
  switch (flaw) {
    case Tables::Flaw::unknown_headers:
      return "the ELF file is damaged: its section headers have an unknown size";
    case Tables::Flaw::cut_table:
      return "the ELF file is damaged: its section table is outside the file";
    case Tables::Flaw::cut_names:
      return "the ELF file is damaged: its section names are outside the file";
    default:
      return "the file is not a 64-bit little-endian ELF file";
  }
}

}  // namespace

tl::expected<ElfFile, std::string> read_elf_file(Source& source) {
  const Tables tables(TakeFromSource{&source});
  if (tables.flaw() != Tables::Flaw::none) return tl::unexpected(sentence(tables.flaw()));
  ElfFile file;
  file.type = tables.header().e_type;
  file.machine = tables.header().e_machine;
  for (std::uint64_t i = 0; i < tables.count(); ++i) {
    const Elf64_Shdr each = tables.section(i);
    file.sections.push_back({std::string(tables.name(each)), each.sh_type, each.sh_link,
                             each.sh_offset, each.sh_type == SHT_NOBITS ? 0 : each.sh_size});
  }
  return file;
}

}  // namespace inflight::cuda
