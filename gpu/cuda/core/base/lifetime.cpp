// Two flags that are set once.
#include "gpu/cuda/core/base/lifetime.hpp"

#include <atomic>

namespace inflight::cuda {
namespace {

std::atomic<bool> ends{false};
std::atomic<bool> forked{false};

}  // namespace

bool process_ends() { return ends.load(std::memory_order_acquire); }
bool process_forked() { return forked.load(std::memory_order_acquire); }
void note_end() { ends = true; }
void note_fork() { forked = true; }

}  // namespace inflight::cuda
