// The call that a thread is in: why it fails, and who is told. Without a checker and a log, a call
// that succeeds costs a few instructions.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/cuda/core/report/guard.hpp"

namespace inflight::cuda {

class Call {
 public:
  explicit Call(const char* name);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  // True if the thread is in a call. Can be called in a signal handler.
  static bool is_inside();

  // The call returns this, translated to `code`. Reports a failure, unless the call is inside
  // another, or only repeats the error that ended the context.
  void returns(Status status, int code);

  // Why the call will fail, if it does: a sentence. The first of a call is kept.
  static void because(std::string_view sentence);
  // The arguments of the call, in words.
  static void with(std::string_view arguments);
  // The call is about this kernel, by its name in the PTX.
  static void is_about(std::string_view kernel);
  // The call refused what a kernel would have used, which counts as a mistake.
  static void refuses_input();
  // From now on, report() keeps its sentences for the end of the call: as the finding's if it
  // fails, else to be printed. Without a checker, no effect.
  static void hold();
  // False: print it now.
  static bool keep(std::string_view sentence);

 private:
  struct Facts {
    std::string kernel, arguments, reason;
    std::vector<std::string> held;
    bool holds = false, input = false;
  };
  Facts& facts() { return facts_ ? *facts_ : *(facts_ = new Facts); }
  void fail(Status status, int code);

  const char* const name_;
  const bool outermost_;
  Facts* facts_ = nullptr;  // most calls have none
};

// Runs an entry point's body and reports its failure. `code_of` gives the code of its API.
template <class CodeOf, class Body>
int called(const char* name, CodeOf&& code_of, Body&& body) {
  Call call(name);
  const Status status = guarded(name, body);
  const int code = code_of(status);
  if (status != Status::success) [[unlikely]]
    call.returns(status, code);
  return code;
}

// A kernel that ended by an error.
struct FailedKernel {
  std::string_view name;     // in the PTX; empty: other work of a stream
  std::uint64_t launch = 0;  // its number, once it has begun
  bool deadlock = false;
};
// A kernel, or other work of a stream, ended by an error. `text`: why. Returns whether a finding
// tells of it.
bool report_failed_work(Status status, std::string_view text, const FailedKernel& kernel);

}  // namespace inflight::cuda
