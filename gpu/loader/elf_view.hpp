// Reads sections, segments and symbols of an ELF file in place, without copies or allocations. All
// offsets and sizes are checked against the file.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "gpu/cuda/image/elf_tables.hpp"

namespace inflight::loader {

using cuda::Bytes;

struct Symbol {
  std::string_view name;
  std::uint64_t address = 0, size = 0;
  bool function = false;
  bool defined = false;
};

class ElfView {
 public:
  // Accepts x86-64 programs and shared objects. Valid as long as the bytes.
  static std::optional<ElfView> of(Bytes file);

  bool has_section(std::string_view name) const;
  // The bytes of the section, or none.
  Bytes section(std::string_view name) const;
  // Calls f(Elf64_Phdr) for each segment.
  template <class F>
  void each_segment(F f) const {
    const Elf64_Ehdr& header = tables_.header();
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      const std::uint64_t at = header.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr);
      f(cuda::field<Elf64_Phdr>(file_, at));
    }
  }
  // A segment's bytes in the file. Empty if the file is too short.
  Bytes contents(const Elf64_Phdr& segment) const {
    return cuda::slice(file_, segment.p_offset, segment.p_filesz).value_or(Bytes{});
  }
  // Calls f(Symbol) for each symbol in the table of that type: SHT_SYMTAB, which strip removes, or
  // SHT_DYNSYM.
  template <class F>
  void each_symbol(std::uint32_t type, F f) const {
    const cuda::ElfSymbols symbols = tables_.symbols(type);
    for (std::uint64_t i = 0; i < symbols.count(); ++i) {
      const Elf64_Sym entry = symbols.at(i);
      f(Symbol{symbols.name(entry), entry.st_value, entry.st_size, cuda::is_function(entry),
               cuda::is_defined(entry)});
    }
  }
  // Calls f(address) for each function defined in the table of that type. Does not read names,
  // which is slow: libraries may have a million symbols.
  template <class F>
  void each_function(std::uint32_t type, F f) const {
    const cuda::ElfSymbols symbols = tables_.symbols(type);
    for (std::uint64_t i = 0; i < symbols.count(); ++i) {
      const Elf64_Sym entry = symbols.at(i);
      if (cuda::is_function(entry) && cuda::is_defined(entry)) f(entry.st_value);
    }
  }
  bool has_symbols() const { return !tables_.symbols(SHT_SYMTAB).entries.empty(); }

 private:
  struct TakeFromBytes {
    Bytes file;
    std::optional<Bytes> operator()(std::uint64_t at, std::uint64_t bytes) const {
      return cuda::slice(file, at, bytes);
    }
  };
  using Tables = cuda::ElfTables<TakeFromBytes>;
  ElfView(Bytes file, const Tables& tables) : file_(file), tables_(tables) {}

  Bytes file_;
  Tables tables_;
};

}  // namespace inflight::loader
