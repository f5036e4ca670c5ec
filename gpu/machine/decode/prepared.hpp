// A program's functions, prepared once each: described, and decoded once for each form of launch.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Thread-safe. What it gives out lives as long as the program.
class Prepared : public Program::Extension {
 public:
  explicit Prepared(const Program& program);

  // Of a function that has a body.
  const Function& function(Program::FunctionRef ref);
  // The decoded function; or, a sentence, why it cannot run.
  tl::expected<const Code*, std::string> code(Program::FunctionRef ref, CodeForm form);
  // Every reason why the function cannot be decoded, one sentence each.
  std::span<const std::string> refusals(Program::FunctionRef ref);
  // The calls that were understood, also of a function that cannot be decoded.
  std::span<const CallSite> calls(Program::FunctionRef ref);

 private:
  // What became of decoding a function for one form of launch.
  struct Decoded {
    std::unique_ptr<Code> code;
    std::vector<std::string> errors;  // if there are any, the code is not to be run
  };
  const Decoded& decoded(Program::FunctionRef ref, CodeForm form);

  const Program& program_;
  std::vector<std::atomic<const Code*>> ready_[CodeForm::count];  // by function: what can run
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<const Function>> functions_;
  std::unordered_map<std::uint64_t, Decoded> decoded_;
};

// The program's: made at first use.
Prepared& prepared(const Program& program);

}  // namespace inflight::machine
