// Assigns addresses to graphs' allocations and accounts for the memory behind them.
#include "gpu/cuda/core/graph/graph_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {

// The memory behind one block while graphs run. A block holds it until another block takes it.
struct GraphReserve {
  explicit GraphReserve(std::uint64_t bytes) : bytes(bytes) {}
  ~GraphReserve() { Core::get().memory.host_share().give_back(bytes); }
  GraphReserve(const GraphReserve&) = delete;
  GraphReserve& operator=(const GraphReserve&) = delete;
  const std::uint64_t bytes;
  std::uint64_t holder = 0;  // the block's id
  std::uint64_t stream = 0;  // of the latest launch
  Ticket last;               // of the latest launch
  int live = 0;              // allocations that no launch has freed
  bool idle() const { return live == 0 && last.done(); }
};

namespace {

constexpr std::uint64_t step = 32 << 20, alignment = 512, guard = 4096;  // bytes

std::uint64_t next_block_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

// Addresses of one graph, in multiples of `step`; ranges are taken from the lowest address up.
struct GraphBlock {
  GraphBlock(int device, std::uint64_t wanted) : device(device), bytes(round_up(wanted, step)) {
    unmap_unused();
    void* at =
        mmap(nullptr, bytes + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    base = address_of(at);
    mprotect(at, bytes, PROT_READ | PROT_WRITE);
  }
  // Work in a stream may still use what another stream has freed.
  ~GraphBlock() {
    if (base) unmap_when_unused(reinterpret_cast<void*>(base), bytes + guard);
  }
  GraphBlock(const GraphBlock&) = delete;
  GraphBlock& operator=(const GraphBlock&) = delete;

  const int device;
  const std::uint64_t bytes, id = next_block_id();
  std::uint64_t base = 0, taken = 0;    // `taken` bytes from the base on belong to ranges
  std::weak_ptr<GraphReserve> reserve;  // guarded by Graphs::mutex
};

namespace {

struct DeviceShare {
  std::vector<std::shared_ptr<GraphReserve>> reserves;
  std::uint64_t used_high = 0, reserved_high = 0;
  std::uint64_t held() const {
    std::uint64_t sum = 0;
    for (const auto& each : reserves) sum += each->bytes;
    return sum;
  }
};

struct Graphs {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::vector<std::weak_ptr<GraphMemory>>> planned;  // by address
  std::set<std::shared_ptr<GraphMemory>> live;
  std::map<int, DeviceShare> devices;
};
Graphs& graphs() {
  static Graphs& instance = *new Graphs;
  return instance;
}

}  // namespace

struct GraphRange {
  explicit GraphRange(std::shared_ptr<GraphBlock> block, std::uint64_t bytes)
      : block(std::move(block)), bytes(bytes) {}
  ~GraphRange() {
    if (address) Core::get().memory.release(address);
  }
  const std::shared_ptr<GraphBlock> block;
  const std::uint64_t bytes;
  std::uint64_t address = 0;
};

namespace {

// A new range in the block, followed by a gap that no allocation covers. Null: no room.
std::shared_ptr<GraphRange> take_range(const std::shared_ptr<GraphBlock>& block,
                                       std::uint64_t bytes) {
  if (!block->base || bytes > block->bytes - block->taken) return nullptr;
  auto range = std::make_shared<GraphRange>(block, bytes);
  const std::uint64_t at = block->base + block->taken;
  if (!Core::get().memory.adopt(block->device, reinterpret_cast<void*>(at), bytes,
                                machine::AllocationKind::device))
    return nullptr;
  range->address = at;
  block->taken = std::min(block->bytes, block->taken + round_up(bytes, alignment) + alignment);
  return range;
}

std::unordered_set<const Node*> ancestors(const std::vector<Node*>& nodes) {
  std::unordered_set<const Node*> seen(nodes.begin(), nodes.end());
  std::vector<const Node*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Node* each : node->dependencies)
      if (seen.insert(each).second) open.push_back(each);
  }
  return seen;
}

// The allocations that the graph frees before a node that depends on `after`.
std::unordered_set<const GraphMemory*> freed_before(const std::vector<Node*>& after) {
  std::unordered_set<const GraphMemory*> result;
  for (const Node* node : ancestors(after))
    if (auto* freed = std::get_if<FreeWork>(&node->work)) result.insert(freed->memory.get());
  return result;
}

std::uint64_t padded(std::uint64_t bytes) { return round_up(bytes, settings().slack); }

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::make(const Graph& graph, const std::vector<Node*>& after,
                                               int device, std::uint64_t bytes) {
  std::shared_ptr<GraphMemory> memory(new GraphMemory(device, bytes));
  constexpr std::uint64_t most = std::uint64_t{1} << 46;  // larger than the address space
  if (bytes == 0 || bytes > most) return memory;
  const auto freed = freed_before(after);
  std::map<std::shared_ptr<GraphRange>, bool> ranges;  // true: free by then
  std::set<std::shared_ptr<GraphBlock>> blocks;
  for (const auto& node : graph.nodes()) {
    auto* made = std::get_if<AllocateWork>(&node->work);
    if (!made || made->memory->device != device || !made->memory->range_) continue;
    ranges.try_emplace(made->memory->range_, true).first->second &=
        freed.contains(made->memory.get());
    blocks.insert(made->memory->range_->block);
  }
  std::shared_ptr<GraphRange>& chosen = memory->range_;
  for (const auto& [range, vacant] : ranges)
    if (vacant && range->bytes >= bytes && (!chosen || range->bytes < chosen->bytes))
      chosen = range;
  for (auto it = blocks.begin(); !chosen && it != blocks.end(); ++it)
    chosen = take_range(*it, padded(bytes));
  if (!chosen)
    chosen = take_range(std::make_shared<GraphBlock>(device, padded(bytes)), padded(bytes));
  if (!chosen) return memory;
  memory->address = chosen->address;
  std::lock_guard lock(graphs().mutex);
  auto& here = graphs().planned[memory->address];
  std::erase_if(here, [](const auto& each) { return each.expired(); });
  here.push_back(memory);
  return memory;
}

std::shared_ptr<GraphMemory> GraphMemory::make(const Stream& stream, int device,
                                               std::uint64_t bytes) {
  std::lock_guard lock(graph_mutex());
  auto capture = capture_of(stream);
  if (!capture) return make(Graph(), {}, device, bytes);
  return make(*capture->graph, capture->tips[const_cast<Stream*>(&stream)], device, bytes);
}

std::shared_ptr<GraphMemory> GraphMemory::find(std::uint64_t address) {
  std::lock_guard lock(graphs().mutex);
  auto it = graphs().planned.find(address);
  if (it == graphs().planned.end()) return nullptr;
  for (auto each = it->second.rbegin(); each != it->second.rend(); ++each)
    if (auto memory = each->lock()) return memory;
  graphs().planned.erase(it);
  return nullptr;
}

// Call under the mutex. A live allocation outlives its graph.
void GraphMemory::set_live(bool live) {
  if (live_ == live) return;
  live_ = live;
  if (live)
    graphs().live.insert(shared_from_this());
  else
    graphs().live.erase(shared_from_this());
  if (auto reserve = range_->block->reserve.lock()) reserve->live += live ? 1 : -1;
}

void GraphMemory::forget(int device) {
  std::set<std::shared_ptr<GraphMemory>> ended;
  std::lock_guard lock(graphs().mutex);
  for (const auto& each : graphs().live)
    if (each->device == device) ended.insert(each);
  for (const auto& each : ended) each->set_live(false);
  graphs().devices.erase(device);
}

bool GraphMemory::end() {
  const auto self = shared_from_this();
  std::lock_guard lock(graphs().mutex);
  if (!live_) return false;
  set_live(false);
  return true;
}

namespace {

// Finds or makes the memory behind `block` for a launch into `stream`. Call under the mutex. Null:
// out of memory.
std::shared_ptr<GraphReserve> reserve_for(GraphBlock& block, const Stream& stream,
                                          const std::vector<std::shared_ptr<GraphReserve>>& taken) {
  if (auto own = block.reserve.lock(); own && own->holder == block.id) return own;
  DeviceShare& device = graphs().devices[block.device];
  std::shared_ptr<GraphReserve> best;
  for (const auto& each : device.reserves) {
    const bool ordered = each->stream == stream.number() || each->last.done();
    if (each->bytes < block.bytes || each->live != 0 || !ordered) continue;
    if (std::find(taken.begin(), taken.end(), each) != taken.end()) continue;
    if (!best || each->bytes < best->bytes) best = each;
  }
  if (!best) {
    Core& core = Core::get();
    const std::uint64_t taken_there = device.held() + core.memory.used(block.device);
    const std::uint64_t capacity = core.memory.capacity();
    if (taken_there > capacity || block.bytes > capacity - taken_there) return nullptr;
    if (!core.take_host_share(block.bytes)) return nullptr;
    best = std::make_shared<GraphReserve>(block.bytes);
    device.reserves.push_back(best);
    device.used_high = std::max(device.used_high, device.held());
    device.reserved_high = std::max(device.reserved_high, device.held());
  }
  best->holder = block.id;
  block.reserve = best;
  return best;
}

}  // namespace

Status GraphReservation::take(const std::vector<Step>& steps, const Stream& stream,
                              bool frees_first) {
  if (steps.empty()) return Status::success;
  // Declared before the lock, so that ranges are destroyed after it is released.
  std::vector<std::shared_ptr<GraphMemory>> ended;
  std::lock_guard lock(graphs().mutex);
  std::map<const GraphMemory*, bool> live;
  for (const Step& each : steps) {
    bool& now =
        live.try_emplace(each.memory.get(), each.memory->live_ && !frees_first).first->second;
    if (each.allocates && now) return Status::invalid_value;
    now = each.allocates;
  }
  for (const Step& each : steps)
    if (each.allocates && each.memory->live_) each.memory->set_live(false);
  for (const Step& each : steps) {
    if (!each.allocates) continue;
    auto reserve = reserve_for(*each.memory->range_->block, stream, reserves_);
    if (!reserve) return Status::out_of_memory;
    if (std::find(reserves_.begin(), reserves_.end(), reserve) == reserves_.end())
      reserves_.push_back(std::move(reserve));
  }
  for (const Step& each : steps) {
    ended.push_back(each.memory);
    each.memory->set_live(each.allocates);
  }
  for (const auto& each : reserves_) each->stream = stream.number();
  return Status::success;
}

void GraphReservation::launched(const Ticket& ticket) {
  std::lock_guard lock(graphs().mutex);
  for (const auto& each : reserves_) each->last = ticket;
}

GraphMemoryTotals graph_memory_totals(int device) {
  std::lock_guard lock(graphs().mutex);
  const DeviceShare& found = graphs().devices[device];
  return {found.held(), found.used_high, found.held(), found.reserved_high};
}

namespace {

enum Which { used_current, used_high, reserved_current, reserved_high };

}  // namespace

Status get_graph_memory_attribute(int device, int which, void* value) {
  if (!value || which < used_current || which > reserved_high) return Status::invalid_value;
  const GraphMemoryTotals totals = graph_memory_totals(device);
  const std::uint64_t values[] = {totals.used, totals.used_high, totals.reserved,
                                  totals.reserved_high};
  *static_cast<std::uint64_t*>(value) = values[which];
  return Status::success;
}

Status set_graph_memory_attribute(int device, int which, const void* value) {
  const bool mark = which == used_high || which == reserved_high;
  if (!value || !mark || *static_cast<const std::uint64_t*>(value)) return Status::invalid_value;
  std::lock_guard lock(graphs().mutex);
  DeviceShare& found = graphs().devices[device];
  (which == used_high ? found.used_high : found.reserved_high) = found.held();
  return Status::success;
}

void trim_graph_memory(int device) {
  std::lock_guard lock(graphs().mutex);
  std::erase_if(graphs().devices[device].reserves, [](const auto& each) { return each->idle(); });
}

}  // namespace inflight::cuda
