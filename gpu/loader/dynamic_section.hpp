// The dynamic section of an object in memory.
#pragma once
#include <elf.h>
#include <link.h>

#include <cstdint>

namespace inflight::loader {

// The value of an entry, or 0 if there is none.
inline std::uint64_t dynamic_value(const link_map& object, std::int64_t tag) {
  for (const Elf64_Dyn* entry = object.l_ld; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) return entry->d_un.d_val;
  }
  return 0;
}

// The pointer in an entry, or null. If the section is writable, the dynamic loader has already
// relocated it.
template <class T>
const T* dynamic_pointer(const link_map& object, std::int64_t tag) {
  const std::uint64_t value = dynamic_value(object, tag);
  return reinterpret_cast<const T*>(value && value < object.l_addr ? value + object.l_addr : value);
}

}  // namespace inflight::loader
