// Finds the tensor or array of a Python program that an address belongs to.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace inflight::cuda {

struct PythonMemory {
  std::string name;          // "tensor x, float32 (16, 16)"
  std::uint64_t offset = 0;  // of the address; past the end for an address shortly behind it
};

// Empty: the process has no interpreter, or no object is found. If another thread holds the
// interpreter's lock, waits up to two seconds for it. After one timeout it does not wait again.
std::optional<PythonMemory> python_memory_at(std::uint64_t address);

}  // namespace inflight::cuda
