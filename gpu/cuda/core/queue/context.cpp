// Each thread's stack of contexts, and the users of primary contexts.
#include "gpu/cuda/core/queue/context.hpp"

#include <mutex>
#include <vector>

#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/host/of_this_thread.hpp"

namespace inflight::cuda {
namespace {

struct ContextStack {
  std::vector<ContextRef> contexts;
  std::size_t last_scope = 0;  // the depth of the innermost ScopedContext's entry; 0: none
};
ContextStack& stack() { return host::of_this_thread<ContextStack>(); }

// Guards the counts of users. The flags are read without the mutex.
std::mutex& users_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
std::atomic<bool> initialised{false};

void add_user(Context& context) {
  ++context.users;
  context.active = true;
  initialised = true;
}

void deactivate(Context& context) {
  context.active = false;
  if (context.runtime_uses.exchange(false) && context.users > 0) --context.users;
}

}  // namespace

Context* current_context() {
  const auto& contexts = stack().contexts;
  return contexts.empty() ? nullptr : static_cast<Context*>(contexts.back());
}

void push_context(Context* context) { stack().contexts.emplace_back(context); }

Context* pop_context() {
  if (stack().contexts.empty()) return nullptr;
  Context* top = stack().contexts.back();
  stack().contexts.pop_back();
  return top;
}

void set_current_context(Context* context) {
  pop_context();
  if (context) push_context(context);
}

Device& current_device() {
  Context* context = current_context();
  return context ? *context->device : Core::get().device(0);
}

ScopedContext::ScopedContext(Context* context)
    : below_(stack().last_scope), pushed_(context != nullptr) {
  if (!pushed_) return;
  push_context(context);
  stack().last_scope = stack().contexts.size();
}

ScopedContext::~ScopedContext() {
  if (pushed_) pop_context();
  stack().last_scope = below_;
}

bool ScopedContext::active() {
  return stack().last_scope != 0 && stack().last_scope == stack().contexts.size();
}

void initialise_driver() {
  if (initialised.load(std::memory_order_relaxed)) return;
  if (Core::get().visible() == Status::success) initialised.store(true, std::memory_order_release);
}

bool driver_initialised() { return initialised.load(std::memory_order_acquire); }

void retain_primary(Context& context) {
  std::lock_guard lock(users_mutex());
  add_user(context);
}

Status release_primary(Context& context) {
  {
    std::lock_guard lock(users_mutex());
    if (context.users == 0) return Status::invalid_context;
    if (--context.users > 0) return Status::success;
    context.runtime_uses = false;
    context.active = false;
  }
  context.device->reset();
  return Status::success;
}

void reset_primary(Context& context) {
  context.device->reset();
  std::lock_guard lock(users_mutex());
  deactivate(context);
}

void use_in_runtime(Context& context) {
  if (context.runtime_uses.load(std::memory_order_acquire)) return;
  std::lock_guard lock(users_mutex());
  if (!context.runtime_uses.exchange(true)) add_user(context);
}

}  // namespace inflight::cuda
