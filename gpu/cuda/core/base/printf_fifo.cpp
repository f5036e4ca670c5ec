// printf's buffer: pieces of text, and a thread that writes them while the host waits.
#include "gpu/cuda/core/base/printf_fifo.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {
namespace {

constexpr std::size_t piece_bytes = 16 << 10;        // overwritten at once
constexpr std::size_t most_while_waiting = 1 << 20;  // beyond this the kernel's thread flushes
constexpr std::chrono::milliseconds pause{50};       // between two flushes

}  // namespace

void PrintfFifo::write(std::string_view message, std::size_t capacity) {
  bool full = false;
  used_ = true;
  {
    std::lock_guard lock(mutex_);
    if (pieces_.empty() || pieces_.back().size() + message.size() > piece_bytes)
      pieces_.emplace_back();
    pieces_.back() += message;
    bytes_ += message.size();
    capacity_ = capacity;
    full = waiting_ != 0 && bytes_ > most_while_waiting;
    while (waiting_ == 0 && bytes_ > capacity) {
      bytes_ -= pieces_.front().size();
      overwritten_ += pieces_.front().size();
      pieces_.pop_front();
    }
    start_showing();
    if (waiting_ != 0) changed_.notify_one();
  }
  if (full) flush();
}

void PrintfFifo::flush() {
  if (!used_) return;
  std::lock_guard order(output_);
  std::unique_lock lock(mutex_);
  if (bytes_ == 0 && overwritten_ == 0) return;
  const auto pieces = std::exchange(pieces_, {});
  const std::uint64_t lost = std::exchange(overwritten_, 0);
  const std::size_t capacity = capacity_;
  bytes_ = 0;
  lock.unlock();
  if (lost != 0)
    report(fmt::format(
        "{} bytes that kernels printed were overwritten by later ones, as on a GPU: the host did "
        "not synchronise before printf's buffer of {} bytes was full. Synchronise more often, or "
        "enlarge it: cudaDeviceSetLimit(cudaLimitPrintfFifoSize, BYTES).",
        lost, capacity));
  for (const std::string& piece : pieces) std::fwrite(piece.data(), 1, piece.size(), stdout);
  std::fflush(stdout);
}

std::uint64_t PrintfFifo::unshown() {
  std::lock_guard lock(mutex_);
  return bytes_ + overwritten_;
}

void PrintfFifo::show_while_waiting() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return waiting_ != 0 && bytes_ != 0; });
    }
    flush();
    std::this_thread::sleep_for(pause);
  }
}

// Starts one thread for the life of the process. Without it, text is written at the end of the
// wait.
void PrintfFifo::start_showing() {
  if (std::exchange(started_, true)) return;
  try {
    std::thread([this] { show_while_waiting(); }).detach();
  } catch (const std::system_error&) {
  }
}

PrintfFifo::Waiting::Waiting(PrintfFifo& fifo) : fifo_(fifo) {
  ++fifo_.waiting_;
  if (!fifo_.used_) return;
  std::lock_guard lock(fifo_.mutex_);
  if (fifo_.bytes_ != 0) fifo_.changed_.notify_one();
}

PrintfFifo::Waiting::~Waiting() {
  --fifo_.waiting_;
  fifo_.flush();
}

}  // namespace inflight::cuda
