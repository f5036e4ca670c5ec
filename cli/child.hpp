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
  Environment more;                // variables beside the process's own
  bool silent = false;             // it reads nothing, and what it says is thrown away
};

// While one of these lives, signals that would end this process are passed on to the children that
// it has started, which decide what becomes of them.
class Children {
 public:
  Children();
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // An error is a sentence.
  tl::expected<pid_t, std::string> start(const Start& start);
  struct Ended {
    pid_t process = 0;
    int status = 0;  // as a shell has it: 128 and the signal for one that died of a signal
  };
  // Waits until one of them ends.
  Ended wait();

 private:
  void pass_on(int signal) const;
  std::vector<pid_t> running_;
  sigset_t before_;
};

}  // namespace inflight::cli
