// Looks up a name in a GNU hash table, as in the supplement of the System V ABI.
#include "gpu/loader/exported.hpp"

#include <elf.h>

#include <cstdint>

#include "gpu/loader/dynamic_section.hpp"

namespace inflight::loader {
namespace {

std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

const Elf64_Sym* exported_symbol(const link_map& library, std::string_view name) {
  const auto* symbols = dynamic_pointer<Elf64_Sym>(library, DT_SYMTAB);
  const auto* names = dynamic_pointer<char>(library, DT_STRTAB);
  const auto* table = dynamic_pointer<std::uint32_t>(library, DT_GNU_HASH);
  if (!symbols || !names || !table) return nullptr;
  const std::uint32_t bucket_count = table[0], first = table[1], bloom_words = table[2],
                      wanted = hash_of(name);
  if (bucket_count == 0) return nullptr;
  const std::uint32_t* buckets = table + 4 + 2 * bloom_words;
  const std::uint32_t* chain = buckets + bucket_count;
  std::uint32_t i = buckets[wanted % bucket_count];
  if (i < first) return nullptr;
  for (;; ++i) {
    const std::uint32_t hash = chain[i - first];
    const Elf64_Sym& symbol = symbols[i];
    if ((hash | 1) == (wanted | 1) && symbol.st_shndx != SHN_UNDEF &&
        name == names + symbol.st_name)
      return &symbol;
    if (hash & 1) return nullptr;
  }
}

void* exported(const link_map& library, std::string_view name) {
  const Elf64_Sym* const symbol = exported_symbol(library, name);
  return symbol ? reinterpret_cast<void*>(library.l_addr + symbol->st_value) : nullptr;
}

}  // namespace inflight::loader
