// Whose memory an address of a Python program is: the tensors and arrays that its interpreter
// knows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace inflight::cuda {

struct PythonMemory {
  std::string name;  // "tensor x, float32 (16, 16)"
  std::uint64_t offset =
      0;  // of the address behind its begin; past its end if it ends close before
};

// None: the process has no interpreter, or nobody of it can tell. Waits a moment for whoever holds
// the interpreter's lock, and asks no more where that was in vain.
std::optional<PythonMemory> python_memory_at(std::uint64_t address);

}  // namespace inflight::cuda
