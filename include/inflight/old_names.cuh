// Names that versions before 0.1 gave to types: a program that uses them includes this after
// inflight.cuh, and each use says what to write instead. inflight.cuh leaves this header out,
// because the names are common words that programs have too. It goes with version 0.3.
#pragma once
#include <inflight/inflight.cuh>

namespace inflight {

using launch [[deprecated("write inflight::launch_shape")]] = launch_shape;
#if defined(__CUDACC__)
using cache [[deprecated("write inflight::cache_operator")]] = cache_operator;
using coordinate [[deprecated("write inflight::tensor_coordinate")]] = tensor_coordinate;
using phase [[deprecated("write inflight::barrier_phase")]] = barrier_phase;
using prefetch [[deprecated("write inflight::l2_prefetch")]] = l2_prefetch;
using reduction [[deprecated("write inflight::reduction_op")]] = reduction_op;
#endif

}  // namespace inflight
