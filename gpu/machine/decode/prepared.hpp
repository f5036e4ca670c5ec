// A program's functions: each is described once, and decoded once for each form of launch.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/instruction/patience.hpp"
#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// Thread-safe. Results live as long as the program.
class Prepared : public Program::Extension {
 public:
  explicit Prepared(const Program& program);

  // The description of a function that has a body.
  const Function& function(Program::FunctionRef ref, const Patience& patience = {});
  // The decoded function, or a sentence saying why it cannot run. These throw Unwanted if the
  // patience is over before they are done.
  tl::expected<const Code*, std::string> code(Program::FunctionRef ref, CodeForm form,
                                              const Patience& patience = {});
  // Whether code() has given it out already.
  bool is_ready(Program::FunctionRef ref, CodeForm form);
  // The result of decoding a function for one form of launch.
  struct Decoded {
    // Null: the function has no body. It has refusals, the instructions at which a kernel would
    // end, and calls even if the function cannot begin.
    std::unique_ptr<Code> code;
    // Every reason why the function cannot begin, one sentence each. If there are any, the code
    // must not run.
    std::vector<std::string> errors;
  };
  const Decoded& decoded(Program::FunctionRef ref, CodeForm form, const Patience& patience = {});

 private:
  // Code that can run, by function index.
  using Ready = std::atomic<const Code*>;
  Ready* ready(CodeForm form);

  const Program& program_;
  // Descriptions, by function index; null: not yet described.
  std::vector<std::atomic<const Function*>> functions_;
  std::atomic<Ready*> ready_[CodeForm::count] = {};  // made at a form's first use
  std::unique_ptr<Ready[]> made_[CodeForm::count];
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Function>> described_;
  std::unordered_map<std::uint64_t, Decoded> decoded_;
};

// The program's Prepared, made at first use.
Prepared& prepared(const Program& program);

}  // namespace inflight::machine
