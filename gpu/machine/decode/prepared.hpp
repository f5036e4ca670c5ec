// A program's functions: each is described once, and decoded once for each form of launch.
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
#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// Thread-safe. Results live as long as the program.
class Prepared : public Program::Extension {
 public:
  explicit Prepared(const Program& program);

  // The description of a function that has a body.
  const Function& function(Program::FunctionRef ref);
  // The decoded function, or a sentence saying why it cannot run.
  tl::expected<const Code*, std::string> code(Program::FunctionRef ref, CodeForm form);
  // Every reason why the function cannot begin, one sentence each.
  std::span<const std::string> errors(Program::FunctionRef ref);
  // The function's unsupported instructions. A kernel that reaches one ends there.
  std::span<const Refusal> refusals(Program::FunctionRef ref);
  // The calls that were decoded, even if the function cannot begin.
  std::span<const CallSite> calls(Program::FunctionRef ref);

 private:
  // The result of decoding a function for one form of launch.
  struct Decoded {
    std::unique_ptr<Code> code;
    std::vector<std::string> errors;  // if there are any, the code must not run
  };
  const Decoded& decoded(Program::FunctionRef ref, CodeForm form);
  // Code that can run, by function index.
  using Ready = std::atomic<const Code*>;
  Ready* ready(CodeForm form);

  const Program& program_;
  std::atomic<Ready*> ready_[CodeForm::count] = {};  // made at a form's first use
  std::unique_ptr<Ready[]> made_[CodeForm::count];
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<const Function>> functions_;
  std::unordered_map<std::uint64_t, Decoded> decoded_;
};

// The program's Prepared, made at first use.
Prepared& prepared(const Program& program);

}  // namespace inflight::machine
