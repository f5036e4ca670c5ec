// The driver's error log: the sentences that were told, kept for programs that ask for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// CUlogLevel.
enum class Level : int { error = 0, warning = 1 };

class Logs {
 public:
  using Callback = void (*)(void* data, Level level, char* message, std::size_t length);
  static Logs& get();  // never destroyed

  // Keeps a sentence and calls the callbacks with it. At the program's end nobody is called any
  // more.
  void add(Level level, std::string_view sentence);

  void* listen(Callback callback, void* data);
  Status stop_listening(void* handle);

  // Where the next message will be written: a count of all before it.
  std::uint32_t end() const;
  // The messages from `begin` on, a line each, in at most `most` bytes: the newest are kept, and a
  // first line tells of those that were lost. Empty if not one fits.
  std::string text(std::uint32_t begin, std::size_t most) const;

 private:
  struct Listener {
    Callback callback;
    void* data;
  };
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
  std::uint32_t end_ = 0;
  // A callback may register and unregister others.
  std::recursive_mutex listening_;
  std::map<std::uintptr_t, Listener> listeners_;
  std::uintptr_t last_ = 0;
};

}  // namespace inflight::cuda
