// A kernel's handle: one object serves as cudaFunction_t, cudaKernel_t, CUfunction and CUkernel.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/machine/launch/launch.hpp"
#include "gpu/machine/link/program.hpp"

namespace inflight::cuda {

// Settings of cudaFuncSetAttribute and similar calls. -1 means the default.
struct FunctionSettings {
  int max_dynamic_shared = -1;  // bytes; default: the rest of the limit without opt-in
  int carveout = -1;            // percent
  int cache = 0;                // cudaFuncCache
  int shared_bank = 0;          // cudaSharedMemConfig
  std::uint32_t cluster[3] = {0, 0, 0};
  int cluster_policy = 0;
  bool non_portable_cluster = false;
};

class LoadedModule;  // module.hpp

// A kernel as linked for a device. It keeps its program and its module, also if another thread
// unloads the module meanwhile.
struct LinkedKernel {
  std::shared_ptr<LoadedModule> module;
  std::shared_ptr<const machine::Program> program;
  const machine::Kernel* kernel = nullptr;  // of the program; null: none
  explicit operator bool() const { return kernel != nullptr; }
  const machine::Kernel& operator*() const { return *kernel; }
  const machine::Kernel* operator->() const { return kernel; }
};

class Function {
 public:
  // Finds or loads the kernel on a device.
  using Resolver = std::function<Result<LinkedKernel>(int device)>;
  Function(std::string name, const void* module, Resolver resolver)
      : name(std::move(name)), module(module), resolver_(std::move(resolver)) {}

  // The linked kernel on `device`, loaded at the first call. Thread-safe.
  Result<LinkedKernel> on(int device) const { return resolver_(device); }

  const std::string name;    // as in PTX (mangled)
  const void* const module;  // the handle of the library or module it belongs to

  // The parts of the launch's kernel that the machine cannot run, determined once. `listener`: of
  // the launch; null: none.
  const machine::Unsupported& missing(const machine::Launch& launch,
                                      const check::Listener* listener) const {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = missing_.try_emplace(launch.kernel);
    if (fresh) it->second = machine::unsupported(launch, listener);
    return it->second;
  }

  FunctionSettings settings(int device) const {
    std::lock_guard lock(mutex_);
    return device < int(settings_.size()) ? settings_[device] : FunctionSettings{};
  }
  void change(int device, const std::function<void(FunctionSettings&)>& edit) {
    std::lock_guard lock(mutex_);
    if (device >= int(settings_.size())) settings_.resize(device + 1);
    edit(settings_[device]);
  }

 private:
  Resolver resolver_;
  mutable std::mutex mutex_;
  std::vector<FunctionSettings> settings_;  // by device
  mutable std::map<const machine::Kernel*, machine::Unsupported> missing_;
};

}  // namespace inflight::cuda
