// Stores the latest sentences and calls the callbacks for new ones.
#include "gpu/cuda/core/base/logs.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "gpu/cuda/core/base/lifetime.hpp"

namespace inflight::cuda {
namespace {

constexpr std::size_t most_lines = 100;  // as the driver keeps
constexpr std::string_view lost = "earlier messages are left out\n";

// A line as the driver writes it: time, process, level, sentence.
std::string line_of(Level level, std::string_view sentence) {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  while (sentence.ends_with('\n')) sentence.remove_suffix(1);
  return fmt::format("[{:%H:%M:%S}.{:03}][{}][CUDA][{}] {}\n",
                     fmt::localtime(std::chrono::system_clock::to_time_t(now)), milliseconds,
                     getpid(), level == Level::error ? 'E' : 'W', sentence);
}

}  // namespace

Logs& Logs::get() {
  static Logs& instance = *new Logs;
  return instance;
}

void Logs::add(Level level, std::string_view sentence) {
  {
    std::lock_guard lock(mutex_);
    lines_.push_back(line_of(level, sentence));
    if (lines_.size() > most_lines) lines_.pop_front();
    ++end_;
  }
  if (process_ends()) return;
  std::lock_guard lock(listening_);
  std::vector<Listener> all;
  for (const auto& [handle, listener] : listeners_) all.push_back(listener);
  for (const Listener& each : all) {
    std::string message(sentence);
    each.callback(each.data, level, message.data(), message.size());
  }
}

void* Logs::listen(Callback callback, void* data) {
  std::lock_guard lock(listening_);
  listeners_[++last_] = {callback, data};
  return reinterpret_cast<void*>(last_);
}

Status Logs::stop_listening(void* handle) {
  std::lock_guard lock(listening_);
  return listeners_.erase(reinterpret_cast<std::uintptr_t>(handle)) ? Status::success
                                                                    : Status::invalid_value;
}

std::uint32_t Logs::end() const {
  std::lock_guard lock(mutex_);
  return end_;
}

std::string Logs::text(std::uint32_t begin, std::size_t most) const {
  std::lock_guard lock(mutex_);
  const auto wanted = std::size_t(end_ - std::min(begin, end_));
  std::size_t count = std::min(wanted, lines_.size()), bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += lines_[lines_.size() - 1 - i].size();
  bool whole = count == wanted;
  while (count != 0 && bytes + (whole ? 0 : lost.size()) > most) {
    bytes -= lines_[lines_.size() - count--].size();
    whole = false;
  }
  if (count == 0) return {};
  std::string result(whole ? std::string_view{} : lost);
  for (std::size_t i = lines_.size() - count; i < lines_.size(); ++i) result += lines_[i];
  return result;
}

}  // namespace inflight::cuda
