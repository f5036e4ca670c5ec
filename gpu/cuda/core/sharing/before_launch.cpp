// Stores and calls the hook.
#include "gpu/cuda/core/sharing/before_launch.hpp"

#include <atomic>

namespace inflight::cuda {
namespace {

std::atomic<void (*)()> launch_hook{nullptr};

}  // namespace

void set_launch_hook(void (*hook)()) { launch_hook.store(hook, std::memory_order_release); }

void call_launch_hook() {
  if (const auto hook = launch_hook.load(std::memory_order_acquire)) hook();
}

bool has_launch_hook() { return launch_hook.load(std::memory_order_acquire) != nullptr; }

}  // namespace inflight::cuda
