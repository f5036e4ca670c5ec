// A look-up in a GNU hash table, as the System V ABI's supplement has it.
#include "gpu/loader/exported.hpp"

#include <elf.h>

#include <cstdint>

namespace inflight::loader {
namespace {

struct Tables {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;
};

// The loader has made addresses of them, where the section can be written.
template <class T>
const T* pointer(const link_map& library, std::uint64_t value) {
  return reinterpret_cast<const T*>(value < library.l_addr ? value + library.l_addr : value);
}

Tables tables_of(const link_map& library) {
  Tables result;
  for (const Elf64_Dyn* entry = library.l_ld; entry && entry->d_tag != DT_NULL; ++entry) {
    const std::uint64_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) result.symbols = pointer<Elf64_Sym>(library, value);
    if (entry->d_tag == DT_STRTAB) result.names = pointer<char>(library, value);
    if (entry->d_tag == DT_GNU_HASH) result.hash = pointer<std::uint32_t>(library, value);
  }
  return result;
}

std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

void* exported(const link_map& library, std::string_view name) {
  const Tables tables = tables_of(library);
  if (!tables.symbols || !tables.names || !tables.hash) return nullptr;
  const std::uint32_t bucket_count = tables.hash[0], first = tables.hash[1],
                      bloom_words = tables.hash[2], wanted = hash_of(name);
  if (bucket_count == 0) return nullptr;
  const std::uint32_t* buckets = tables.hash + 4 + 2 * bloom_words;
  const std::uint32_t* chain = buckets + bucket_count;
  std::uint32_t i = buckets[wanted % bucket_count];
  if (i < first) return nullptr;
  for (;; ++i) {
    const std::uint32_t hash = chain[i - first];
    const Elf64_Sym& symbol = tables.symbols[i];
    if ((hash | 1) == (wanted | 1) && symbol.st_shndx != SHN_UNDEF &&
        name == tables.names + symbol.st_name)
      return reinterpret_cast<void*>(library.l_addr + symbol.st_value);
    if (hash & 1) return nullptr;
  }
}

}  // namespace inflight::loader
