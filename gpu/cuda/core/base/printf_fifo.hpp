// The buffer for text that kernels print (CUDA programming guide, "Formatted Output"). It has a
// fixed size and is flushed when the host synchronises. When it is full, the oldest text is
// overwritten.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace inflight::cuda {

class PrintfFifo {
 public:
  // Adds a message; `capacity`, in bytes, is cudaLimitPrintfFifoSize.
  void write(std::string_view message, std::size_t capacity);
  // Writes everything to standard output.
  void flush();
  // Bytes that are not written yet, including overwritten ones.
  std::uint64_t unshown();

  // While one exists, the host waits, and text is written as kernels print it.
  class Waiting {
   public:
    explicit Waiting(PrintfFifo& fifo);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    PrintfFifo& fifo_;
  };

 private:
  void start_showing();
  void show_while_waiting();

  std::mutex output_;  // held while text is written, to keep its order; locked before mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> pieces_;  // whole messages each, the oldest first
  std::size_t bytes_ = 0, capacity_ = 0;
  std::uint64_t overwritten_ = 0;
  bool started_ = false;
  // These avoid locks for kernels that print nothing and for short waits. A writer sets `used_`
  // before it reads `waiting_`, and a waiter does the reverse.
  std::atomic<bool> used_{false};
  std::atomic<unsigned> waiting_{0};
};

}  // namespace inflight::cuda
