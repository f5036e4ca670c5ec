// Modules that programs load: fatbins and PTX texts. At first use on a device, they are linked into
// a machine program for that device.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/modules/function.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/image/unit.hpp"
#include "gpu/machine/link/program.hpp"

namespace inflight::cuda {

// A CUmodule, a CUlibrary, or a fatbin that __cudaRegisterFatBinary registered.
class LoadedModule : public std::enable_shared_from_this<LoadedModule> {
 public:
  // `name`: of the file that it is from, for messages; empty: unknown.
  explicit LoadedModule(std::vector<Unit> units, std::string name = {});

  // From memory or a file, in any format that image/unit.hpp reads. Nothing is parsed yet
  // (invalid_value: null; invalid_image, no_binary_for_gpu, file_not_found).
  static Result<std::shared_ptr<LoadedModule>> from_memory(const void* image);
  static Result<std::shared_ptr<LoadedModule>> from_file(const std::string& path);

  // The linked program on `device`, made at the first call. A failure is kept: later calls return
  // its code without its message. The program lives as long as somebody uses it.
  using Program = std::shared_ptr<const machine::Program>;
  Result<Program> on(int device);

  // The kernel's handle. Every call returns the same one, even if no device has the kernel. Once
  // the module is unloaded, it is one that programs cannot name.
  std::shared_ptr<Function> function(std::string_view name);
  // The kernel's handle if the program on `device` has that kernel, else not_found.
  Result<std::shared_ptr<Function>> kernel(std::string_view name, int device);
  // All kernels of the program on `device`, by name.
  Result<std::vector<std::shared_ptr<Function>>> kernels(int device);
  // The variable on `device`, else not_found.
  Result<machine::Symbol> symbol(std::string_view name, int device);

  // Drops the program on `device` with its variables. The next use links it again.
  void drop(int device);
  // Every later use fails. Work that has begun, and work in a queue, keeps the program.
  void close();

  ContextRef context;  // the context that a CUmodule was loaded in
  // Why a unit was skipped, or empty. A missing kernel may be in that unit.
  std::string passed_over() {
    std::lock_guard lock(mutex_);
    return passed_over_;
  }

 private:
  Result<Program> load(int device);

  std::vector<Unit> units_;
  std::string name_, passed_over_;
  std::mutex mutex_;
  std::map<int, Program> loaded_;
  std::map<int, Status> failures_;
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<Function>, std::less<>> functions_;
};

// Unloads a module, once the work in all streams is done.
void unload(LoadedModule& module);

// Kernels of a module on the current device: the one of that name (not_found), at most `count` of
// them, and their number.
Status get_kernel(void** place, LoadedModule& module, const char* name);
Status get_kernels(void** place, unsigned count, LoadedModule& module);
Status get_kernel_count(unsigned* place, LoadedModule& module);

}  // namespace inflight::cuda
