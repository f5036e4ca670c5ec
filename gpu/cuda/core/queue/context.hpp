// Contexts: each device's primary one, those that programs create, and each thread's context stack.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Device;
class GreenContext;  // green/green_context.hpp
class Stream;        // queue/stream.hpp

// A CUcontext, a handle of a device's state. The runtime uses each device's primary context.
struct Context : std::enable_shared_from_this<Context> {
  Device* device = nullptr;
  bool primary = false;
  unsigned flags = 0;
  GreenContext* green = nullptr;       // its green context, or null
  Stream* null_stream = nullptr;       // the green context's
  std::atomic<bool> destroyed{false};  // a destroyed green context, whose streams ended with it
  // For a primary context: whether it holds state, and how many users retain it. The runtime counts
  // as one user from its first call that needs the device until the context is destroyed.
  std::atomic<bool> active{false};
  std::atomic<bool> runtime_uses{false};
  std::atomic<int> users{0};
  std::atomic<int> attachments{1};  // of another context: cuCtxAttach adds one
};

// Keeps a context while something names it, also after it was destroyed. Primary contexts stay
// anyway, so they are not counted.
class ContextRef {
 public:
  ContextRef() = default;  // none
  explicit ContextRef(Context* context)
      : of_(context && context->primary ? std::shared_ptr<Context>(std::shared_ptr<void>(), context)
            : context                   ? context->shared_from_this()
                                        : nullptr) {}
  ContextRef& operator=(Context* context) { return *this = ContextRef(context); }
  operator Context*() const { return of_.get(); }
  Context* operator->() const { return of_.get(); }

 private:
  std::shared_ptr<Context> of_;
};

// The calling thread's stack of contexts (cuCtxPushCurrent); its top decides the current device.
// current_device() is device 0 while the stack is empty, as in the runtime.
Context* current_context();
void push_context(Context* context);
Context* pop_context();
void set_current_context(Context* context);  // replaces the top; null empties it
Device& current_device();

// Makes `context` current while this object lives. Null changes nothing.
class ScopedContext {
 public:
  explicit ScopedContext(Context* context);
  ~ScopedContext();
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  // True if a ScopedContext made the calling thread's current context current.
  static bool active();

 private:
  std::size_t below_;  // the depth of the enclosing scope
  bool pushed_;
};

// Called by cuInit and, as on an H200 (tests/kernels/driver_after_runtime.cu), by every runtime
// call but cudaRuntimeGetVersion. Does nothing if no device is visible.
void initialise_driver();
bool driver_initialised();
void retain_primary(Context& context);
// The last user's release destroys the context (invalid_context: no user retains it).
Status release_primary(Context& context);
// Destroys the state of the primary context. Its users stay, except the runtime, which becomes a
// user again at its next call.
void reset_primary(Context& context);
// Adds the runtime to the context's users, once.
void use_in_runtime(Context& context);

}  // namespace inflight::cuda
