// A copy of the memory that kernels may write, and what a launch makes of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {

class MemoryCopy {
 public:
  // Copies what is live in the memory. Allocations that others make or release meanwhile are left
  // alone.
  explicit MemoryCopy(const Memory& memory);
  // How many bytes that takes.
  static std::uint64_t bytes(const Memory& memory);

  void keep_result();    // what the memory holds is the result of the launch
  void restore() const;  // it holds again what it held at first
  void restore_result() const;
  // The first word in which the memory differs from the result, in words.
  std::optional<std::string> difference() const;

 private:
  struct Part {
    Allocation allocation;
    std::vector<std::byte> before, result;  // the latter empty: the same
    const std::vector<std::byte>& expected() const { return result.empty() ? before : result; }
  };
  bool is_live(const Part& part) const;
  void write(const Part& part, const std::vector<std::byte>& bytes) const;
  const Memory& memory_;
  std::vector<Part> parts_;
};

}  // namespace inflight::machine
