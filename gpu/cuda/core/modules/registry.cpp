// The registry of the kernels, variables and managed variables that host code registers.
#include "gpu/cuda/core/modules/registry.hpp"

#include <algorithm>
#include <cstdlib>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/image/machine_code.hpp"

namespace inflight::cuda {

Registry& Registry::get() {
  static auto* registry = new Registry;
  return *registry;
}

Registry::Entry* Registry::entry(void** handle) const {
  auto it = entries_.find(handle);
  return it == entries_.end() ? nullptr : it->second.get();
}

void** Registry::add(const void* wrapper) {
  auto entry = std::make_unique<Entry>();
  const std::string object = object_of(wrapper);
  entry->module = std::make_shared<LoadedModule>(registered_units(wrapper),
                                                 object.substr(object.rfind('/') + 1));
  void** handle = reinterpret_cast<void**>(entry.get());
  std::lock_guard lock(mutex_);
  entries_[handle] = std::move(entry);
  return handle;
}

void Registry::remove(void** handle) {
  if (Core::forked()) return;  // a thread of the parent may hold its lock
  std::unique_ptr<Entry> gone;
  {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(handle);
    if (it == entries_.end()) return;
    gone = std::move(it->second);
    entries_.erase(it);
    for (const void* host : gone->functions) functions_.erase(host);
    for (const void* host : gone->variables) variables_.erase(host);
  }
  gone->module->close();
}

void Registry::add_function(void** handle, const void* host, std::string_view device_name) {
  std::lock_guard lock(mutex_);
  Entry* e = entry(handle);
  if (!e) return;
  functions_[host] = {e->module, std::string(device_name), nullptr};
  e->functions.push_back(host);
}

void Registry::add_variable(void** handle, const void* host, std::string_view device_name,
                            std::uint64_t size) {
  std::lock_guard lock(mutex_);
  Entry* e = entry(handle);
  if (!e) return;
  variables_[host] = {e->module, std::string(device_name), size, nullptr};
  e->variables.push_back(host);
}

void Registry::add_managed(void** handle, void** host_pointer, std::string_view device_name,
                           std::uint64_t size) {
  std::lock_guard lock(mutex_);
  Entry* e = entry(handle);
  if (!e) return;
  e->managed.push_back({e->module, std::string(device_name), size, host_pointer});
  variables_[host_pointer] = e->managed.back();
  e->variables.push_back(host_pointer);
}

// Kernel handles are made at first use, because the core must not start before main.
std::shared_ptr<Function> Registry::function(const void* host) {
  std::lock_guard lock(mutex_);
  auto it = functions_.find(host);
  if (it == functions_.end()) return nullptr;
  RegisteredFunction& f = it->second;
  if (!f.function) f.function = f.module->function(f.name);
  return f.function;
}

std::shared_ptr<LoadedModule> Registry::module(void** handle) const {
  std::lock_guard lock(mutex_);
  Entry* e = entry(handle);
  return e ? e->module : nullptr;
}

std::optional<RegisteredVariable> Registry::variable(const void* host) const {
  std::lock_guard lock(mutex_);
  auto it = variables_.find(host);
  if (it == variables_.end()) return std::nullopt;
  return it->second;
}

Result<machine::Symbol> Registry::symbol(const void* host, int device) const {
  auto found = variable(host);
  if (!found) return fail(Status::invalid_symbol);
  auto symbol = found->module->symbol(found->name, device);
  if (!symbol && symbol.error().status == Status::not_found) return fail(Status::invalid_symbol);
  if (symbol && found->managed) publish(*found, *symbol);
  return symbol;
}

void Registry::publish(const RegisteredVariable& variable, const machine::Symbol& symbol) {
  *variable.managed = pointer_to(symbol.address);
}

// A program whose module cannot be loaded may access its managed variables before it checks an
// error code, so they get plain memory.
void Registry::back_with_plain_memory(const RegisteredVariable& variable) {
  if (!*variable.managed)
    *variable.managed = std::calloc(1, std::max<std::size_t>(variable.size, 1));
}

Status Registry::initialise(void** handle, int device) {
  std::vector<RegisteredVariable> managed;
  {
    std::lock_guard lock(mutex_);
    if (Entry* e = entry(handle)) managed = e->managed;
  }
  Status status = Status::success;
  for (const RegisteredVariable& variable : managed) {
    auto symbol = variable.module->symbol(variable.name, device);
    if (symbol) {
      publish(variable, *symbol);
    } else {
      back_with_plain_memory(variable);
      status = report(symbol);
    }
  }
  return status;
}

void Registry::reset(int device) {
  std::vector<std::shared_ptr<LoadedModule>> modules;
  {
    std::lock_guard lock(mutex_);
    for (auto& [handle, entry] : entries_) modules.push_back(entry->module);
  }
  for (auto& module : modules) module->drop(device);
}

}  // namespace inflight::cuda
