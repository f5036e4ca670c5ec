// All of the library; for NVRTC, all but what is host code.
#pragma once
#include <inflight/barrier.cuh>
#include <inflight/cache_policy.cuh>
#include <inflight/cluster_group.cuh>
#include <inflight/coalesced_group.cuh>
#include <inflight/collective_scratch.cuh>
#include <inflight/copy.cuh>
#include <inflight/device.cuh>
#include <inflight/grid_group.cuh>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>
#include <inflight/operators.cuh>
#include <inflight/pipeline.cuh>
#include <inflight/pipeline_primitives.cuh>
#include <inflight/reduce.cuh>
#include <inflight/scan.cuh>
#include <inflight/swizzle.cuh>
#include <inflight/tensor_copy.cuh>
#include <inflight/tensor_map.cuh>
#include <inflight/thread_block.cuh>
#include <inflight/thread_group.cuh>
#include <inflight/thread_scope.cuh>
#include <inflight/tile.cuh>
#if !defined(__CUDACC_RTC__)
#  include <inflight/launch.cuh>
#  include <inflight/multi_grid.cuh>
#  include <inflight/transform.cuh>
#endif
