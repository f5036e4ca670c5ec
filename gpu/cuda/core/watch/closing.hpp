// Closes watched pages while work is pending and none runs.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "gpu/check/events.hpp"
#include "gpu/cuda/core/watch/pages.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda::watch {

class Closing {
 public:
  // Watches the allocation's pages: those that hold nothing else, or, in memory that we allocated,
  // all of them.
  void made(const machine::Allocation& allocation);
  void released(const machine::Allocation& allocation);

  void submitted(int device, std::uint64_t stream, std::uint64_t work);
  void known(std::uint64_t stream, std::uint64_t work);
  void all_known(int device);
  void begin_work();
  void end_work();
  void begin_wait();
  void end_wait();

  // Ends the watch: pages stay open.
  void end();

  // Called in a signal handler. Opens the page so that the thread can go on, and its neighbours if
  // many pages were touched. False: the page is not watched. `seen`: pages were closed.
  bool open_page(std::uint64_t address, bool& seen);
  // Called in a signal handler, for an atomic access: the word may be a lock, and a thread that
  // sleeps on it passes its address to the system, which fails if another thread's work has closed
  // the page again. So the page is closed no more.
  void leave_open(std::uint64_t address);
  // Opens the pages of a range for a system call. True if they were closed.
  bool open_range(std::uint64_t address, std::uint64_t bytes);
  // True if the handler may close the page again after one instruction.
  bool may_close_again(std::uint64_t address);
  void close_again(std::uint64_t address);

  bool any() const { return any_.load(std::memory_order_relaxed); }
  // For fork(): lock and unlock around it, and open all pages in the child.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void open_all() { open(); }

 private:
  struct Pending {
    int device = 0;
    std::uint64_t submitted = 0;
  };
  void settle();  // closes or opens pages according to the state
  void close();
  void open();
  void insert(std::uint64_t low, std::uint64_t high);
  void erase(std::uint64_t low, std::uint64_t high);
  void exclude_locks();
  void open_new_locks();

  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> runs_;         // of watched pages: begin and end
  std::unordered_map<std::uint64_t, Pending> pending_;  // streams with work that the host has not
                                                        // waited for
  unsigned working_ = 0, waiting_ = 0;
  bool ended_ = false;
  Pages pages_;
  std::atomic<bool> any_{false}, closed_{false};
  std::atomic<bool> dirty_{true};  // a page may be open
  std::atomic<std::uint16_t> round_{1};
  std::atomic<std::uint32_t> touches_{0};  // in this round
  // Pages of leave_open() since the last close(); 0: a free place. What finds none is closed again.
  std::array<std::atomic<std::uint64_t>, 64> new_locks_{};
};

}  // namespace inflight::cuda::watch
