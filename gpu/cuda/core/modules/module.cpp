// Loads modules: images → PTX → parsed modules (shared by content) → one linked program per device.
#include "gpu/cuda/core/modules/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "gpu/check/names.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/modules/replacement.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/image/device_runtime.hpp"
#include "gpu/ptx/parse.hpp"

namespace inflight::cuda {
namespace {

tl::unexpected<Failure> fail(const Failure& failure) { return tl::unexpected<Failure>(failure); }
using inflight::cuda::fail;

using Parsed = std::shared_ptr<const ptx::Module>;

// Parsed modules by their text. A text that several modules or devices use is parsed once.
class ParseCache {
 public:
  Result<Parsed> get(const std::shared_ptr<const std::string>& text, const std::string& name) {
    const std::size_t hash = std::hash<std::string_view>{}(*text);
    if (Parsed known = find(*text, hash)) return known;
    auto parsed = ptx::parse(text, name);
    if (!parsed) return refuse(parsed.error(), name);
    auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
    std::lock_guard lock(mutex_);
    modules_[hash] = module;
    if (modules_.size() >= enough_) forget_unloaded();
    return module;
  }

 private:
  Parsed find(const std::string& text, std::size_t hash) {
    std::lock_guard lock(mutex_);
    auto it = modules_.find(hash);
    if (it == modules_.end()) return nullptr;
    Parsed module = it->second.lock();
    return module && *module->text == text ? module : nullptr;
  }
  void forget_unloaded() {
    std::erase_if(modules_, [](const auto& each) { return each.second.expired(); });
    enough_ = std::max<std::size_t>(64, 2 * modules_.size());
  }
  static tl::unexpected<Failure> refuse(const ptx::Error& error, const std::string& name) {
    return fail(Status::invalid_ptx,
                fmt::format("{}, line {}: {}", name.empty() ? "the program's PTX" : name,
                            error.line, error.message));
  }
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::weak_ptr<const ptx::Module>> modules_;
  std::size_t enough_ = 64;  // modules, until those that are no longer loaded are forgotten
};

ParseCache& parse_cache() {
  static auto* cache = new ParseCache;
  return *cache;
}

Failure failure_of(ImageError error) {
  const auto status = [&] {
    switch (error.kind) {
      case ImageError::Kind::unusable:
        return Status::no_binary_for_gpu;
      case ImageError::Kind::no_file:
        return Status::file_not_found;
      case ImageError::Kind::damaged:
        break;
    }
    return Status::invalid_image;
  }();
  return {status, std::move(error.message)};
}

// Adds the name of the kernel that cannot run to the failure's message.
Failure of_kernel(std::string_view name, Failure failure) {
  if (failure.status == Status::no_binary_for_gpu && !failure.message.empty())
    failure.message =
        fmt::format("kernel {} cannot run: {}", check::readable(name), failure.message);
  return failure;
}

// Adds the device runtime if the modules call it and do not define it.
Result<void> add_device_runtime(std::vector<Parsed>& modules) {
  const auto needs = [](const Parsed& module) { return needs_device_runtime(*module); };
  const auto has = [](const Parsed& module) {
    return std::ranges::any_of(module->functions, [](const ptx::Function& function) {
      return function.has_body && is_supplied(function.name);
    });
  };
  if (std::ranges::none_of(modules, needs) || std::ranges::any_of(modules, has)) return {};
  auto parsed = parse_cache().get(device_runtime(), "the device runtime");
  if (!parsed) return fail(parsed.error());
  modules.push_back(std::move(*parsed));
  return {};
}

struct ParsedUnits {
  std::vector<Parsed> modules;
  std::string passed_over;  // why a unit was skipped, or empty
};

// The version that a PTX text names, 90 for 9.0; 0: none.
int version_of(std::string_view text) {
  const auto at = text.find(".version");
  int major = 0, minor = 0;
  if (at == text.npos || std::sscanf(text.data() + at, ".version %d.%d", &major, &minor) != 2)
    return 0;
  return 10 * major + minor;
}

// PTX 9.0 is CUDA 13.0's, 9.1 is 13.1's and so on.
bool assembles_for(const Architecture& target, const Architecture& device) {
  if (target.specific) return target.number == device.number;
  return target.number <= device.number &&
         (!target.family || target.number / 10 == device.number / 10);
}

// Refuses PTX text that a driver cannot assemble for the device: of a newer version, or for another
// chip. Fatbins may hold such PTX beside machine code.
Result<void> check_text(const std::string& text, Architecture device, const std::string& module) {
  const std::string name = module.empty() ? "the program's PTX" : module;
  if (const int version = version_of(text), newest = settings().newest_ptx; version > newest)
    return fail(Status::unsupported_ptx_version,
                fmt::format("{} has version {}.{}, and this driver takes at most 9.{}; "
                            "choose a newer one (--driver 13.{})",
                            name, version / 10, version % 10, newest - 90, version - 90));
  if (const Architecture target = target_of(text); !assembles_for(target, device))
    return fail(Status::invalid_ptx, fmt::format("{} is for {}, which a device of {} cannot run",
                                                 name, spelling(target), spelling(device)));
  return {};
}

// A unit without usable PTX is skipped if others have some, since nvlink adds such units (the
// device runtime library). Its names stay undefined.
Result<ParsedUnits> parse_all(const std::vector<Unit>& units, Architecture architecture,
                              const std::string& module) {
  ParsedUnits result;
  Failure first{Status::invalid_image};
  for (const Unit& unit : units) {
    auto text = text_of(unit, architecture);
    if (!text) {
      const Failure failure = failure_of(std::move(text.error()));
      if (failure.status != Status::no_binary_for_gpu) return fail(failure);
      if (result.passed_over.empty()) first = failure;
      result.passed_over = first.message;
      continue;
    }
    if (unit.text && !unit.assembled)
      if (auto good = check_text(*unit.text, architecture, module); !good)
        return fail(good.error());
    auto parsed = parse_cache().get(text->text, text->name.empty() ? module : text->name);
    if (!parsed) return fail(parsed.error());
    auto used = with_replacements(std::move(*parsed));
    if (!used) return fail(used.error());
    result.modules.push_back(std::move(*used));
  }
  if (result.modules.empty()) return fail(first);
  if (auto added = add_device_runtime(result.modules); !added) return fail(added.error());
  return result;
}

bool has_managed(const std::vector<Parsed>& modules) {
  for (const Parsed& module : modules) {
    if (std::ranges::any_of(module->variables, &ptx::Variable::managed)) return true;
  }
  return false;
}

Result<std::unique_ptr<machine::Program>> link(std::vector<Parsed> modules, int device) {
  auto linked =
      machine::Program::link(std::move(modules), Core::get().memory, device, settings().slack);
  if (!linked)
    return fail(linked.error().no_memory ? Status::out_of_memory : Status::invalid_ptx,
                linked.error().message);
  return std::move(*linked);
}

}  // namespace

LoadedModule::LoadedModule(std::vector<Unit> units, std::string name)
    : units_(std::move(units)), name_(std::move(name)) {}

namespace {

Result<std::shared_ptr<LoadedModule>> make(Units units, std::string name) {
  if (!units) return fail(failure_of(std::move(units.error())));
  return std::make_shared<LoadedModule>(std::move(*units), std::move(name));
}

}  // namespace

Result<std::shared_ptr<LoadedModule>> LoadedModule::from_memory(const void* image) {
  if (!image) return fail(Status::invalid_value);
  return make(units_of_memory(image), {});
}

Result<std::shared_ptr<LoadedModule>> LoadedModule::from_file(const std::string& path) {
  return make(units_of_file(path), path);
}

Result<LoadedModule::Program> LoadedModule::load(int device) {
  if (closed_) return fail(Status::invalid_handle, "the module has been unloaded");
  auto parsed = parse_all(units_, Core::get().device(device).profile.architecture, name_);
  if (!parsed) return fail(parsed.error());
  if (!loaded_.empty() && has_managed(parsed->modules)) {
    return fail(Status::not_supported,
                "a module with __managed__ variables is used on two devices, which the software "
                "GPU does not support; use cudaMallocManaged, or the module on one device only");
  }
  auto program = link(std::move(parsed->modules), device);
  if (!program) return fail(program.error());
  passed_over_ = parsed->passed_over;
  return loaded_[device] = std::move(*program);
}

Result<LoadedModule::Program> LoadedModule::on(int device) {
  std::lock_guard lock(mutex_);
  if (auto it = loaded_.find(device); it != loaded_.end()) return it->second;
  if (auto it = failures_.find(device); it != failures_.end())
    return tl::unexpected<Failure>(it->second);
  auto program = load(device);
  // The first failure has a message. Later calls return only its code.
  if (!program && !closed_) failures_.emplace(device, program.error().status);
  return program;
}

std::shared_ptr<Function> LoadedModule::function(std::string_view name) {
  std::lock_guard lock(mutex_);
  auto it = functions_.find(name);
  if (it != functions_.end()) return it->second;
  // The module owns its functions, so a function must not own the module.
  auto resolve = [weak = weak_from_this(),
                  key = std::string(name)](int device) -> Result<LinkedKernel> {
    auto module = weak.lock();
    if (!module) return fail(Status::invalid_handle, "the kernel's module has been unloaded");
    auto program = module->on(device);
    if (!program) return fail(of_kernel(key, program.error()));
    const machine::Kernel* kernel = (*program)->kernel(key);
    if (!kernel) return fail(Status::invalid_device_function, module->passed_over());
    return LinkedKernel{std::move(module), std::move(*program), kernel};
  };
  auto function = std::make_shared<Function>(std::string(name), this, std::move(resolve));
  if (closed_) return function;
  functions_.emplace(std::string(name), function);
  Core::get().functions.add(function);
  return function;
}

Result<std::shared_ptr<Function>> LoadedModule::kernel(std::string_view name, int device) {
  auto program = on(device);
  if (!program) return fail(program.error());
  if (!(*program)->kernel(name)) return fail(Status::not_found);
  return function(name);
}

Result<std::vector<std::shared_ptr<Function>>> LoadedModule::kernels(int device) {
  auto program = on(device);
  if (!program) return fail(program.error());
  std::vector<std::shared_ptr<Function>> result;
  for (const machine::Kernel& kernel : (*program)->kernels())
    result.push_back(function(kernel.name));
  return result;
}

Result<machine::Symbol> LoadedModule::symbol(std::string_view name, int device) {
  auto program = on(device);
  if (!program) return fail(program.error());
  const machine::Symbol* symbol = (*program)->symbol(name);
  if (!symbol) return fail(Status::not_found);
  return *symbol;
}

void LoadedModule::drop(int device) {
  Program dropped;  // ends without the mutex
  std::lock_guard lock(mutex_);
  if (auto it = loaded_.find(device); it != loaded_.end()) {
    dropped = std::move(it->second);
    loaded_.erase(it);
  }
  failures_.erase(device);
}

void LoadedModule::close() {
  std::map<int, Program> dropped;  // ends without the mutex
  std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(loaded_);
  for (auto& [name, function] : functions_) Core::get().functions.remove(function.get());
  functions_.clear();
}

void unload(LoadedModule& module) {
  for (int i = 0; i < Core::get().device_count(); ++i) Core::get().device(i).synchronize();
  module.close();
}

Status get_kernel(void** place, LoadedModule& module, const char* name) {
  if (!place || !name) return Status::invalid_value;
  auto function = module.kernel(name, current_device().ordinal);
  if (!function) return report(function);
  *place = function->get();
  return Status::success;
}

Status get_kernels(void** place, unsigned count, LoadedModule& module) {
  if (!place) return Status::invalid_value;
  auto kernels = module.kernels(current_device().ordinal);
  if (!kernels) return report(kernels);
  for (unsigned i = 0; i < count && i < kernels->size(); ++i) place[i] = (*kernels)[i].get();
  return Status::success;
}

Status get_kernel_count(unsigned* place, LoadedModule& module) {
  if (!place) return Status::invalid_value;
  auto program = module.on(current_device().ordinal);
  if (!program) return report(program);
  *place = unsigned((*program)->kernels().size());
  return Status::success;
}

}  // namespace inflight::cuda
