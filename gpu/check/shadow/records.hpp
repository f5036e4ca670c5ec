// A vector of records that stores the first two in place, because most lines need no more.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "gpu/check/shadow/record.hpp"

namespace inflight::shadow {

class Records {
 public:
  std::size_t size() const { return count_; }
  Record& operator[](std::size_t i) { return i < inside ? first_[i].record : (*more_)[i - inside]; }
  void push_back(const Record& r) {
    if (count_ < inside) {
      first_[count_++].record = r;
      return;
    }
    if (!more_) more_ = std::make_unique<std::vector<Record>>();
    more_->push_back(r);
    ++count_;
  }
  // Keeps only the first `count`.
  void resize(std::size_t count) {
    if (count_ > inside) more_->resize(std::max(count, inside) - inside);
    count_ = static_cast<std::uint32_t>(count);
  }
  std::size_t heap_bytes() const {
    return more_ ? sizeof *more_ + more_->capacity() * sizeof(Record) : 0;
  }

 private:
  static constexpr std::size_t inside = 2;
  // Pages of lines are made often, so records that are not used are not initialised.
  union Place {
    Place() {}  // NOLINT: set by push_back()
    Record record;
  };
  std::array<Place, inside> first_;
  std::unique_ptr<std::vector<Record>> more_;
  std::uint32_t count_ = 0;
};

}  // namespace inflight::shadow
