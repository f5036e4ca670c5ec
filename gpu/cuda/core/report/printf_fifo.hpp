// What kernels have printed and the host has not shown yet (CUDA programming guide, "Formatted
// Output"): a buffer of fixed size, shown when the host synchronises. Past its size the oldest
// text is overwritten.
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
  // Shows everything on standard output.
  void flush();
  // Bytes not shown, those that were overwritten included.
  std::uint64_t unshown();

  // While the host waits, text appears as kernels print it.
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
  // Most kernels print nothing, and most waits are short: these take no lock. A message sets the
  // one before it looks at the other, and who waits the other way round.
  std::atomic<bool> used_{false};
  std::atomic<unsigned> waiting_{0};
};

}  // namespace inflight::cuda
