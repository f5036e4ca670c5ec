// Two flags that are set once.
#include "gpu/cuda/core/base/lifetime.hpp"

namespace inflight::cuda {

std::atomic<bool> process_end{false}, process_fork{false};

}  // namespace inflight::cuda
