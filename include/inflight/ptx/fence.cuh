// Fences between proxies, and those that publish an mbarrier: PTX ISA, "membar/fence", sm_90.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// Makes this thread's writes to shared memory visible to bulk and tensor copies issued after it.
INFLIGHT_DEVICE void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The same for all memory.
INFLIGHT_DEVICE void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

// The same for the cluster's shared memory and for global memory only.
INFLIGHT_DEVICE void fence_proxy_async_shared_cluster() {
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
}
INFLIGHT_DEVICE void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

// Orders accesses to one memory by different virtual addresses.
INFLIGHT_DEVICE void fence_proxy_alias() { asm volatile("fence.proxy.alias;" ::: "memory"); }

// Makes the mbarriers that this thread initialised visible in the cluster, also to copies.
INFLIGHT_DEVICE void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace inflight::ptx
