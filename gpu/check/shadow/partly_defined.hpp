// The undefined bits of bytes of which only some bits are undefined.
#pragma once
#include <array>
#include <cstdint>

namespace inflight::shadow {

// Set: a set of bytes (Bits or ByteSet), which says how far this is thread-safe.
template <class Set>
class PartlyDefined {
 public:
  PartlyDefined() = default;
  explicit PartlyDefined(std::uint64_t bytes) : bytes_(bytes) { defined_.fill(Set(bytes)); }

  // Some bits of the byte are undefined, the others defined.
  void insert(std::uint64_t at, std::uint8_t undefined) {
    for (unsigned bit = 0; bit < 8; ++bit)
      undefined >> bit & 1 ? defined_[bit].erase(at, 1) : defined_[bit].insert(at, 1);
    bytes_.insert(at, 1);
  }
  // These bytes are defined, or undefined as a whole.
  void erase(std::uint64_t from, std::uint64_t bytes) { bytes_.erase(from, bytes); }
  bool has_any(std::uint64_t from, std::uint64_t bytes) const {
    return bytes_.has_any(from, bytes);
  }
  // The undefined bits of an undefined byte.
  std::uint8_t undefined(std::uint64_t at) const {
    if (!bytes_.has_any(at, 1)) return 0xff;
    unsigned undefined = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      undefined |= unsigned{!defined_[bit].has_any(at, 1)} << bit;
    return static_cast<std::uint8_t>(undefined);
  }
  // Inserts, at `to`, the bytes of [from, from + bytes) that are in the set. The ranges must not
  // overlap, and no byte of the second is in the set.
  void insert_moved(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    if (!bytes_.has_any(from, bytes)) return;
    for (Set& each : defined_) each.erase(to, bytes), each.insert_moved(each, from, to, bytes);
    bytes_.insert_moved(bytes_, from, to, bytes);
  }

 private:
  Set bytes_;                   // bytes defined in part
  std::array<Set, 8> defined_;  // by bit: of these bytes, those in which it is defined
};

}  // namespace inflight::shadow
