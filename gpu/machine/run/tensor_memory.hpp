// Tensor memory: what the tensor cores of an SM have for a block's accumulators, and its allocation
// (PTX ISA, "TensorCore 5th Generation: Tensor Memory"). A block has all columns of an SM.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace inflight::machine {

struct Block;

// An address: lane << 16 | column.
struct TensorAddress {
  std::uint32_t lane, column;
  explicit constexpr TensorAddress(std::uint32_t bits) : lane(bits >> 16), column(bits & 0xffff) {}
};

class TensorMemory {
 public:
  static constexpr std::uint32_t lanes = 128, columns = 512, granule = 32;  // columns
  static constexpr std::uint32_t lanes_a_warp = 32;
  TensorMemory();
  // A new block begins: nothing is allocated.
  void start();

  // The 32-bit words of a column, by lane.
  std::uint32_t* column(std::uint32_t index) { return words_.data() + index * lanes; }

  // A size that may be allocated: a power of two from 32 to 512.
  static bool is_size(std::uint32_t count);
  // The first of `count` free columns, free in `other` too if that is not null. Nothing if there
  // are none.
  std::optional<std::uint32_t> find(std::uint32_t count, const TensorMemory* other = nullptr) const;
  // Takes free columns. Their bits are all ones, which no format takes for a number that a program
  // meant.
  void take(std::uint32_t first, std::uint32_t count);
  enum class Release : std::uint8_t { done, unallocated, another_allocation };
  Release give_back(std::uint32_t first, std::uint32_t count);
  // Whether all of these columns are allocated.
  bool holds(std::uint32_t first, std::uint32_t count) const;
  std::uint32_t free() const;

  bool may_allocate = true;  // false after relinquish_alloc_permit
  std::uint8_t group = 0;    // the .cta_group of the block's first tcgen05 that names one
  // An allocation that waits for that of the pair's other block: columns; 0: none. And its answer.
  std::uint32_t wanted = 0;
  std::optional<std::uint32_t> granted;

 private:
  std::vector<std::uint32_t> words_;
  // By 32 columns: the first column of their allocation + 1; 0: free.
  std::array<std::uint16_t, columns / granule> owner_{};
};

// A block's tensor memory, made on first use.
TensorMemory& tensor_memory(Block& block);
// Wakes the threads that wait for columns.
void wake_for_columns(Block& block);

}  // namespace inflight::machine
