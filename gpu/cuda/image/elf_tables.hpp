// Reads an ELF file's header, sections, section names and symbols. Every offset and size is checked
// against the file. It allocates nothing and needs no C library, because the loader's audit module,
// which is loaded before any C library, uses it too.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "gpu/cuda/image/bytes.hpp"

namespace inflight::cuda {

// The NUL-terminated text at an offset of a string section. Empty if there is none.
inline std::string_view text_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* start = characters(strings).data() + offset;
  const void* end = std::memchr(start, 0, strings.size() - offset);
  if (!end) return {};
  return {start, static_cast<std::size_t>(static_cast<const char*>(end) - start)};
}

// A symbol table and its names.
struct ElfSymbols {
  Bytes entries, names;
  std::uint64_t count() const { return entries.size() / sizeof(Elf64_Sym); }
  Elf64_Sym at(std::uint64_t index) const {
    return field<Elf64_Sym>(entries, index * sizeof(Elf64_Sym));
  }
  std::string_view name(const Elf64_Sym& symbol) const { return text_at(names, symbol.st_name); }
};
inline bool is_function(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}
inline bool is_defined(const Elf64_Sym& symbol) { return symbol.st_shndx != SHN_UNDEF; }

// The tables of a 64-bit little-endian file. `Take` is std::optional<Bytes>(offset, size): those
// bytes, or nothing if the file lacks some of them.
template <class Take>
class ElfTables {
 public:
  enum class Flaw {
    none,
    not_elf,          // not a 64-bit little-endian ELF file
    unknown_headers,  // unknown size of section headers
    cut_table,        // the section table lies outside the file
    cut_names,        // the section names lie outside the file
  };
  explicit ElfTables(Take take) : take_(take), flaw_(read_header()) {
    if (flaw_ == Flaw::none) flaw_ = read_sections();
    if (flaw_ != Flaw::none) count_ = 0;
  }
  // If there is a flaw, there are no sections.
  Flaw flaw() const { return flaw_; }
  const Elf64_Ehdr& header() const { return header_; }

  std::uint64_t count() const { return count_; }
  // The section with this number, or zeros past the last.
  Elf64_Shdr section(std::uint64_t index) const {
    return field<Elf64_Shdr>(table_, index * sizeof(Elf64_Shdr));
  }
  std::string_view name(const Elf64_Shdr& section) const {
    return text_at(names_, section.sh_name);
  }
  // A section's bytes, which may be none. Nothing if the file lacks some of them.
  std::optional<Bytes> contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return Bytes{};
    return take_(section.sh_offset, section.sh_size);
  }
  // The symbols of the first section of that type: SHT_SYMTAB, which strip removes, or SHT_DYNSYM.
  // None if there is no such section.
  ElfSymbols symbols(std::uint32_t type) const {
    for (std::uint64_t i = 0; i < count_; ++i) {
      const Elf64_Shdr each = section(i);
      if (each.sh_type == type && each.sh_link < count_)
        return {contents(each).value_or(Bytes{}),
                contents(section(each.sh_link)).value_or(Bytes{})};
    }
    return {};
  }

 private:
  Flaw read_header() {
    const auto head = take_(0, sizeof(Elf64_Ehdr));
    if (!head) return Flaw::not_elf;
    header_ = field<Elf64_Ehdr>(*head, 0);
    const bool known = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                       header_.e_ident[EI_CLASS] == ELFCLASS64 &&
                       header_.e_ident[EI_DATA] == ELFDATA2LSB;
    return known ? Flaw::none : Flaw::not_elf;
  }

  // Numbers that do not fit in the header are in the first section.
  Flaw read_sections() {
    if (header_.e_shoff == 0) return Flaw::none;
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) return Flaw::unknown_headers;
    const auto first = take_(header_.e_shoff, sizeof(Elf64_Shdr));
    if (!first) return Flaw::cut_table;
    const auto head = field<Elf64_Shdr>(*first, 0);
    count_ = header_.e_shnum ? header_.e_shnum : head.sh_size;
    if (count_ == 0) return Flaw::none;
    const auto table = count_ > ~std::uint64_t{0} / sizeof(Elf64_Shdr)
                           ? std::nullopt
                           : take_(header_.e_shoff, count_ * sizeof(Elf64_Shdr));
    if (!table) return Flaw::cut_table;
    table_ = *table;
    const std::uint64_t named =
        header_.e_shstrndx == SHN_XINDEX ? head.sh_link : header_.e_shstrndx;
    const auto names = contents(section(named));
    if (!names) return Flaw::cut_names;
    names_ = *names;
    return Flaw::none;
  }

  Take take_;
  Elf64_Ehdr header_{};
  Bytes table_, names_;
  std::uint64_t count_ = 0;
  Flaw flaw_;
};

}  // namespace inflight::cuda
