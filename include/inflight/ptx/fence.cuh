// Fences between proxies, and those that publish an mbarrier: PTX ISA, "membar/fence", sm_90.
#pragma once
#include <inflight/impl/config.cuh>

namespace inflight::ptx {

// What this thread wrote to shared memory is seen by bulk and tensor copies issued after.
INFLIGHT_DEVICE void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The same for all memory.
INFLIGHT_DEVICE void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

// The mbarriers that this thread initialised are seen in the cluster, also by copies.
INFLIGHT_DEVICE void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace inflight::ptx
