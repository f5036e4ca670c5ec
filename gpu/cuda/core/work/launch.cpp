// Kernel launches: packing of arguments, and the checks that CUDA makes at the call.
#include "gpu/cuda/core/work/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpu/check/names.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/green/green_context.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/report/refusals.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/machine/launch/check.hpp"
#include "gpu/machine/launch/in_time.hpp"
#include "gpu/machine/launch/occupancy.hpp"

namespace inflight::cuda {
namespace {

Status check_runnable(const Function& function, const machine::Launch& launch) {
  const machine::Unsupported& all = function.missing(launch, observer());
  std::vector<std::string> missing = all.kernel;
  if (settings().strict)
    missing.insert(missing.end(), all.instructions.begin(), all.instructions.end());
  if (missing.empty()) return Status::success;
  std::string list;
  for (const std::string& each : missing) list += "\n  " + each;
  report_once("kernel " + function.name,
              "kernel " + check::readable(function.name) +
                  " was not launched, because it needs what this software " +
                  "GPU does not support:" + list);
  return Status::not_supported;
}

struct FaultCode {
  machine::FaultKind kind;
  Status status;
};
// CUDA's code for each fault (CUDA runtime API, cudaError), in FaultKind's order.
constexpr FaultCode fault_codes[] = {
    {machine::FaultKind::none, Status::success},
    {machine::FaultKind::refused, Status::illegal_instruction},
    {machine::FaultKind::invalid_launch, Status::invalid_value},
    {machine::FaultKind::invalid_cluster, Status::invalid_cluster_size},
    {machine::FaultKind::too_many_resources, Status::launch_out_of_resources},
    {machine::FaultKind::cooperative_too_large, Status::cooperative_launch_too_large},
    {machine::FaultKind::illegal_address, Status::illegal_address},
    {machine::FaultKind::misaligned_address, Status::misaligned_address},
    {machine::FaultKind::invalid_address_space, Status::invalid_address_space},
    {machine::FaultKind::invalid_pc, Status::invalid_pc},
    {machine::FaultKind::illegal_instruction, Status::illegal_instruction},
    {machine::FaultKind::stack_overflow, Status::hardware_stack_error},
    {machine::FaultKind::assertion, Status::assertion},
    {machine::FaultKind::trap, Status::launch_failed},
    {machine::FaultKind::launch_failure, Status::launch_failed},
    {machine::FaultKind::deadlock, Status::launch_timeout},
    {machine::FaultKind::timeout, Status::launch_timeout},
    {machine::FaultKind::interrupted, Status::launch_timeout},
};

// Bytes. A compiler may read a block's last bytes as one vector, so shared memory is rounded up to
// this.
constexpr std::uint32_t widest_access = 16;

// ptxas mostly needs fewer registers than are live at once in PTX. Beyond this excess, a kernel
// without launch bounds rarely fits (docs/performance.md, "Registers").
constexpr std::uint32_t doubtful_percent = 140;

void warn_of_registers(const KernelWork& work, const machine::Kernel& kernel,
                       const Device& device) {
  const auto threads = std::uint32_t(work.block.count());
  const machine::RegisterNeed need = machine::register_need(kernel, threads, device.machine_limits);
  if (need.live * 100 <= need.room * doubtful_percent) return;
  report_once(
      "registers of " + work.function->name,
      fmt::format("a GPU may refuse kernel {} in blocks of {} threads (error 701, too many "
                  "resources requested for launch): {} registers of a thread are live at once, but "
                  "such a block has room for {}; give it __launch_bounds__({}), or "
                  "launch smaller blocks.",
                  check::readable(kernel.name), threads, need.live, need.room, threads));
}

}  // namespace

machine::Dim3 cluster_of(const machine::Kernel& kernel, const machine::Dim3& requested) {
  const auto& required = kernel.required_cluster;
  return required[0] ? machine::Dim3{required[0], required[1], required[2]} : requested;
}

std::uint64_t largest_cluster(const Function& function, const Device& device) {
  constexpr std::uint32_t portable = 8;
  const std::uint32_t most = device.machine_limits.max_cluster;
  return function.settings(device.ordinal).non_portable_cluster ? most : std::min(portable, most);
}

std::uint32_t dynamic_shared_limit(const Function& function, const machine::Kernel& kernel,
                                   const Device& device) {
  const std::uint32_t base = device.machine_limits.shared_per_block;
  const std::uint32_t standard = base > kernel.static_shared ? base - kernel.static_shared : 0;
  const int chosen = function.settings(device.ordinal).max_dynamic_shared;
  return std::max(standard, std::uint32_t(std::max(chosen, 0)));
}

Status status_of(machine::FaultKind kind) {
  for (const FaultCode& each : fault_codes)
    if (each.kind == kind) return each.status;
  return Status::launch_failed;
}

machine::Launch machine_launch(const KernelWork& work, const machine::Kernel& kernel,
                               const Device& device) {
  machine::Launch launch;
  launch.kernel = &kernel;
  launch.grid = work.grid;
  launch.block = work.block;
  if (kernel.of_tiles && work.block == machine::Dim3{1, 1, 1})
    launch.block = {kernel.required_block[0], kernel.required_block[1], kernel.required_block[2]};
  launch.cluster = work.cluster;
  launch.dynamic_shared = work.dynamic_shared;
  // A checker must see every access past the last byte.
  const std::uint32_t granule = observes(check::Topic::faults) ? 1 : widest_access;
  launch.shared_granule = std::max(granule, static_cast<std::uint32_t>(settings().slack));
  launch.shared_optin = dynamic_shared_limit(*work.function, kernel, device);
  if (launch.cluster.count() > 1)
    launch.cluster_optin = static_cast<std::uint32_t>(largest_cluster(*work.function, device));
  launch.cooperative = work.cooperative;
  launch.grids = work.grids;
  return launch;
}

Result<LinkedKernel> linked_kernel(const KernelWork& work) {
  if (work.linked) return work.linked;
  return work.function->on(work.device);
}

Status check_launch(const KernelWork& work, Device& device) {
  if (!work.function) return Status::invalid_device_function;
  const auto found = linked_kernel(work);
  if (!found) return report(found);
  const machine::Launch launch = machine_launch(work, **found, device);
  const machine::Outcome outcome = machine::check(launch, limits_of(work.partition.get(), device));
  // Programs try shapes, and codes say what is wrong with one. No code says what a kernel needs
  // that fits on no multiprocessor.
  if (outcome.kind == machine::FaultKind::too_many_resources)
    report_once(outcome.report, outcome.report + ".");
  if (!outcome.ok()) {
    note_refusal(outcome.report);
    return status_of(outcome.kind);
  }
  const machine::Outcome prepared =
      machine::prepare_in_time(launch, observer(), settings().timeout);
  if (!prepared.ok()) {
    device.kill(status_of(prepared.kind), prepared.report, Device::Printed::not_yet,
                {work.function->name});
    return status_of(prepared.kind);
  }
  warn_of_registers(work, *launch.kernel, device);
  return check_runnable(*work.function, launch);
}

Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, void* const* arguments) {
  std::vector<std::byte> buffer(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!arguments || !arguments[i]) return fail(Status::invalid_value);
    const machine::Parameter& parameter = kernel.parameters[i];
    std::memcpy(buffer.data() + parameter.offset, arguments[i], parameter.size);
  }
  return buffer;
}

Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, const void* packed,
                                    std::uint64_t bytes) {
  if (!packed && bytes) return fail(Status::invalid_value);
  // Fewer bytes than the kernel declares are enough: NCCL's kernels take 4 KiB, and launches pass
  // what they use.
  std::vector<std::byte> buffer(kernel.parameter_bytes);
  if (packed)
    std::copy_n(static_cast<const std::byte*>(packed),
                std::min<std::uint64_t>(bytes, buffer.size()), buffer.begin());
  return buffer;
}

Result<std::vector<std::byte>> pack_extra(const machine::Kernel& kernel, void* const* extra) {
  // CUDA driver API, cuLaunchKernel: pairs of a code and a pointer, ended by code 0.
  constexpr std::uintptr_t end = 0, buffer_pointer = 1, buffer_size = 2;
  const void* buffer = nullptr;
  std::uint64_t bytes = 0;
  for (; extra && reinterpret_cast<std::uintptr_t>(*extra) != end; extra += 2) {
    const auto code = reinterpret_cast<std::uintptr_t>(*extra);
    if (code == buffer_pointer)
      buffer = extra[1];
    else if (code == buffer_size)
      bytes = *static_cast<const std::size_t*>(extra[1]);
    else
      return fail(Status::invalid_value);
  }
  return pack(kernel, buffer, bytes);
}

Result<KernelWork> kernel_work(Device& device, const void* function, const machine::Dim3& grid,
                               const machine::Dim3& block, void* const* arguments,
                               void* const* extra, std::size_t dynamic_shared) {
  auto found = function_of(function);
  if (!found) return tl::unexpected(found.error());
  Call::is_about((*found)->name);
  auto kernel = (*found)->on(device.ordinal);
  if (!kernel) return tl::unexpected(kernel.error());
  if (dynamic_shared > UINT32_MAX) return fail(Status::invalid_value);
  auto packed = extra ? pack_extra(**kernel, extra) : pack(**kernel, arguments);
  if (!packed) return tl::unexpected(packed.error());
  KernelWork work;
  work.function = *found;
  work.device = device.ordinal;
  work.host = function;
  work.grid = grid;
  work.block = block;
  work.cluster = cluster_of(**kernel, {});
  work.partition = partition_of(current_context());
  work.dynamic_shared = std::uint32_t(dynamic_shared);
  work.parameters = std::move(*packed);
  work.linked = std::move(*kernel);
  return work;
}

}  // namespace inflight::cuda
