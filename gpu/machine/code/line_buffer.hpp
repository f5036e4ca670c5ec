// Bytes aligned to a cache line: registers, shared memory and values of warps and blocks.
#pragma once
#include <cstddef>
#include <vector>

namespace inflight::machine {

// Allocates `bytes` bytes. Memory that a thread gives back is reused for its next request of the
// same size, since launches repeat their requests.
void* take_lines(std::size_t bytes);
void give_back_lines(void* lines, std::size_t bytes) noexcept;

// A buffer of whole cache lines. New lines are zero.
class LineBuffer {
 public:
  void resize(std::size_t bytes) { lines_.resize((bytes + 63) / 64); }
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(lines_.data()); }
  std::size_t size() const { return lines_.size() * 64; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  template <class T>
  struct Allocator {
    using value_type = T;
    T* allocate(std::size_t count) { return static_cast<T*>(take_lines(count * sizeof(T))); }
    void deallocate(T* at, std::size_t count) { give_back_lines(at, count * sizeof(T)); }
    bool operator==(const Allocator&) const = default;
  };
  std::vector<Line, Allocator<Line>> lines_;
};

}  // namespace inflight::machine
