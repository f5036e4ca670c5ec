// Maps names to consecutive numbers. A hash table with open addressing; the caller keeps the
// names' text alive.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace inflight::ptx {

class NameMap {
 public:
  static constexpr std::uint32_t absent = 0xffffffff;

  std::uint32_t find(std::string_view name, std::uint32_t hash) const {
    if (slots_.empty()) return absent;
    for (std::uint32_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& s = slots_[i];
      if (s.id == absent || (s.hash == hash && same(names_[s.id], name))) return s.id;
    }
  }

  // Returns the name's number, or gives a new name the next number.
  std::uint32_t insert(std::string_view name, std::uint32_t hash) {
    const std::uint32_t old = find(name, hash);
    if (old != absent) return old;
    if (names_.size() * 2 >= slots_.size()) grow();
    names_.push_back(name);
    put({hash, std::uint32_t(names_.size() - 1)});
    return std::uint32_t(names_.size() - 1);
  }

  std::size_t size() const { return names_.size(); }

 private:
  // Compares the first and the last word, which may overlap.
  template <class Word>
  static bool same_ends(std::string_view a, std::string_view b) {
    Word first[2], last[2];
    const std::size_t at = a.size() - sizeof(Word);
    std::memcpy(&first[0], a.data(), sizeof(Word)), std::memcpy(&first[1], b.data(), sizeof(Word));
    std::memcpy(&last[0], a.data() + at, sizeof(Word));
    std::memcpy(&last[1], b.data() + at, sizeof(Word));
    return first[0] == first[1] && last[0] == last[1];
  }
  // Names are short, so comparing words is faster than a call.
  static bool same(std::string_view a, std::string_view b) {
    const std::size_t n = a.size();
    if (n != b.size()) return false;
    if (n < 4 || n > 16) return a == b;
    return n < 8 ? same_ends<std::uint32_t>(a, b) : same_ends<std::uint64_t>(a, b);
  }
  struct Slot {
    std::uint32_t hash = 0, id = absent;
  };
  std::uint32_t mask() const { return std::uint32_t(slots_.size() - 1); }
  void put(Slot s) {
    std::uint32_t i = s.hash & mask();
    while (slots_[i].id != absent) i = (i + 1) & mask();
    slots_[i] = s;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.id != absent) put(s);
  }
  std::vector<Slot> slots_;
  std::vector<std::string_view> names_;
};

}  // namespace inflight::ptx
