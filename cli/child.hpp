// A program as a child process.
#pragma once
#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/program.hpp"

namespace inflight::cli {

struct Start {
  std::string path;
  std::vector<std::string> words;  // the program's name and its arguments
  Environment extra_variables;     // variables added to this process's own
  bool silent = false;             // standard input is empty and all output is discarded
};

// While an object of this class lives, signals that would end this process go to the children that
// it started instead. The children decide how to react.
class Children {
 public:
  Children();
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // Starts a child. An error is a sentence.
  tl::expected<pid_t, std::string> start(const Start& start);
  struct Ended {
    pid_t process = 0;
    int status = 0;  // the exit status as in a shell: 128 + the signal if a signal ended it
    int signal = 0;  // 0: none did
  };
  // Waits until one of the children ends.
  Ended wait();

 private:
  void pass_on(int signal) const;
  std::vector<pid_t> running_;
  sigset_t before_;
};

}  // namespace inflight::cli
