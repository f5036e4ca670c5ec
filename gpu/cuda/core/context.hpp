// Contexts: a device's primary one, those that programs create, and each thread's stack of them.
#pragma once
#include <atomic>
#include <cstddef>

#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

class Device;

// A CUcontext: a name for a device's state. The runtime uses each device's primary one.
struct Context {
  Device* device = nullptr;
  bool primary = false;
  unsigned flags = 0;
  // Of a primary context: whether it holds state, and who keeps it. The runtime counts as one user
  // from its first call that needs the device until the context is destroyed.
  std::atomic<bool> active{false};
  std::atomic<bool> runtime_uses{false};
  std::atomic<int> users{0};
};

// The calling thread's stack of contexts (cuCtxPushCurrent); its top decides the current device.
// current_device() is device 0 while the stack is empty, as in the runtime.
Context* current_context();
void push_context(Context* context);
Context* pop_context();
void set_current_context(Context* context);  // replaces the top; null empties it
Device& current_device();

// Makes `context` current while it lives, for a call that acts on the current one; null changes
// nothing.
class StandIn {
 public:
  explicit StandIn(Context* context);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  // Whether the calling thread's current context is one of these.
  static bool current();

 private:
  std::size_t below_;  // the depth of the stand-in that this one hides
  bool pushed_;
};

// Whether any primary context was ever in use: then the driver is initialised.
bool any_primary_used();
void retain_primary(Context& context);
// The last user's release destroys the context (invalid_context: nobody retained it).
Status release_primary(Context& context);
// Destroys the state of the primary context. Its users stay, but for the runtime, which comes back
// with its next call.
void reset_primary(Context& context);
// Counts the runtime among the context's users, once.
void use_in_runtime(Context& context);

}  // namespace inflight::cuda
