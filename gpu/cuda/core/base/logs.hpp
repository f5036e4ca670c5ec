// The driver's error log: the latest reported sentences, which programs can read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// CUlogLevel.
enum class Level : int { error = 0, warning = 1 };

class Logs {
 public:
  using Callback = void (*)(void* data, Level level, char* message, std::size_t length);
  static Logs& get();  // never destroyed

  // Stores a sentence and calls the callbacks with it, except while the process is exiting.
  void add(Level level, std::string_view sentence);

  void* listen(Callback callback, void* data);
  Status stop_listening(void* handle);

  // The number of messages so far, which is the number of the next.
  std::uint32_t end() const;
  // The messages from `begin` on, one per line, in at most `most` bytes. If they do not all fit, a
  // first line says so and the newest follow. Empty if none fits.
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
