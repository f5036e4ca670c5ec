// The graph launch that a thread works on, and nodes that kernels may change.
#include "gpu/cuda/core/work/graph_kernels.hpp"

#include <algorithm>
#include <map>

namespace inflight::cuda {
namespace {

thread_local const GraphKernels::Here* where = nullptr;

struct Live {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<UpdatableNode>> nodes;
};
Live& live() {
  static auto& instance = *new Live;
  return instance;
}

std::shared_ptr<UpdatableNode> node_at(std::uint64_t handle) {
  const std::lock_guard lock(live().mutex);
  const auto found = live().nodes.find(handle);
  return found == live().nodes.end() ? nullptr : found->second.lock();
}

}  // namespace

GraphKernels::Here::Here(GraphKernels& launch, std::uint64_t step)
    : launch(launch), step(step), before(std::exchange(where, this)) {}
GraphKernels::Here::~Here() { where = before; }
const GraphKernels::Here* GraphKernels::here() { return where; }

std::shared_ptr<UpdatableNode> UpdatableNode::make() {
  std::shared_ptr<UpdatableNode> made(new UpdatableNode);
  const std::lock_guard lock(live().mutex);
  live().nodes[made->handle()] = made;
  return made;
}

UpdatableNode::~UpdatableNode() {
  const std::lock_guard lock(live().mutex);
  live().nodes.erase(handle());
}

bool UpdatableNode::take(const std::shared_ptr<GraphExec>& exec, const KernelWork& work) {
  {
    const std::lock_guard lock(mutex_);
    if (!exec_.expired()) return false;
    exec_ = exec;
    enabled_ = true;
  }
  set(work);
  return true;
}

void UpdatableNode::release() {
  const std::lock_guard lock(mutex_);
  exec_.reset();
}

void UpdatableNode::set(const KernelWork& work) {
  const std::lock_guard lock(mutex_);
  work_ = work;
  work_.linked = {};
  work_.updatable = nullptr;
}

void UpdatableNode::enable(bool enabled) {
  const std::lock_guard lock(mutex_);
  enabled_ = enabled;
}

std::optional<KernelWork> UpdatableNode::now() const {
  const std::lock_guard lock(mutex_);
  if (!enabled_) return std::nullopt;
  return work_;
}

Status UpdatableNode::possible(const machine::NodeUpdate& update) const {
  using Field = machine::NodeUpdate::Field;
  if (exec_.expired()) return Status::invalid_value;
  const std::uint64_t bytes = work_.parameters.size();
  const bool good = update.field == Field::grid ? update.grid.count() != 0
                    : update.field == Field::parameters
                        ? update.offset <= bytes && update.bytes <= bytes - update.offset
                        : true;
  return good ? Status::success : Status::invalid_value;
}

Status UpdatableNode::check(const machine::NodeUpdate& update) {
  const auto node = node_at(update.node);
  if (!node) return Status::invalid_value;
  const std::lock_guard lock(node->mutex_);
  return node->possible(update);
}

Status UpdatableNode::update(const machine::NodeUpdate& update) {
  using Field = machine::NodeUpdate::Field;
  const auto node = node_at(update.node);
  if (!node) return Status::invalid_value;
  const std::lock_guard lock(node->mutex_);
  if (Status status = node->possible(update); status != Status::success) return status;
  if (update.field == Field::grid)
    node->work_.grid = update.grid;
  else if (update.field == Field::enabled)
    node->enabled_ = update.enabled;
  else
    std::copy(update.value.begin(), update.value.end(),
              node->work_.parameters.begin() + static_cast<std::ptrdiff_t>(update.offset));
  return Status::success;
}

}  // namespace inflight::cuda
