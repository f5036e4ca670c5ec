// Finds the public functions of NVIDIA's static CUDA runtime in an object, by its symbol table or,
// if it is stripped, by its code. The internal functions are found only by the symbol table.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "gpu/loader/elf_view.hpp"
#include "gpu/loader/nameless_runtime.hpp"

namespace inflight::loader {

// The same name in the table of names that CUDA runtimes export, or null.
const char* public_name(std::string_view name);

class StaticRuntime {
 public:
  explicit StaticRuntime(const ElfView& elf);

  // True if there is nothing to redirect: the object does not contain the runtime, or is stripped
  // and contains no known release.
  bool empty() const { return !present_; }
  // The major version of CUDA, for example 13. 11 includes all older ones.
  unsigned major() const { return major_; }

  // Calls f(Symbol) for each public function, even if its name is newer than the known ones.
  template <class F>
  void each_public(F f) const {
    if (nameless_) return nameless_->each_public(f);
    elf_.each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
      if (is_public(symbol)) f(symbol);
    });
  }
  // Calls f(Symbol) for each internal function.
  template <class F>
  void each_internal(F f) const {
    elf_.each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
      if (is_internal(symbol)) f(symbol);
    });
  }
  // The number of bytes from a function's entry to the next function.
  std::uint64_t room(const Symbol& function) const;

 private:
  // A function with an unknown name that looks like one of the runtime. It belongs to the runtime
  // if the functions before and after it do.
  struct UnknownFunction {
    std::uint64_t address = 0, below = 0, above = ~std::uint64_t{0};
    bool after_runtime = false, before_runtime = false;
  };
  static bool is_internal(const Symbol& symbol);
  bool is_public(const Symbol& symbol) const;
  void find_neighbours();

  ElfView elf_;
  std::optional<NamelessRuntime> nameless_;
  bool present_ = false;
  unsigned major_ = 0;
  std::array<UnknownFunction, 64> unknown_functions_;
  unsigned unknown_count_ = 0;
};

// Whether the object imports a function of this name.
bool imports(const ElfView& elf, std::string_view name);

}  // namespace inflight::loader
