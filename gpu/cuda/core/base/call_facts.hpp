// What the calling thread's outermost call into the API says about itself, for the report if it
// fails.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inflight::cuda {

class CallFacts {
 public:
  CallFacts(const CallFacts&) = delete;
  CallFacts& operator=(const CallFacts&) = delete;

  // True if the thread is in a call. Can be called in a signal handler.
  static bool is_inside();
  // Why the call will fail, if it does: a sentence. The first of a call is kept.
  static void because(std::string_view sentence);
  // The arguments of the call, in words.
  static void with(std::string_view arguments);
  // The call refused what a kernel would have used, which counts as a mistake.
  static void refuses_input();
  // Keeps a sentence of report() for the end of the call, if the call holds such. False: print it
  // now.
  static bool keep(std::string_view sentence);

  struct Facts {
    std::string kernel, arguments, reason;
    std::vector<std::string> held;
    bool holds = false, input = false;
  };
  // Those of the outermost call of the thread. Ask only inside of one.
  static Facts& of_outermost();
  // False: the call is inside another.
  bool is_outermost() const { return outermost_; }

 protected:
  CallFacts();
  ~CallFacts();  // prints what is held

 private:
  Facts& facts() { return facts_ ? *facts_ : *(facts_ = new Facts); }

  const bool outermost_;
  Facts* facts_ = nullptr;  // most calls have none
};

}  // namespace inflight::cuda
