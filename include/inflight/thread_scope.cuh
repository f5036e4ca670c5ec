// The set of threads that may share an object: PTX ISA, "Memory Consistency Model: Scope".
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread,
};

}  // namespace inflight
