// Includes the whole library except cuda_pipeline.h and nccl/. NVRTC gets it without the host code,
// plain C++ files get only the host code.
#pragma once
#include <inflight/bytes.cuh>
#include <inflight/swizzle.cuh>
#include <inflight/swizzled_box.cuh>
#include <inflight/tensor_map.cuh>
#if !defined(__CUDACC_RTC__)
#  include <inflight/launch.cuh>
#endif
#if defined(__CUDACC__)
#  include <inflight/barrier.cuh>
#  include <inflight/block_roles.cuh>
#  include <inflight/cache_policy.cuh>
#  include <inflight/cluster_group.cuh>
#  include <inflight/cluster_pipeline.cuh>
#  include <inflight/coalesced_group.cuh>
#  include <inflight/collective_scratch.cuh>
#  include <inflight/copy.cuh>
#  include <inflight/device.cuh>
#  include <inflight/dynamic_shared.cuh>
#  include <inflight/grid_group.cuh>
#  include <inflight/groups.cuh>
#  include <inflight/matrix_fragment.cuh>
#  include <inflight/memcpy_async.cuh>
#  include <inflight/operators.cuh>
#  include <inflight/pipeline.cuh>
#  include <inflight/pipeline_primitives.cuh>
#  include <inflight/ptx/address.cuh>
#  include <inflight/ptx/block_barrier.cuh>
#  include <inflight/ptx/bulk.cuh>
#  include <inflight/ptx/cluster.cuh>
#  include <inflight/ptx/cp_async.cuh>
#  include <inflight/ptx/fence.cuh>
#  include <inflight/ptx/mbarrier.cuh>
#  include <inflight/ptx/memory.cuh>
#  include <inflight/ptx/mma.cuh>
#  include <inflight/ptx/redux.cuh>
#  include <inflight/ptx/tensor.cuh>
#  include <inflight/ptx/tensor_map.cuh>
#  include <inflight/ptx/warp.cuh>
#  include <inflight/ptx/wgmma.cuh>
#  include <inflight/reduce.cuh>
#  include <inflight/scan.cuh>
#  include <inflight/store_pipeline.cuh>
#  include <inflight/tensor_copy.cuh>
#  include <inflight/thread_block.cuh>
#  include <inflight/thread_group.cuh>
#  include <inflight/thread_scope.cuh>
#  include <inflight/tile.cuh>
#  include <inflight/warpgroup_product.cuh>
#endif
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#  include <inflight/multi_grid.cuh>
#  include <inflight/transform.cuh>
#endif
