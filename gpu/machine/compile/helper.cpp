// The helper thread's queue.
#include "gpu/machine/compile/helper.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>

namespace inflight::machine::compile {

Helper& Helper::get() {
  static Helper& one = *new Helper;
  return one;
}

Helper::Helper() : process_(getpid()) {}

bool Helper::is_here() const { return process_ == getpid(); }

// The program's signals are for its own threads.
void Helper::begin() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { work(); }).detach();
    begun_ = true;
    std::atexit([] { get().end(); });
  } catch (const std::system_error&) {  // no threads are left: kernels stay interpreted
    ended_ = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Helper::want(Job& job, BlockRows rows) {
  if (!is_here()) return;
  const std::lock_guard lock(mutex_);
  if (!begun_ && !ended_) begin();
  if (ended_) return;
  wanted_.push_back({&job, rows});
  changed_.notify_all();
}

void Helper::forget(const Job& job) {
  if (!is_here()) return;
  std::unique_lock lock(mutex_);
  std::erase_if(wanted_, [&](const Wanted& each) { return each.job == &job; });
  if (current_ == &job) abandoned_ = true;
  changed_.wait(lock, [&] { return current_ != &job; });
}

void Helper::work() {
  const Patience patience([this] { return abandoned_.load(std::memory_order_relaxed); });
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !wanted_.empty(); });
    const Wanted next = wanted_.front();
    wanted_.pop_front();
    current_ = next.job;
    lock.unlock();
    try {
      next.job->compile(next.rows, patience);
    } catch (const Unwanted&) {
    } catch (const std::exception&) {  // such as no memory: it stays interpreted
    }
    lock.lock();
    current_ = nullptr;
    abandoned_ = false;
    changed_.notify_all();
  }
}

// The process ends, and static objects go.
void Helper::end() {
  if (!is_here()) return;
  std::unique_lock lock(mutex_);
  ended_ = true;
  wanted_.clear();
  abandoned_ = true;
  changed_.wait(lock, [this] { return !current_; });
}

}  // namespace inflight::machine::compile
