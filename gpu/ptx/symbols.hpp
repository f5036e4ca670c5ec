// Names in nested scopes (PTX ISA 4.4, 5.4, 6.2): an inner declaration hides an outer one until its
// scope closes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/ptx/name_map.hpp"

namespace inflight::ptx {

struct Symbol {
  // A range is `.reg .b32 %r<100>`. Each of its registers is made at its first use.
  enum class Kind : std::uint8_t { none, reg, vector, range, variable, function, label, table };
  Kind kind = Kind::none;
  std::uint8_t type = 0;    // of registers
  std::uint8_t width = 1;   // elements of a vector register
  std::uint32_t index = 0;  // in the kind's list; of a vector: the first register
  std::uint32_t count = 0;  // registers of a range
  std::uint32_t depth = 0;
};

class Symbols {
 public:
  // Scope 0 is the module.
  std::uint32_t depth() const { return std::uint32_t(scopes_.size()) - 1; }
  void open() { scopes_.push_back(kNone); }
  void close();

  // Returns the innermost symbol of that name, of kind none if there is none. Does not find ranges,
  // which have a table of their own, by prefix.
  Symbol find(std::string_view name, std::uint32_t hash) const {
    return names_.find(*this, name, hash);
  }
  // Returns the innermost range of that prefix with more than `number` registers.
  Symbol find_range(std::string_view prefix, std::uint32_t hash, std::uint64_t number) const;
  // No range is declared in a deeper scope.
  std::uint32_t deepest_range() const { return deepest_range_; }
  // A range of the module, as `%r1<9>`, has a prefix that ends in a digit.
  bool has_digit_prefixes() const { return digit_prefixes_; }

  // Returns false if the scope s.depth has the name already.
  bool declare(std::string_view name, std::uint32_t hash, const Symbol& s) {
    return declare_in(names_, name, hash, s);
  }
  bool declare_range(std::string_view prefix, std::uint32_t hash, const Symbol& s) {
    deepest_range_ = std::max(deepest_range_, s.depth);
    digit_prefixes_ |= prefix.back() >= '0' && prefix.back() <= '9';
    return declare_in(ranges_, prefix, hash, s);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Table {
    NameMap map;
    std::vector<std::uint32_t> heads;  // the innermost node, by the name's number
    Symbol find(const Symbols& s, std::string_view name, std::uint32_t hash) const {
      const std::uint32_t id = map.find(name, hash);
      if (id == NameMap::absent || heads[id] == kNone) return {};
      return s.nodes_[heads[id]].symbol;
    }
  };
  struct Node {
    Symbol symbol;
    Table* table = nullptr;
    std::uint32_t name = 0;
    std::uint32_t outer = kNone;    // the node that this one hides
    std::uint32_t sibling = kNone;  // next in the same scope
  };
  bool declare_in(Table&, std::string_view name, std::uint32_t hash, const Symbol&);
  std::uint32_t allocate();

  Table names_, ranges_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> scopes_{kNone};  // first node, by depth
  std::uint32_t deepest_range_ = 0;
  bool digit_prefixes_ = false;
};

}  // namespace inflight::ptx
