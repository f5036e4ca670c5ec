// A vector clock: for each actor, the latest epoch whose accesses are known to come before.
//
// It is a persistent binary trie over rows of actors. A node covers an aligned range of rows. Its
// "floor" is the epoch that holds for the whole range, and its children hold later epochs. So "all
// of that launch", "this block up to its last barrier" and "lane 3 of that warp" are one node each.
// Nodes are immutable and shared between clocks, so a join costs only what differs.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "gpu/check/order/actor.hpp"

namespace inflight::order {

// Raises of a clock, to be made at once.
class Raises {
 public:
  void raise(Row row, Mask mask, Epoch epoch) {
    if (epoch != 0 && mask != 0) all_.push_back({row, mask, epoch});
  }
  std::size_t size() const { return all_.size(); }
  void clear() { all_.clear(); }

 private:
  friend class Clock;
  struct Raise {
    Row row;
    Mask mask;
    Epoch epoch;
  };
  std::vector<Raise> all_;
};

class Clock {
 public:
  Clock() = default;
  Clock(const Clock& other) : node_(other.node_) { retain(); }
  Clock(Clock&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Clock& operator=(Clock other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Clock() { release(); }

  Epoch at(Row row, unsigned lane) const;
  // The epoch up to which all actors of the 2^bits rows from `first` (aligned) are known.
  Epoch floor(Row first, unsigned bits) const;
  // The lanes of the row that are known up to `epoch`.
  Mask known(Row row, Epoch epoch) const;
  bool covers(Row row, Mask lanes, Epoch epoch) const;
  // What it has of an aligned range of rows. Valid while the clock does not change.
  class Part;
  Part part(Row first, unsigned bits) const;
  // True if joining `other` would change nothing. May be false even so: it is a quick test.
  bool includes(const Clock& other) const { return includes(node_, other.node_, 0); }

  void join(const Clock& other);
  void raise(Row row, Mask lanes, Epoch epoch);
  // Makes all of these raises. Sorts them.
  void raise(Raises& raises);
  // Raises the 2^bits rows from `first`, which is aligned to 2^bits.
  void raise_range(Row first, unsigned bits, Epoch epoch);

  bool same(const Clock& other) const { return node_ == other.node_; }  // the same object
  bool empty() const { return node_ == nullptr; }
  std::size_t nodes() const;  // reachable from it, shared or not

 private:
  struct Node;
  explicit Clock(Node* adopted) : node_(adopted) {}
  void retain() const;
  void release();
  // Returns one of the two, not retained, or a new node.
  static Node* joined(Node* a, Node* b);
  static Node* joined_children(Node* a, Node* b);
  static Node* joined_again(Node* a, Node* b);
  static bool includes(const Node* a, const Node* b, Epoch floor);  // floor: of all rows of b
  static Mask known(const Node* from, Row row, Epoch epoch);
  static Node* given(Clock clock);
  static Clock owned(Node* of_joined, const Node* a, const Node* b);
  // Returns the node, not retained, or a new one. The raises are in the order of their rows. floor:
  // of all of these rows
  static Node* raised(Node* node, const Raises::Raise* first, const Raises::Raise* last,
                      Epoch floor);
  static Node* raised_row(Node* node, const Raises::Raise* first, const Raises::Raise* last);
  // Raises a range that has a node of its own, if no other clock has that node or one above it.
  bool raise_in_place(Row first, unsigned bits, Epoch epoch);
  static Clock make(Row prefix, unsigned bits, Epoch floor, Clock low, Clock high);
  Node* node_ = nullptr;
};

class Clock::Part {
 public:
  Part() = default;
  bool is_of(const Clock& clock) const { return clock_ == clock.node_; }
  Mask known(Row row, Epoch epoch) const {
    return epoch <= floor_ ? ~Mask{0} : Clock::known(from_, row, epoch);
  }
  bool covers(Row row, Mask mask, Epoch epoch) const { return (mask & ~known(row, epoch)) == 0; }

 private:
  friend class Clock;
  Part(const Node* clock, const Node* from, Epoch floor)
      : clock_(clock), from_(from), floor_(floor) {}
  const Node *clock_ = nullptr, *from_ = nullptr;  // of the whole clock, of the range
  Epoch floor_ = 0;
};

}  // namespace inflight::order
