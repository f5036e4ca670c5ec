// Finds NVIDIA's static CUDA runtime in an object by the names in its symbol table, or in a
// stripped one by its code: which of the object's functions are the runtime's public ones, and, by
// names, which its internal ones.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "gpu/loader/elf_view.hpp"
#include "gpu/loader/nameless_runtime.hpp"

namespace inflight::loader {

// The same name in the table of those that a runtime of CUDA exports; null if none does.
const char* public_name(std::string_view name);

class StaticRuntime {
 public:
  explicit StaticRuntime(const ElfView& elf);

  // Nothing to redirect: the object does not hold the runtime, or is stripped and of no known
  // release.
  bool empty() const { return !present_; }
  // The CUDA release it belongs to, 13 for example; 11 stands for all older ones.
  unsigned major() const { return major_; }

  // f(Symbol) for each public function, also for one that is newer than the names known here.
  template <class F>
  void each_public(F f) const {
    if (nameless_) return nameless_->each_public(f);
    elf_.each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
      if (is_public(symbol)) f(symbol);
    });
  }
  // f(Symbol) for each internal function.
  template <class F>
  void each_internal(F f) const {
    elf_.each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
      if (is_internal(symbol)) f(symbol);
    });
  }
  // The bytes from a function's entry that belong to no other function.
  std::uint64_t room(const Symbol& function) const;

 private:
  // A function whose name looks like the runtime's and is not known: it is the runtime's if it
  // stands between functions that are.
  struct Stranger {
    std::uint64_t address = 0, below = 0, above = ~std::uint64_t{0};
    bool after_runtime = false, before_runtime = false;
  };
  static bool is_internal(const Symbol& symbol);
  bool is_public(const Symbol& symbol) const;
  void place_strangers();

  ElfView elf_;
  std::optional<NamelessRuntime> nameless_;
  bool present_ = false;
  unsigned major_ = 0;
  std::array<Stranger, 64> strangers_;
  unsigned strangers_count_ = 0;
};

// Whether the object imports a function of this name.
bool imports(const ElfView& elf, std::string_view name);

}  // namespace inflight::loader
