// The names of PTX's instructions and modifiers, one enumerator each. An enumerator is the spelling
// with `.` and `::` as `_`; a C++ keyword takes a trailing `_`, a leading digit a leading `_`.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace inflight::ptx {

enum class Opcode : std::uint16_t {
#define OPCODE(name, text, ...) name,
#include "gpu/ptx/opcodes.def"
#undef OPCODE
  count_
};

enum class Mod : std::uint16_t {
#define MOD(name, text) name,
#include "gpu/ptx/modifiers.def"
#undef MOD
  count_,
  // No text has these: the signs of a contraction (machine/instruction/contraction.hpp).
  minus_product = count_,
  minus_addend,
  all_
};

// A set of modifiers.
class ModSet {
 public:
  constexpr ModSet() = default;
  constexpr ModSet(std::initializer_list<Mod> mods) {
    for (Mod m : mods) insert(m);
  }
  constexpr void insert(Mod m) { words_[index(m)] |= bit(m); }
  constexpr void erase(Mod m) { words_[index(m)] &= ~bit(m); }
  constexpr bool has(Mod m) const { return words_[index(m)] & bit(m); }
  constexpr ModSet operator|(const ModSet& o) const {
    ModSet r = *this;
    for (int i = 0; i < words; ++i) r.words_[i] |= o.words_[i];
    return r;
  }
  constexpr ModSet without(const ModSet& o) const {
    ModSet r = *this;
    for (int i = 0; i < words; ++i) r.words_[i] &= ~o.words_[i];
    return r;
  }
  constexpr bool empty() const { return *this == ModSet{}; }
  constexpr bool operator==(const ModSet&) const = default;
  template <class F>
  void for_each(F f) const {
    for (unsigned m = 0; m < unsigned(Mod::all_); ++m)
      if (has(Mod(m))) f(Mod(m));
  }

 private:
  static constexpr int words = (unsigned(Mod::all_) + 63) / 64;
  static constexpr unsigned index(Mod m) { return unsigned(m) / 64; }
  static constexpr std::uint64_t bit(Mod m) { return std::uint64_t{1} << (unsigned(m) % 64); }
  std::uint64_t words_[words] = {};
};

std::string_view spelling(Opcode);
std::string_view spelling(Mod);

}  // namespace inflight::ptx
