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
  // Every reason why the function cannot begin, one sentence each.
  std::span<const std::string> errors(Program::FunctionRef ref);
  // The instructions of it that end a kernel, since they are not supported.
  std::span<const Refusal> refusals(Program::FunctionRef ref);
  // The calls that were understood, also of a function that cannot begin.
  std::span<const CallSite> calls(Program::FunctionRef ref);

 private:
  // What became of decoding a function for one form of launch.
  struct Decoded {
    std::unique_ptr<Code> code;
    std::vector<std::string> errors;  // if there are any, the code is not to be run
  };
  const Decoded& decoded(Program::FunctionRef ref, CodeForm form);
  // What can run, by function.
  using Ready = std::atomic<const Code*>;
  Ready* ready(CodeForm form);

  const Program& program_;
  std::atomic<Ready*> ready_[CodeForm::count] = {};  // made at a form's first use
  std::unique_ptr<Ready[]> made_[CodeForm::count];
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<const Function>> functions_;
  std::unordered_map<std::uint64_t, Decoded> decoded_;
};

// The program's: made at first use.
Prepared& prepared(const Program& program);

}  // namespace inflight::machine
