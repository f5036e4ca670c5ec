// The thread that compiles kernels while the interpreter runs them.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "gpu/machine/instruction/patience.hpp"
#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::machine::compile {

// What it compiles. Its destructor calls Helper::forget().
class Job {
 public:
  virtual ~Job() = default;
  virtual void compile(BlockRows rows, const Patience& patience) = 0;
};

// One for the process, and one thread, which begins with the first job. Nobody waits for a job to
// be done. A child that the process forks has no such thread, and does nothing here.
class Helper {
 public:
  static Helper& get();
  void want(Job& job, BlockRows rows);
  // Waits until the thread has let go of the job, which it does at once.
  void forget(const Job& job);
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

 private:
  struct Wanted {
    Job* job;
    BlockRows rows;
  };
  Helper();
  bool is_here() const;
  void begin();
  void work();
  void end();

  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Wanted> wanted_;
  Job* current_ = nullptr;
  std::atomic<bool> abandoned_{false};  // the current job
  bool begun_ = false, ended_ = false;
};

}  // namespace inflight::machine::compile
