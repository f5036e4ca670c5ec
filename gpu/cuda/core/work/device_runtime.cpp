// The host side of runtime calls by kernels.
#include "gpu/cuda/core/work/device_runtime.hpp"

#include <cstring>
#include <map>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/modules/module.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/cuda/core/work/launch.hpp"
#include "gpu/machine/launch/occupancy.hpp"

namespace inflight::cuda {
namespace {

// The address of a copy of the text in memory of `device`, valid while its context lives. 0: out of
// memory.
std::uint64_t place_text(int device, std::string_view text) {
  static std::mutex mutex;
  static auto& placed = *new std::map<std::pair<int, std::string_view>, std::uint64_t>;
  machine::Memory& memory = Core::get().memory;
  const std::lock_guard lock(mutex);
  std::uint64_t& at = placed[{device, text}];
  if (at != 0 && memory.find(at)) return at;
  const auto made = memory.allocate(device, text.size() + 1, machine::AllocationKind::constant, 256,
                                    "the text of an error");
  at = made.value_or(0);
  if (at != 0) {
    const machine::HostView::Access open(memory.host_view());
    auto* const bytes = reinterpret_cast<char*>(at);
    std::memcpy(bytes, text.data(), text.size());
    bytes[text.size()] = 0;
  }
  return at;
}

}  // namespace

std::shared_ptr<Function> KernelsRuntime::function(const machine::Kernel& kernel) const {
  return module_.function(kernel.name);
}

machine::Launch KernelsRuntime::launch_of(const machine::Kernel& kernel) {
  KernelWork work;
  work.function = function(kernel);
  work.device = device_.ordinal;
  work.cluster = cluster_of(kernel, {});
  machine::Launch launch = machine_launch(work, kernel, device_);
  launch.id = next_number();
  launch.stream = base_.stream;
  launch.graph = base_.graph;
  launch.cancel = base_.cancel;
  launch.textures = base_.textures;
  launch.clock = base_.clock;
  launch.runtime = this;
  return launch;
}

std::optional<int> KernelsRuntime::attribute(int number, int device) {
  const Device& asked = Core::get().device(device);
  return asked.profile.attribute(number, asked.index);
}

std::optional<std::uint64_t> KernelsRuntime::limit(int number) {
  if (number < 0 || number >= limit_count) return std::nullopt;
  return device_.limits[static_cast<std::size_t>(number)].load();
}

std::vector<std::byte> KernelsRuntime::attributes(const machine::Kernel& kernel) {
  abi::FunctionAttributes attributes{};
  std::vector<std::byte> bytes(sizeof attributes);
  if (get_attributes(&attributes, function(kernel).get()) == Status::success)
    std::memcpy(bytes.data(), &attributes, bytes.size());
  return bytes;
}

std::optional<int> KernelsRuntime::resident_blocks(const machine::Kernel& kernel, int threads,
                                                   std::uint64_t dynamic_shared) {
  if (threads <= 0) return std::nullopt;
  return static_cast<int>(machine::resident_blocks(kernel, static_cast<unsigned>(threads),
                                                   dynamic_shared, device_.machine_limits));
}

int KernelsRuntime::launch_graph(std::uint64_t graph, std::uint64_t stream) {
  if (at_) return static_cast<int>(at_->launch.launch(graph, stream, at_->step));
  report_once("a graph of no graph",
              "cudaGraphLaunch() in a kernel returns \"invalid argument\" (1), because the kernel "
              "is not part of a graph itself; on a GPU the calling thread ends without a message.");
  return static_cast<int>(Status::invalid_value);
}

int KernelsRuntime::check(const machine::NodeUpdate& update) {
  return static_cast<int>(UpdatableNode::check(update));
}

int KernelsRuntime::update(const machine::NodeUpdate& update) {
  return static_cast<int>(UpdatableNode::update(update));
}

void KernelsRuntime::note_polling() {
  if (at_) at_->launch.note_polling();
}

std::uint64_t KernelsRuntime::error_text(int code, bool name) {
  const std::string_view text = name ? runtime_error_name(code) : runtime_error_text(code);
  return place_text(device_.ordinal, text.empty() ? "unrecognized error code" : text);
}

}  // namespace inflight::cuda
