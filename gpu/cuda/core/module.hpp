// What a program loads: fatbins and PTX texts, which become programs of the machine at first use,
// one a device; and the registry of what host code registers before main.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/cuda/core/function.hpp"
#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/image/fatbin.hpp"
#include "gpu/machine/program.hpp"

namespace inflight::cuda {

struct Context;  // context.hpp

// A translation unit's images, of which each device takes one; or one PTX text.
struct Unit {
  std::vector<Image> images;
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const void> owner;  // keeps what `images` point into
  // A fatbin in the program's own memory, which is read when it is needed; null: none.
  const void* registered = nullptr;
  std::string error;  // why it could not be read; told when it is needed
};

// A CUmodule, a CUlibrary, or what one __cudaRegisterFatBinary registered.
class LoadedModule : public std::enable_shared_from_this<LoadedModule> {
 public:
  explicit LoadedModule(std::vector<Unit> units, std::string name = {});

  // From what cuModuleLoadData, cuModuleLoadFatBinary and cuLibraryLoadData are given: a wrapper, a
  // fatbin, PTX text or the image of a finished link, told apart by content. Copies what it keeps.
  // Nothing is parsed yet.
  static Result<std::shared_ptr<LoadedModule>> from_memory(const void* image);
  // The same from a file (cuModuleLoad): also an executable or shared object with fatbins inside.
  static Result<std::shared_ptr<LoadedModule>> from_file(const std::string& path);

  // The linked program on `device`, made at the first call. A failure is kept: its
  // code is answered again, its sentence not.
  Result<const machine::Program*> on(int device);

  // The kernel's handle, the same object at every call, whether or not any device has the kernel.
  std::shared_ptr<Function> function(std::string_view name);
  // The kernel's handle if the program on `device` has that kernel, else not_found.
  Result<std::shared_ptr<Function>> kernel(std::string_view name, int device);
  // All kernels of the program on `device`, by name.
  Result<std::vector<std::shared_ptr<Function>>> kernels(int device);
  // The variable on `device`, else not_found.
  Result<machine::Symbol> symbol(std::string_view name, int device);

  // Drops the program on `device` with its variables; the next use links it anew.
  void drop(int device);
  // After this no program is made any more and every use fails: the program unloaded the module.
  void close();

  const std::string& name() const { return name_; }
  Context* context = nullptr;  // of a module: where it was loaded
  // Why a unit could not be linked in, or empty: where a missing kernel may have been.
  std::string passed_over() {
    std::lock_guard lock(mutex_);
    return passed_over_;
  }

 private:
  Result<const machine::Program*> load(int device);

  std::vector<Unit> units_;
  std::string name_, passed_over_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<machine::Program>> loaded_;
  std::map<int, Status> failures_;
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<Function>, std::less<>> functions_;
};

// A variable of the program's own, as host code registered it.
struct RegisteredVariable {
  std::shared_ptr<LoadedModule> module;
  std::string name;          // on the device
  std::uint64_t size = 0;    // bytes; 0: unknown
  void** managed = nullptr;  // where host code reads a managed variable's address
};

// What __cudaRegister* registers. Works before main and after static destructors; never destroyed.
class Registry {
 public:
  static Registry& get();

  // __cudaRegisterFatBinary: reads no fatbin yet. The result is the handle that the other calls
  // take; never null.
  void** add(const void* wrapper);
  // __cudaUnregisterFatBinary: ends the handle, its functions and its variables.
  void remove(void** handle);
  void add_function(void** handle, const void* host, std::string_view device_name);
  void add_variable(void** handle, const void* host, std::string_view device_name,
                    std::uint64_t size);
  void add_managed(void** handle, void** host_pointer, std::string_view device_name,
                   std::uint64_t size);

  // The kernel of a host function's address, or null.
  std::shared_ptr<Function> function(const void* host);
  std::shared_ptr<LoadedModule> module(void** handle) const;
  std::optional<RegisteredVariable> variable(const void* host) const;
  // Where the variable of a host address lies on `device` (invalid_symbol: no such variable).
  Result<machine::Symbol> symbol(const void* host, int device) const;
  // Gives the handle's managed variables their addresses (__cudaInitModule).
  Status initialise(void** handle, int device);
  // The same for every handle that has managed variables.
  Status initialise_all(int device);
  // Drops what is loaded on `device` (cudaDeviceReset).
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
  static void stand_in(const RegisteredVariable& variable);

  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<Entry>> entries_;
  std::unordered_map<const void*, RegisteredFunction> functions_;
  std::unordered_map<const void*, RegisteredVariable> variables_;
};

}  // namespace inflight::cuda
