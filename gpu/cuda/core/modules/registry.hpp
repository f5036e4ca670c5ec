// The fatbins, kernels and variables that nvcc's host code registers before main.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gpu/cuda/core/modules/module.hpp"

namespace inflight::cuda {

// A variable of the program, as host code registered it.
struct RegisteredVariable {
  std::shared_ptr<LoadedModule> module;
  std::string name;          // on the device
  std::uint64_t size = 0;    // bytes; 0: unknown
  void** managed = nullptr;  // where host code reads a managed variable's address; or null
};

// Filled by __cudaRegister*. Never destroyed, so that it works before main and after static
// destructors.
class Registry {
 public:
  static Registry& get();

  // __cudaRegisterFatBinary: does not read the fatbin yet. Returns the handle that the other calls
  // take, never null.
  void** add(const void* wrapper);
  // __cudaUnregisterFatBinary: removes the handle, its functions and its variables.
  void remove(void** handle);
  void add_function(void** handle, const void* host, std::string_view device_name);
  void add_variable(void** handle, const void* host, std::string_view device_name,
                    std::uint64_t size);
  void add_managed(void** handle, void** host_pointer, std::string_view device_name,
                   std::uint64_t size);

  // The kernel registered for the address of a host function, or null.
  std::shared_ptr<Function> function(const void* host);
  std::shared_ptr<LoadedModule> module(void** handle) const;
  std::optional<RegisteredVariable> variable(const void* host) const;
  // The location on `device` of the variable registered for `host` (invalid_symbol: no such
  // variable).
  Result<machine::Symbol> symbol(const void* host, int device) const;
  // Publishes the addresses of the handle's managed variables (__cudaInitModule).
  Status initialise(void** handle, int device);
  // Unloads everything from `device` (cudaDeviceReset).
  void reset(int device);

 private:
  struct Entry {
    std::shared_ptr<LoadedModule> module;
    std::vector<const void*> functions, variables;
    std::vector<RegisteredVariable> managed;
  };
  struct RegisteredFunction {
    std::shared_ptr<LoadedModule> module;
    std::string name;
    std::shared_ptr<Function> function;  // made at first use
  };
  Entry* entry(void** handle) const;
  static void publish(const RegisteredVariable& variable, const machine::Symbol& symbol);
  static void back_with_plain_memory(const RegisteredVariable& variable);

  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<Entry>> entries_;
  std::unordered_map<const void*, RegisteredFunction> functions_;
  std::unordered_map<const void*, RegisteredVariable> variables_;
};

}  // namespace inflight::cuda
