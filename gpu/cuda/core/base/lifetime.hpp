// Whether the process is ending, or is the child of one that used CUDA.
#pragma once
#include <atomic>

namespace inflight::cuda {

// Read by every call, so inline.
extern std::atomic<bool> process_end, process_fork;

inline bool process_ends() { return process_end.load(std::memory_order_acquire); }
inline bool process_forked() { return process_fork.load(std::memory_order_acquire); }
inline void note_end() { process_end = true; }
inline void note_fork() { process_fork = true; }

}  // namespace inflight::cuda
