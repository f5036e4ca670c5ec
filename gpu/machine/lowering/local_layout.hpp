// The layout of the variables in a call's frame of local memory.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/machine/code/code.hpp"

namespace inflight::machine {

// The local memory of one call: the function's parameters and results, its .local variables, and
// the parameters and results of the calls that it makes.
class LocalLayout {
 public:
  // `index` is the function's in `module`.
  LocalLayout(const ptx::Module& module, const ptx::Function& function, std::uint32_t index);

  std::uint32_t offset(std::uint32_t variable) const;  // in bytes; 0 if it is not in the frame
  const std::unordered_map<std::uint32_t, std::uint32_t>& offsets() const { return offsets_; }
  const std::vector<LocalRange>& parameters() const { return parameters_; }
  const std::vector<LocalRange>& returns() const { return returns_; }
  std::uint32_t bytes() const { return bytes_; }
  std::uint32_t alignment() const { return alignment_; }
  // Why the function cannot be called, or does not fit a thread's local memory.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  LocalRange put(std::uint32_t variable, std::uint64_t& at);
  void put_variables(std::uint32_t index, std::uint64_t& end);
  void put_call_parameters(std::uint64_t& end);
  void refuse_parameters();

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::unordered_map<std::uint32_t, std::uint32_t> offsets_;
  std::vector<LocalRange> parameters_, returns_;
  std::uint32_t bytes_ = 0, alignment_ = 16;
  std::vector<std::string> errors_;
};

// Whether a variable is a parameter of the kernel `function`. If so, sets `offset` to its place in
// the parameter buffer.
bool entry_parameter(const ptx::Module& module, const ptx::Function& function,
                     std::uint32_t variable, std::uint32_t& offset);

}  // namespace inflight::machine
